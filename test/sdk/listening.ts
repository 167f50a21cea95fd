import { type ClientOptions, createClient, type Message } from "../../sdk/index.ts";
import { createInbox } from "../harness/clients/inbox.ts";
import type { Organization } from "../harness/servers/organization.ts";

/** Runs a client of the SDK on a real server, and records what it gave its app. */
export function listenWithSdk(org: Organization, uid: string, url: string, options: Partial<ClientOptions> = {}) {
  const ids: string[] = [];
  const messages = createInbox<Message>(`the app of ${uid}`);
  const states = createInbox<string>(`the states of ${uid}`);
  const gaps = createInbox<{ since: string | undefined }>(`the gaps of ${uid}`);
  const client = createClient({
    url,
    token: () => org.token(uid),
    onMessage(message) {
      ids.push(message._id);
      messages.push(message);
    },
    onSystemMessage: () => undefined,
    onStateChange: (state, { code }) => states.push(code === undefined ? state : `${state} ${code}`),
    onGap: gaps.push,
    onError: () => undefined,
    ...options,
    timing: { minBackoffMs: 5, maxBackoffMs: 50, requestTimeoutMs: 2_000, ...options.timing },
  });
  client.start();
  return {
    client,
    /** The ids of all messages, in the order in which the app got them. */
    ids,
    messages,
    states,
    gaps,
    untilConnected: () => states.next((state) => state === "connected", "the connection", 30_000),
    until: (id: string) =>
      ids.includes(id) ? Promise.resolve() : messages.next(({ _id }) => _id === id, `the message ${id}`, 30_000),
    [Symbol.dispose]: () => client.stop(),
  };
}
