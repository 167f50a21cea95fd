import { expect } from "bun:test";
import type { Event, ScheduledSend } from "../harness/clients/wire.ts";
import { eventually } from "../harness/deadline.ts";
import type { ClusterNode } from "../harness/servers/cluster.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

const sender = "the sender";
const watcher = "the watcher";

/** Nodes by what they run. */
export type Sides = { newer: readonly ClusterNode[]; older: readonly ClusterNode[] };

/**
 * Expects that newer nodes play edits, recalls, reads, system messages to everyone and scheduled sends in their order,
 * and that older ones pass over what they do not know and go on with what follows.
 */
export async function expectChangesPassed({ newer, older }: Sides): Promise<void> {
  const [first] = newer;
  if (first === undefined) return;
  const org = await createOrganization(first.herald);
  const cid = await org.conversation([sender, watcher]);
  using closing = new DisposableStack();
  const open = async ({ herald }: ClusterNode) =>
    closing.use(await (await createOrganization(herald, org.id)).socket(watcher));
  const newerSockets = await Promise.all(newer.map(open));
  const olderSockets = await Promise.all(older.map(open));

  const { server_mid: mid } = await org.sent(sender, { cid, body: "first" });
  await Promise.all([...newerSockets, ...olderSockets].map((socket) => socket.next(isBody("first"))));
  await org.edited(sender, { id: mid, body: "second" });
  await org.hasRead(watcher, cid);
  await org.recalled(sender, cid, mid);
  await org.sentSystem(sender, { everyone: true });
  await sendLater(org, cid, "later");
  await org.sent(sender, { cid, body: "last" });

  for (const socket of newerSockets) {
    const heard: string[] = [];
    for (let event: Event | undefined; event?.message?.body !== "last"; ) {
      event = await socket.next();
      heard.push(...Object.keys(event));
    }
    expect(heard).toEqual(["message_edit", "message_delete", "system_message", "message", "message"]);
  }
  for (const socket of olderSockets) {
    const heard: (string | undefined)[] = [];
    while (heard.at(-1) !== "last") heard.push((await socket.next()).message?.body);
    expect(heard).toEqual(["later", "last"]);
  }
}

async function sendLater(org: Organization, cid: string, body: string): Promise<void> {
  const path = org.path("scheduled", body);
  const request = { organizationId: org.id, senderId: sender, message: { cid, body } };
  const put = await org.herald.admin("PUT", path, { send_at: new Date(Date.now() + 100).toISOString(), request });
  expect(put.status).toBe(201);
  const isSent = async () => (await org.herald.admin<ScheduledSend>("GET", path)).body.state === "sent" || undefined;
  await eventually(isSent, `${body} to be sent`);
}

function isBody(body: string) {
  return ({ message }: Event) => message?.body === body;
}
