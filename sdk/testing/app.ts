import { createClient } from "../client.ts";
import type { ClientOptions } from "../client-options.ts";
import type { FakeSocket } from "./fake-server.ts";
import { createQueue } from "./queue.ts";

/** A conversation message as the server delivers it. */
export const message = (id: string) => ({
  message: {
    _id: id,
    t: 1,
    from: "alice",
    body: id,
    cid: "c",
    x: {},
    attachments: [],
    created_at: "2026-11-20T13:06:00.123Z",
  },
});
/** A system message as the server delivers it. */
export const systemMessage = (from: string, id: string) => ({ system_message: { _id: id, t: 1, from, x: {} } });

/** A client of the fake server, and what it told the app. */
export function startClient(options: Partial<ClientOptions> & Pick<ClientOptions, "url">) {
  const messages = createQueue<string>();
  const systemMessages = createQueue<string>();
  const reads = createQueue<string>();
  const states = createQueue<string>();
  const gaps = createQueue<string | undefined>();
  const errors = createQueue<unknown>();
  const { timing, ...rest } = options;
  const client = createClient({
    token: () => "token",
    onMessage: (event) => messages.push(event._id),
    onSystemMessage: (event) => systemMessages.push(`${event.from}/${event._id}`),
    onMessageRead: ({ from, ids }) => reads.push(`${from} has read ${ids.join()}`),
    onStateChange: (state, { code }) => states.push(code === undefined ? state : `${state} ${code}`),
    onGap: ({ since }) => gaps.push(since),
    onError: (error) => errors.push(error),
    timing: { minBackoffMs: 1, maxBackoffMs: 5, ...timing },
    ...rest,
  });
  client.start();
  return { client, messages, systemMessages, reads, states, gaps, errors, [Symbol.dispose]: () => client.stop() };
}

/** Takes the next socket and answers its `connect`. */
export async function accept(sockets: { next(): Promise<FakeSocket> }, answer: Record<string, unknown> = {}) {
  const socket = await sockets.next();
  const connect = await socket.requests.next();
  socket.answer(connect, { success: true, ...answer });
  return { socket, connect };
}
