import { expect } from "bun:test";
import { type Audience, type Listeners, usersOf } from "../faults/audience.ts";
import type { Socket } from "../harness/clients/socket.ts";
import type { Node, OnlineUser, Page } from "../harness/clients/wire.ts";
import { eventually } from "../harness/deadline.ts";
import type { ClusterNode } from "../harness/servers/cluster.ts";
import { errorsLogged, type Herald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

const hearWithinMs = 20_000;
const sender = "the sender";
const watcher = "the watcher";

/** Expects that a node logged no errors of its own. */
export function expectNoErrors(herald: Herald): void {
  expect({ url: herald.url, errors: errorsLogged(herald) }).toEqual({ url: herald.url, errors: [] });
}

/** Expects that every node soon lists all of them as live, and each of these users as connected once. */
export async function expectOneService(
  nodes: readonly ClusterNode[],
  org: Organization,
  followers: readonly string[],
): Promise<void> {
  const urls = nodes.map(({ url }) => url).sort();
  const online = [...followers].sort().map((id) => ({ id, connections: 1 }));
  for (const { url, herald } of nodes) {
    await becomes(`the nodes that ${url} lists`, urls, async () => {
      const listed = await read<{ items: Node[] }>(herald, "/admin/nodes");
      const live = listed?.items.filter(({ state }) => state === "live");
      return live?.map((node) => node.url).sort();
    });
    await becomes(`the users of whom ${url} knows`, online, async () => {
      const users = await read<Page<OnlineUser>>(herald, `${org.path("online")}?limit=1000`);
      return users?.items
        .filter(({ id }) => followers.includes(id))
        .map(({ id, connections }) => ({ id, connections }));
    });
  }
}

/**
 * Expects that all nodes hear what is done through any one of them: a created conversation, a message, and a system
 * message.
 */
export async function expectToHearOfEach(
  nodes: readonly ClusterNode[],
  org: Organization,
  round: number,
  { listeners, audience }: { listeners: Listeners; audience: Audience },
): Promise<void> {
  const views = await Promise.all(nodes.map(({ herald }) => createOrganization(herald, org.id)));
  using closing = new DisposableStack();
  const sockets: Socket[] = [];
  for (const view of views) sockets.push(closing.use(await view.socket(watcher)));
  const messages: string[] = [];
  const systemMessages: string[] = [];
  for (const [index, view] of views.entries()) {
    const cid = await view.conversation([sender, ...usersOf(listeners)], `round ${round}, node ${index}`);
    messages.push((await view.sent(sender, { cid, body: "to a new conversation" })).server_mid);
    systemMessages.push((await view.sentSystem(sender, { id: cid, uids: [watcher] })).mid);
  }
  await audience.heard(messages, hearWithinMs);
  for (const socket of sockets) {
    const heard: (string | undefined)[] = [];
    while (heard.length < systemMessages.length) heard.push((await socket.next()).system_message?._id);
    expect(heard).toEqual(systemMessages);
  }
}

/** The answer of a node; `undefined` for 503, which it returns until it has heard of all others. */
async function read<T>(herald: Herald, path: string): Promise<T | undefined> {
  const { status, body, text } = await herald.admin<T>("GET", path);
  if (status === 503) return undefined;
  if (status !== 200) throw new Error(`${herald.url} answered ${status} to GET ${path}: ${text}`);
  return body;
}

async function becomes<T>(what: string, expected: T, ask: () => Promise<T | undefined>): Promise<void> {
  let last: T | undefined;
  const isSo = async () => {
    last = await ask();
    return Bun.deepEquals(last, expected) || undefined;
  };
  await eventually(isSo, () => `${what} to be ${JSON.stringify(expected)}; they are ${JSON.stringify(last)}`);
}
