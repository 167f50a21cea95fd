import { decodeJwt } from "jose";
import { openSocket } from "../harness/clients/socket.ts";
import { uniqueId } from "../harness/random.ts";
import { filesOf } from "../harness/servers/files.ts";
import type { Herald } from "../harness/servers/herald.ts";
import { createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

/** The ids that calls are made with. */
export type Ids = {
  org: string;
  uid: string;
  cid: string;
  messageId: string;
  systemMid: string;
  keyId: string;
  tokenId: string;
  connectionId: string;
  scheduledId: string;
  proposalId: string;
  webhookId: string;
  deliveryId: string;
  fileId: string;
};

/** An organization, a key with every scope that is bound to it, and its contents. */
export type Tenant = {
  org: Organization;
  key: string;
  /** Ids that the other organization also has, or that no other has. */
  shared: Ids;
  own: Ids;
  /** A token of the user with the shared id. */
  token: string;
};

const dayMs = 86_400_000;

/** Part of every text, name and id that belongs to one tenant only: in a response to another, it reveals a leak. */
export const canary = "canary-of-the-other";

/** Ids that nothing has; in a list they would stand where those of the other tenant would. */
export function idsOfNothing(): Ids {
  return {
    org: uniqueId("org-canary-of-nothing"),
    uid: uniqueId("user-canary-of-nothing"),
    cid: uniqueId("room-canary-of-nothing"),
    messageId: Bun.randomUUIDv7(),
    systemMid: uniqueId("notice-canary-of-nothing"),
    keyId: Bun.randomUUIDv7(),
    tokenId: uniqueId("token-canary-of-nothing"),
    connectionId: Bun.randomUUIDv7(),
    scheduledId: uniqueId("later-canary-of-nothing"),
    proposalId: uniqueId("proposal-canary-of-nothing"),
    webhookId: uniqueId("hook-canary-of-nothing"),
    deliveryId: Bun.randomUUIDv7(),
    fileId: Bun.randomUUIDv7(),
  };
}

/**
 * Creates an organization whose texts contain `mark`, with user `alice` and conversation `room`, which every tenant
 * has.
 */
export async function createTenant(herald: Herald, mark: string): Promise<Tenant> {
  const org = await createOrganization(herald, uniqueId(`org-${mark}`));
  const { id, key } = await createKey(herald, { organization: org.id, name: `key of ${mark}` });
  const own = { org: org.id, uid: uniqueId(`user-${mark}`), cid: uniqueId(`room-${mark}`), keyId: id };
  await herald.admin("PUT", org.path("users", "alice"), { name: `alice ${mark}` });
  await org.conversation(["alice", "bob"], "room");
  await org.conversation(["alice", own.uid], own.cid);
  const file = async () => (await filesOf(org).uploaded(`${mark}.txt`, `file of ${mark}`)).file_id;
  const say = async (cid: string, file_id: string) => {
    const attachments = [{ name: `${mark}.txt`, file_id }];
    const message = { id: `m-1 ${cid}`, cid, body: `body ${mark}`, x: { mark }, attachments };
    return { messageId: (await org.sent("alice", message)).server_mid, fileId: file_id };
  };
  const notify = async (mid: string) => (await org.sentSystem("alice", { id: mid, uids: ["alice"], x: { mark } })).mid;
  const later = async (sid: string) => {
    const request = { organizationId: org.id, senderId: "alice", message: { cid: "room", body: `later ${mark}` } };
    await herald.admin("PUT", org.path("scheduled", sid), { send_at: new Date(Date.now() + dayMs), request });
    return sid;
  };
  /** What the bootstrap key proposes, so that the tenant's key, which it made, may not decide it. */
  const propose = async (pid: string) => {
    const request = { organizationId: org.id, senderId: "alice", message: { cid: "room", body: `proposed ${mark}` } };
    await herald.admin("PUT", org.path("proposals", pid), { request, reason: `why ${mark}` });
    return pid;
  };
  /** A webhook to a name that does not exist, with a test that failed. */
  const hook = async (wid: string) => {
    await herald.admin("PUT", org.path("webhooks", wid), { url: `https://webhooks.invalid/${mark}` });
    const test = await herald.admin<{ id: string }>("POST", org.path("webhooks", wid, "test"));
    return { webhookId: wid, deliveryId: test.body.id };
  };
  const sent = {
    ...(await say("room", await file())),
    systemMid: await notify("notice"),
    scheduledId: await later("later"),
    proposalId: await propose("proposed"),
    ...(await hook("push")),
  };
  const token = await org.token("alice");
  const tokenId = String(decodeJwt(token).jti);
  const connectionId = String((await (await openSocket(herald.url)).request("connect", { token })).connection_id);
  const shared = { org: org.id, uid: "alice", cid: "room", keyId: id, tokenId, connectionId, ...sent };
  const ownSent = {
    ...(await say(own.cid, await file())),
    systemMid: await notify(uniqueId(`notice-${mark}`)),
    scheduledId: await later(uniqueId(`later-${mark}`)),
    proposalId: await propose(uniqueId(`proposed-${mark}`)),
    ...(await hook(uniqueId(`hook-${mark}`))),
  };
  return { org, key, shared, own: { ...own, ...ownSent, tokenId, connectionId }, token };
}

/** Everything of a tenant that calls can change, in one text. */
export async function contentsOf({ org, key, shared }: Tenant): Promise<string> {
  const { herald } = org;
  const read = async (path: string) => (await herald.admin("GET", path, undefined, { "Admin-Api-Key": key })).text;
  const lists = [org.path(), org.path("users"), org.path("conversations"), "/admin/organizations"];
  const conversations = (await herald.admin<{ items: { id: string }[] }>("GET", org.path("conversations"))).body.items;
  for (const { id } of conversations)
    lists.push(org.path("conversations", id, "participants"), org.path("conversations", id, "messages"));
  lists.push(
    org.path("messages", shared.messageId),
    org.path("system-messages", shared.systemMid),
    org.path("scheduled"),
    org.path("proposals"),
    org.path("webhooks"),
    org.path("files", shared.fileId),
    `/files/${shared.fileId}`,
  );
  const keys = (await read("/admin/keys")).replaceAll(/"last_used_at":[^,]*/g, "");
  const contents = [...(await Promise.all(lists.map(read))), keys].join("\n");
  const activity = /"(requests_per_second|messages_per_second|connections)":\d+|"failing":(null|\{[^}]*\})/g; // what goes on
  return contents.replaceAll(activity, "");
}
