import { randomBytes } from "node:crypto";

/** Ends the head of a request or response (RFC 9112, section 2.1). */
export const headEnd = "\r\n\r\n";

/** A GET request with additional header lines. */
export function get(host: string, path: string, lines: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...lines].join("\r\n") + headEnd;
}

/** A POST request with a body of JSON, and additional header lines. */
export function postJson(host: string, path: string, body: string, lines: readonly string[] = []): Buffer {
  return sendJson("POST", host, path, body, lines);
}

/** A request with a body of JSON, and additional header lines. */
export function sendJson(
  method: "POST" | "PUT",
  host: string,
  path: string,
  body: string,
  lines: readonly string[],
): Buffer {
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...lines,
  ];
  return Buffer.from(head.join("\r\n") + headEnd + body);
}

/** The request that opens a WebSocket (RFC 6455, section 4.1). */
export function handshake(host: string, path: string, lines: readonly string[]): string {
  const key = randomBytes(16).toString("base64");
  const upgrade = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${key}`,
  ];
  return get(host, path, [...upgrade, ...lines]);
}

/** A client's frame, text or binary, masked with zeros, shorter than 64 KiB (RFC 6455, section 5.2). */
export function maskedFrame(content: string | Buffer): Buffer {
  const payload = Buffer.from(content);
  const { length } = payload;
  const opcode = typeof content === "string" ? 0x81 : 0x82;
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([opcode, ...size, 0, 0, 0, 0]), payload]);
}

/** A server's frame, which is not masked. `size` includes its header. */
export type ServerFrame = { opcode: number; payload: Buffer; size: number };

/** The first frame in these bytes; `undefined` while it is incomplete. */
export function readServerFrame(bytes: Buffer): ServerFrame | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const head = short < 126 ? 2 : short === 126 ? 4 : 10;
  if (bytes.length < head) return undefined;
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < head + length) return undefined;
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload: bytes.subarray(head, head + length), size: head + length };
}

/** A client's empty pong, masked with zeros (RFC 6455, section 5.5.3). */
export const maskedPong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
