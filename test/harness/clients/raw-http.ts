import { connect } from "node:net";
import { within } from "../deadline.ts";

/** What came back on a bare TCP connection: a status line and headers, if any, and the rest. */
export type RawAnswer = { status: number | undefined; headers: Map<string, string>; body: string; closed: boolean };

/**
 * Sends bytes unchanged and reads one response. Resolves when it is complete or the server closes; rejects if neither
 * happens in time, which reveals a hanging request.
 */
export async function rawHttp(
  url: string,
  chunks: (string | Uint8Array)[],
  what = "an answer to a raw request",
  ms?: number,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const done = Promise.withResolvers<RawAnswer>();
  let received: Buffer = Buffer.alloc(0);
  socket.on("connect", () => {
    for (const chunk of chunks) socket.write(chunk);
  });
  socket.on("data", (data: Buffer) => {
    received = Buffer.concat([received, data]);
    const answer = parseAnswer(received, false);
    if (answer !== undefined) done.resolve(answer);
  });
  // The server may reset after the response: it need not read what it refused.
  socket.on("error", () => done.resolve(parseAnswer(received, true) ?? nothing()));
  socket.on("close", () => done.resolve(parseAnswer(received, true) ?? nothing()));
  try {
    return await within(done.promise, what, ms);
  } finally {
    socket.destroy();
  }
}

function nothing(): RawAnswer {
  return { status: undefined, headers: new Map(), body: "", closed: true };
}

function parseAnswer(received: Buffer, closed: boolean): RawAnswer | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [statusLine = "", ...lines] = received.subarray(0, end).toString("latin1").split("\r\n");
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]);
  const rest = received.subarray(end + 4);
  const length = headers.get("content-length");
  if (!closed && length === undefined && !rest.includes("0\r\n\r\n")) return undefined;
  if (!closed && length !== undefined && rest.length < Number(length)) return undefined;
  return { status, headers, body: rest.toString("utf8"), closed };
}
