import type { Ack, Ask, MessageInput } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { uniqueId } from "../../harness/random.ts";
import type { Answer, Herald } from "../../harness/servers/herald.ts";
import type { Organization } from "../../harness/servers/organization.ts";

/** Sends a message of alice with a `Prefer` header. */
export const sendWaiting = (org: Organization, message: MessageInput, prefer = "wait=20", query = "") =>
  org.herald.admin<Ask>(
    "POST",
    `/admin/message${query}`,
    { organizationId: org.id, senderId: "alice", message },
    { Prefer: prefer },
  );

/** Sends a system message of alice with a `Prefer` header. */
export const sendSystemWaiting = (org: Organization, messageSystem: MessageInput, prefer = "wait=20") =>
  org.herald.admin<Ack>(
    "POST",
    "/admin/message/system",
    { organizationId: org.id, senderId: "alice", messageSystem },
    { Prefer: prefer },
  );

/** The status of an answer, and what it tells of the wait. */
export const told = ({ status, headers }: Answer<unknown>) => [
  status,
  headers.get("preference-applied"),
  headers.get("herald-delivery"),
];

/** The header of an answer that waited. */
export const counts = (recipients: number, online: number, delivered: number, acknowledged: number) =>
  `recipients=${recipients}, online=${online}, delivered=${delivered}, acknowledged=${acknowledged}`;

/** Connects a user whose client acknowledges, which it has shown. Alice must be a user. */
export async function acknowledging(org: Organization, uid: string) {
  const socket = await org.socket(uid);
  const id = uniqueId("first");
  await org.sentSystem("alice", { id, uids: [uid] });
  await socket.next(({ system_message: system }) => system?._id === id);
  await socket.request("ack", { ids: [id] });
  return socket;
}

/**
 * Waits until every node has looked at the others after all had begun: a wait counts only on nodes that its own node
 * knows, or that answer it in time. Takes some seconds with several nodes, and none with one.
 */
export async function nodesKnowEachOther(herald: Herald): Promise<void> {
  const nodes = async () =>
    (await herald.admin<{ items: { reported_at: string }[] }>("GET", "/admin/nodes")).body.items;
  const begun = Date.now();
  if ((await nodes()).length === 1) return;
  await eventually(
    async () => (await nodes()).every(({ reported_at }) => Date.parse(reported_at) > begun) || undefined,
    "every node to have looked at the others",
  );
}
