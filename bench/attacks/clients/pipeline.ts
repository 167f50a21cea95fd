import { headEnd } from "../../harness/clients/handshake.ts";
import { keepOpen } from "./connections.ts";
import type { Tally } from "./tally.ts";

const mark = Buffer.from("HTTP/1.1 ");
const statusEnd = mark.length + 3;
const chunked = /^transfer-encoding: chunked\r$/im;
const lastChunk = Buffer.from("\r\n0\r\n\r\n");

/**
 * Finds the heads and ends of responses in a server's bytes. A chunked response (RFC 9112, section 7.1) ends with its
 * last chunk, any other with its head, as the rest arrives at once. A body that quotes a head counts as a response.
 */
export function createAnswerScanner(
  onStatus: (status: string) => void,
  onEnd: () => void = () => undefined,
): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let isInChunks = false;

  /** Reads the next element at `at` and returns where to continue; `undefined` if more bytes are needed. */
  function readNext(bytes: Buffer, at: number): number | undefined {
    if (isInChunks) {
      const end = bytes.indexOf(lastChunk, at);
      rest = Buffer.from(bytes.subarray(Math.max(at, bytes.length - lastChunk.length + 1)));
      if (end === -1) return undefined;
      isInChunks = false;
      onEnd();
      return end + lastChunk.length;
    }
    const begin = bytes.indexOf(mark, at);
    const end = begin === -1 ? -1 : bytes.indexOf(headEnd, begin);
    rest = Buffer.from(bytes.subarray(begin === -1 ? Math.max(at, bytes.length - mark.length + 1) : begin));
    if (end === -1) return undefined;
    onStatus(bytes.toString("latin1", begin + mark.length, begin + statusEnd));
    isInChunks = chunked.test(bytes.toString("latin1", begin, end + 2));
    if (!isInChunks) onEnd();
    return end + (isInChunks ? 2 : headEnd.length); // an empty chunked response is its last chunk alone
  }

  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let at: number | undefined = 0; at !== undefined; ) at = readNext(bytes, at);
  };
}

/** The status of a response that begins with these bytes; `undefined` if none does. */
export function statusOf(chunk: Buffer): string | undefined {
  return /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString("latin1", 0, statusEnd))?.[1];
}

type Options = {
  url: string;
  tally: Tally;
  connections: number;
  /** Requests in flight per connection. */
  window: number;
  from?: readonly string[];
  returnMs?: number;
  request(turn: number): string | Buffer;
};

/** Sends requests as fast as responses come. */
export function askWithoutEnd({ url, tally, connections, window, from, returnMs, request }: Options): void {
  let turn = 0;
  keepOpen({
    url,
    tally,
    count: connections,
    ...(from && { from }),
    ...(returnMs !== undefined && { returnMs }),
    talk() {
      const first = Array.from({ length: window }, () => Buffer.from(request(turn++)));
      let answered = 0;
      const scan = createAnswerScanner(
        (status) => tally.count(`HTTP ${status}`),
        () => answered++,
      );
      return {
        hello: Buffer.concat(first),
        hear(chunk, line) {
          scan(chunk);
          for (; answered > 0; answered--) line.write(request(turn++));
        },
      };
    },
  });
}

/** The bytes of a request. */
export function requestOf(
  url: string,
  method: string,
  path: string,
  { key, body, lines = [] }: { key?: string; body?: string | object; lines?: readonly string[] } = {},
): string {
  const content = typeof body === "object" ? JSON.stringify(body) : body;
  return [
    `${method} ${path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    ...(key === undefined ? [] : [`Admin-Api-Key: ${key}`]),
    ...(content === undefined
      ? []
      : ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(content)}`]),
    ...lines,
    "",
    content ?? "",
  ].join("\r\n");
}
