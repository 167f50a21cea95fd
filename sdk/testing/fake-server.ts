import { createQueue, type Queue } from "./queue.ts";

/** A request that a client sent. */
export type FakeRequest = { name: string; parameters: Record<string, unknown>; id: string };

/** The server's end of one socket, played by the test. */
export type FakeSocket = {
  url: string;
  requests: Queue<FakeRequest>;
  closed: Promise<number>;
  send(frame: unknown): void;
  answer(request: FakeRequest, body: Record<string, unknown>): void;
  close(code: number, reason?: string): void;
  /** Ends the TCP connection without a close frame. */
  cut(): void;
};

type Data = { url: string; requests: Queue<FakeRequest>; closed: PromiseWithResolvers<number> };

/** A scripted WebSocket server: it answers nothing by itself, so that a test can cut and close where it wants. */
export function startFakeServer(port = 0): { url: string; sockets: Queue<FakeSocket> } & Disposable {
  const sockets = createQueue<FakeSocket>();
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    fetch(request, server) {
      const data: Data = { url: request.url, requests: createQueue(), closed: Promise.withResolvers() };
      return server.upgrade(request, { data }) ? undefined : new Response("no", { status: 400 });
    },
    websocket: {
      data: {} as Data,
      open(socket) {
        const { url, requests, closed } = socket.data;
        sockets.push({
          url,
          requests,
          closed: closed.promise,
          send: (frame) => void socket.send(typeof frame === "string" ? frame : JSON.stringify(frame)),
          answer: ({ id }, body) => void socket.send(JSON.stringify({ response: { id, ...body } })),
          close: (code, reason) => socket.close(code, reason),
          cut: () => socket.terminate(),
        });
      },
      message(socket, data) {
        const { id, ...rest } = JSON.parse(String(data)).request;
        const name = Object.keys(rest)[0] ?? "";
        socket.data.requests.push({ name, parameters: rest[name], id });
      },
      close(socket, code) {
        socket.data.closed.resolve(code);
      },
    },
  });
  return { url: server.url.origin, sockets, [Symbol.dispose]: () => void server.stop(true) };
}
