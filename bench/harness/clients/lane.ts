import type { Socket } from "bun";
import { postJson } from "./handshake.ts";

/** Random like UUIDv4, or rising with time like UUIDv7, which is cheaper for the store's index. */
export type IdKind = "random" | "rising";

/** A POST request whose bytes are ready except for one id, which every send fills in anew. */
export type RequestTemplate = { url: string; bytes: Buffer; idAt: number; ids: IdKind };

/** One keep-alive connection of a caller, with one request in flight at a time. */
export type Lane = {
  /** Writes the request with a new id. `onAnswer` is called once with the status; it may send again. */
  send(onAnswer: (status: number) => void): void;
  close(): void;
};

/** Placeholder for the id of each request in a body, 32 hexadecimal digits. */
export const idPlaceholder = "0".repeat(32);

const hexDigits = Buffer.from("0123456789abcdef");
const headEnd = Buffer.from("\r\n\r\n");
const lengthHeader = Buffer.from("content-length: ");
const lengthHeaderAsBunWritesIt = Buffer.from("Content-Length: ");
const zero = 0x30;

/** Prepares a POST of JSON. The body contains `idPlaceholder` at most once. */
export function createRequestTemplate(
  url: string,
  path: string,
  key: string,
  body: object,
  ids: IdKind = "random",
  headers: readonly string[] = [],
): RequestTemplate {
  const bytes = postJson(new URL(url).host, path, JSON.stringify(body), [`Admin-Api-Key: ${key}`, ...headers]);
  return { url, bytes, idAt: bytes.indexOf(idPlaceholder), ids };
}

/**
 * Opens the connection. It understands as much HTTP/1.1 as Bun's responses need: a status, a `Content-Length`, a body
 * that nobody looks at. A connection that breaks ends the process, as figures with gaps are worthless.
 */
export async function openLane({ url, bytes: template, idAt, ids }: RequestTemplate): Promise<Lane> {
  const bytes = Buffer.from(template);
  let answered: ((status: number) => void) | undefined;
  let pending: Buffer | undefined;
  let isClosed = false;

  function take(chunk: Buffer): void {
    const received = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
    const end = received.indexOf(headEnd);
    if (end === -1 || received.length < end + headEnd.length + contentLength(received, end)) {
      pending = pending === undefined ? Buffer.from(chunk) : received;
      return;
    }
    pending = undefined;
    const status = digitsAt(received, "HTTP/1.1 ".length);
    const callback = answered;
    answered = undefined;
    callback?.(status);
  }

  const { hostname, port } = new URL(url);
  const socket: Socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, chunk) => take(chunk),
      close() {
        if (!isClosed) throw new Error(`${url} closed the connection of a caller`);
      },
    },
  });
  socket.setNoDelay(true);

  return {
    send(onAnswer) {
      if (answered !== undefined) throw new Error("a caller has one request in flight at a time");
      answered = onAnswer;
      if (idAt !== -1) writeId[ids](bytes, idAt);
      if (socket.write(bytes) !== bytes.length) throw new Error("a request did not fit into the socket's buffer");
    },
    close() {
      isClosed = true;
      socket.end();
    },
  };
}

/** Opens `count` connections. */
export function openLanes(template: RequestTemplate, count: number): Promise<Lane[]> {
  return Promise.all(Array.from({ length: count }, () => openLane(template)));
}

function contentLength(received: Buffer, end: number): number {
  let at = received.indexOf(lengthHeaderAsBunWritesIt);
  if (at === -1 || at > end) at = received.indexOf(lengthHeader);
  if (at === -1 || at > end) throw new Error(`an answer without Content-Length:\n${received.toString()}`);
  return digitsAt(received, at + lengthHeader.length);
}

function digitsAt(bytes: Buffer, start: number): number {
  let value = 0;
  for (let index = start; ; index++) {
    const digit = (bytes[index] ?? 0) - zero;
    if (digit < 0 || digit > 9) return value;
    value = value * 10 + digit;
  }
}

const writeId = { random: writeRandomId, rising: writeRisingId } as const;

function writeRisingId(bytes: Buffer, at: number): void {
  bytes.write(Bun.randomUUIDv7().replaceAll("-", ""), at, "latin1");
}

function writeRandomId(bytes: Buffer, at: number): void {
  for (let word = 0; word < 4; word++) {
    let random = (Math.random() * 2 ** 32) | 0;
    for (let digit = 0; digit < 8; digit++) {
      bytes[at + word * 8 + digit] = hexDigits[random & 15] ?? zero;
      random >>>= 4;
    }
  }
}
