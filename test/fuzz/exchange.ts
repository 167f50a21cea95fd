import { connect } from "node:net";

const pieces = 20;
const pauseMs = 25;

/** The result of sending bytes on a bare connection. */
export type Outcome = {
  /** The status of the first response, if there was one. */
  status: number | undefined;
  headers: Map<string, string>;
  body: string;
  /** The number of responses. */
  answers: number;
  /** Neither a response nor the end of the connection came in time. */
  isHung: boolean;
};

/**
 * Sends bytes unchanged, and waits for a complete response or the end of the connection. With `thenEnds`, the client
 * half-closes the connection.
 */
export async function exchange(
  url: string,
  chunks: readonly Buffer[],
  { thenEnds, isSlow, timeoutMs }: { thenEnds: boolean; isSlow: boolean; timeoutMs: number },
): Promise<Outcome> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  const done = Promise.withResolvers<boolean>();
  let received: Buffer = Buffer.alloc(0);
  const isHead = chunks[0]?.toString("latin1", 0, 5) === "HEAD ";
  async function send(): Promise<void> {
    for (const piece of isSlow ? piecesOf(Buffer.concat(chunks)) : chunks) {
      if (socket.destroyed) return;
      if (piece.length > 0) socket.write(piece);
      if (isSlow) await Bun.sleep(pauseMs);
    }
    if (thenEnds) socket.end();
  }
  socket.on("connect", () => void send());
  socket.on("data", (data: Buffer) => {
    received = Buffer.concat([received, data]);
    if (!thenEnds && isComplete(received, isHead)) done.resolve(false);
  });
  socket.on("error", () => done.resolve(false));
  socket.on("end", () => done.resolve(false));
  socket.on("close", () => done.resolve(false));
  const timer = setTimeout(() => done.resolve(true), timeoutMs);
  const isHung = await done.promise;
  clearTimeout(timer);
  socket.destroy();
  return { ...parse(received), isHung };
}

function piecesOf(bytes: Buffer): Buffer[] {
  const size = Math.max(1, Math.ceil(bytes.length / pieces));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

function parse(received: Buffer): Omit<Outcome, "isHung"> {
  const text = received.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  const answers = [...text.matchAll(/(?:^|\r\n|\})HTTP\/1\.[01] (?!100)\d{3}/g)].length;
  if (end < 0) return { status: undefined, headers: new Map(), body: "", answers };
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const from = end + 4;
  const length = Number(headers.get("content-length") ?? Number.POSITIVE_INFINITY);
  const body = received.subarray(from, Math.min(received.length, from + length)).toString("utf8");
  return { status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]), headers, body, answers };
}

function isComplete(received: Buffer, isHead: boolean): boolean {
  const { status, headers } = parse(received);
  if (status === undefined) return false;
  if (isHead || status === 204 || headers.get("content-type")?.startsWith("text/event-stream") === true) return true;
  const rest = received.length - received.indexOf("\r\n\r\n") - 4;
  const length = headers.get("content-length");
  return length === undefined ? received.includes("0\r\n\r\n") : rest >= Number(length);
}
