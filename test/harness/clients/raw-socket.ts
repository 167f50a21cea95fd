import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { within } from "../deadline.ts";
import { createInbox, type Inbox } from "./inbox.ts";

export type RawFrame = { opcode: number; payload: Buffer };
export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** A WebSocket client that breaks the rules: it can send any bytes, stop reading, never pong, break off. */
export type RawSocket = {
  readonly frames: Inbox<RawFrame>;
  /** How it ended: the code of the close frame, or `undefined` if there was none. */
  readonly ended: Promise<{ closeCode: number | undefined }>;
  sendBytes(bytes: Uint8Array): void;
  sendFrame(frame: {
    opcode: number;
    payload?: string | Uint8Array;
    fin?: boolean;
    masked?: boolean;
    rsv?: number;
  }): void;
  sendText(frame: object | string): void;
  pause(): void;
  resume(): void;
  /** Breaks off the TCP connection. Data in flight is lost. */
  cut(): void;
  [Symbol.dispose](): void;
};

/** `signal` breaks off the connection, whether or not it is open. */
export type RawSocketOptions = {
  token?: string;
  answersPings?: boolean;
  onText?: (text: string) => void;
  signal?: AbortSignal;
};

/**
 * Opens a TCP connection and performs the handshake of RFC 6455 by hand. Rejects with the response if it is not 101.
 */
export async function openRawSocket(url: string, options: RawSocketOptions = {}): Promise<RawSocket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  const frames = createInbox<RawFrame>("the raw socket");
  const upgraded = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<{ closeCode: number | undefined }>();
  let closeCode: number | undefined;
  let buffered: Buffer[] = [];
  let bufferedBytes = 0;
  let neededBytes = 0;
  let isUpgraded = false;
  let isCut = false;

  const send: RawSocket["sendFrame"] = ({ opcode, payload = "", fin = true, masked = true, rsv = 0 }) => {
    socket.write(encodeFrame(opcode, Buffer.from(payload), fin, masked, rsv));
  };
  const onFrame = (frame: RawFrame) => {
    if (frame.opcode === OPCODE.close) closeCode = frame.payload.length >= 2 ? frame.payload.readUInt16BE(0) : 1005;
    if (frame.opcode === OPCODE.ping && options.answersPings !== false)
      send({ opcode: OPCODE.pong, payload: frame.payload });
    if (frame.opcode === OPCODE.text && options.onText !== undefined) options.onText(frame.payload.toString("utf8"));
    else frames.push(frame);
  };
  const consume = (bytes: Buffer): Buffer => {
    let rest = bytes;
    if (!isUpgraded) {
      const end = rest.indexOf("\r\n\r\n");
      if (end < 0) return rest;
      const head = rest.subarray(0, end).toString("latin1");
      if (!head.startsWith("HTTP/1.1 101"))
        upgraded.reject(new Error(`the upgrade was refused:\n${rest.toString("utf8")}`));
      isUpgraded = true;
      rest = rest.subarray(end + 4);
      upgraded.resolve();
    }
    for (;;) {
      const decoded = decodeFrame(rest);
      if (typeof decoded === "number") {
        neededBytes = decoded;
        return rest;
      }
      rest = rest.subarray(decoded.length);
      onFrame(decoded.frame);
      if (isCut) return Buffer.alloc(0);
    }
  };
  socket.on("connect", () => {
    const lines = [
      "GET /ws HTTP/1.1",
      `Host: ${host}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${randomBytes(16).toString("base64")}`,
      ...(options.token === undefined ? [] : [`Authorization: Bearer ${options.token}`]),
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  });
  socket.on("data", (data: Buffer) => {
    if (isCut) return;
    buffered.push(data);
    bufferedBytes += data.length;
    if (bufferedBytes < neededBytes) return;
    const rest = consume(buffered.length === 1 ? data : Buffer.concat(buffered));
    buffered = rest.length > 0 ? [rest] : [];
    bufferedBytes = rest.length;
  });
  socket.on("error", () => undefined);
  // The server's half-close ends the connection, as the client has nothing more to say.
  socket.on("end", () => socket.destroy());
  socket.on("close", () => {
    upgraded.reject(new Error("the connection was closed before the upgrade"));
    frames.end(`it ended with close code ${closeCode}`);
    ended.resolve({ closeCode });
  });
  const cut = () => {
    isCut = true;
    socket.destroy();
  };
  options.signal?.addEventListener("abort", cut);
  try {
    await within(upgraded.promise, "the upgrade of a raw socket");
  } catch (error) {
    cut();
    throw error;
  }
  return {
    frames,
    ended: ended.promise,
    sendBytes: (bytes) => void socket.write(bytes),
    sendFrame: send,
    sendText: (frame) =>
      send({ opcode: OPCODE.text, payload: typeof frame === "string" ? frame : JSON.stringify(frame) }),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    cut,
    [Symbol.dispose]: cut,
  };
}

function encodeFrame(opcode: number, payload: Buffer, fin: boolean, masked: boolean, rsv: number): Buffer {
  const size = payload.length;
  const lengthBytes = size < 126 ? 0 : size < 65_536 ? 2 : 8;
  const head = Buffer.alloc(2 + lengthBytes);
  head[0] = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  head[1] = (masked ? 0x80 : 0) | (lengthBytes === 0 ? size : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) head.writeUInt16BE(size, 2);
  if (lengthBytes === 8) head.writeBigUInt64BE(BigInt(size), 2);
  if (!masked) return Buffer.concat([head, payload]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

/** The first frame in the bytes and its length, or how many bytes are needed before trying again. */
function decodeFrame(bytes: Buffer): { frame: RawFrame; length: number } | number {
  if (bytes.length < 2) return 2;
  const short = (bytes[1] ?? 0) & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start) return start;
  const size = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < start + size) return start + size;
  return {
    frame: { opcode: (bytes[0] ?? 0) & 0x0f, payload: Buffer.from(bytes.subarray(start, start + size)) },
    length: start + size,
  };
}
