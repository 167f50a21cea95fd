import { connect, type Socket } from "node:net";
import { within } from "../deadline.ts";

/** A stream of server-sent events of which only the first bytes are read. */
export type UnreadStream = {
  /** Its socket, which notices the end of the stream only once it reads on. */
  readonly socket: Socket;
  [Symbol.dispose](): void;
};

/** Requests a stream at a path and reads until the response has begun. Rejects unless the status is 200. */
export async function openUnreadStream(
  url: string,
  path: string,
  headers: Record<string, string>,
): Promise<UnreadStream> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  const begun = new Promise<string>((resolve) =>
    socket.once("data", (data: Buffer) => {
      socket.pause();
      resolve(data.toString("latin1"));
    }),
  );
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  const answer = await within(begun, `the answer to GET ${path}`);
  if (!answer.startsWith("HTTP/1.1 200")) {
    socket.destroy();
    throw new Error(`GET ${path} was answered with ${answer}`);
  }
  return { socket, [Symbol.dispose]: () => void socket.destroy() };
}
