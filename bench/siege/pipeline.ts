import { keepOpen } from "./lines.ts";
import type { Tally } from "./tally.ts";

const mark = Buffer.from("HTTP/1.1 ");
const markAndStatus = mark.length + 3;

/** Finds the status lines in what a server says, whatever is between them. A body that quotes one counts as an answer. */
export function createStatusScanner(onStatus: (status: string) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (;;) {
      const found = bytes.indexOf(mark, at);
      if (found === -1 || found + markAndStatus > bytes.length) {
        const from = found === -1 ? Math.max(at, bytes.length - mark.length + 1) : found;
        rest = Buffer.from(bytes.subarray(from));
        return;
      }
      onStatus(bytes.toString("latin1", found + mark.length, found + markAndStatus));
      at = found + markAndStatus;
    }
  };
}

/** The status of an answer that begins with these bytes; `undefined` if none does. */
export function statusOf(chunk: Buffer): string | undefined {
  return /^HTTP\/1\.1 (\d{3})/.exec(chunk.toString("latin1", 0, markAndStatus))?.[1];
}

type Options = {
  url: string;
  tally: Tally;
  connections: number;
  /** Requests that a connection has under way. */
  window: number;
  from?: readonly string[];
  returnMs?: number;
  request(turn: number): string | Buffer;
};

/** Requests as fast as answers come. */
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
      const scan = createStatusScanner((status) => {
        tally.count(`HTTP ${status}`);
        answered++;
      });
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
