import { randomBytes } from "node:crypto";

/** Ends the head of a request and of an answer (RFC 9112, section 2.1). */
export const headEnd = "\r\n\r\n";

/** A GET with further header lines. */
export function get(host: string, path: string, lines: readonly string[]): string {
  return [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...lines].join("\r\n") + headEnd;
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

/** A client's text frame, masked with zeros, shorter than 126 bytes (RFC 6455, section 5.2). */
export function maskedText(text: string): Buffer {
  const payload = Buffer.from(text);
  if (payload.length > 125) throw new Error("a greeting must be shorter than 126 bytes");
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** A client's empty pong, masked with zeros (RFC 6455, section 5.5.3). */
export const maskedPong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
