import type { Socket } from "bun";
import { handshake, headEnd, maskedFrame } from "./handshake.ts";

/** Many WebSocket clients of one conversation, which count what arrives without parsing it. */
export type Audience = {
  /** Frames received by all sockets together. */
  frames(): number;
  /** How many messages every socket has received. */
  completed(): number;
  /**
   * Learns the size of a frame from the next one and calls `onFrame` for each from then on: `trigger` makes the server
   * send one.
   */
  calibrate(trigger: () => void): Promise<void>;
  /** The payload size of one frame, once calibrated. */
  payloadBytes(): number;
  /** Throws unless every socket has received exactly the bytes of `completed()` whole frames. */
  verify(): void;
  close(): void;
};

type Options = {
  url: string;
  path: string;
  /** The headers of each socket's handshake, one line each. */
  headers: readonly (readonly string[])[];
  /** Sent after the handshake and answered with one frame, which shows that the socket has joined. */
  hello: string;
  onFrame?(): void;
  /** Called when a message has reached the last socket. */
  onComplete?(): void;
};

type Listener = { isUpgraded: boolean; hasJoined: boolean; bytes: number; frames: number; head: string };

const atOnce = 100;
const ringSize = 1 << 16; // the maximum number of messages in flight

/**
 * Opens one socket per list of headers. A socket is a TCP connection that divides the bytes it receives by the size of
 * a frame; so all frames must have the same length, which `verify` checks.
 */
export async function openAudience(options: Options): Promise<Audience> {
  const { url, path, headers, hello, onFrame, onComplete } = options;
  const { host, hostname, port } = new URL(url);
  const size = headers.length;
  const heardBy = new Uint32Array(ringSize);
  const listeners: Listener[] = [];
  const sockets: Socket<Listener>[] = [];
  let frameBytes = Number.POSITIVE_INFINITY;
  let headBytes = 0;
  let calibrated: (() => void) | undefined;
  let frames = 0;
  let completed = 0;
  let isClosed = false;

  function hear(listener: Listener, chunk: Buffer): void {
    if (frameBytes === Number.POSITIVE_INFINITY) [headBytes, frameBytes] = lengthsOf(chunk);
    listener.bytes += chunk.length;
    const heard = Math.floor(listener.bytes / frameBytes);
    for (; listener.frames < heard; listener.frames++) {
      frames++;
      onFrame?.();
      const slot = listener.frames % ringSize;
      const count = (heardBy[slot] ?? 0) + 1;
      heardBy[slot] = count === size ? 0 : count;
      if (count < size) continue;
      completed++;
      calibrated?.();
      onComplete?.();
    }
  }

  function open(lines: readonly string[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const listener: Listener = { isUpgraded: false, hasJoined: false, bytes: 0, frames: 0, head: "" };

    function begin(socket: Socket<Listener>, chunk: Buffer): void {
      if (listener.isUpgraded) {
        listener.hasJoined = true;
        resolve();
        return;
      }
      listener.head += chunk.toString("latin1");
      if (!listener.head.includes(headEnd)) return;
      if (!listener.head.startsWith("HTTP/1.1 101")) reject(new Error(`the handshake was refused:\n${listener.head}`));
      listener.isUpgraded = true;
      socket.write(maskedFrame(hello));
    }

    const connecting = Bun.connect<Listener>({
      hostname,
      port: Number(port),
      data: listener,
      socket: {
        open(socket) {
          sockets.push(socket);
          socket.write(handshake(host, path, lines));
        },
        data(socket, chunk) {
          if (socket.data.hasJoined) hear(socket.data, chunk);
          else begin(socket, chunk);
        },
        close() {
          if (!isClosed) throw new Error(`${url} closed a listener's socket`);
        },
      },
    });
    connecting.catch(reject);
    listeners.push(listener);
    return promise;
  }

  for (let from = 0; from < size; from += atOnce) await Promise.all(headers.slice(from, from + atOnce).map(open));

  return {
    frames: () => frames,
    completed: () => completed,
    calibrate(trigger) {
      const { promise, resolve } = Promise.withResolvers<void>();
      calibrated = () => {
        calibrated = undefined;
        resolve();
      };
      trigger();
      return promise;
    },
    payloadBytes: () => frameBytes - headBytes,
    verify() {
      const expected = completed * frameBytes;
      const wrong = listeners.filter(({ bytes }) => bytes !== expected).length;
      if (wrong > 0) throw new Error(`${wrong} of ${size} listeners did not hear exactly ${completed} frames`);
    },
    close() {
      isClosed = true;
      for (const socket of sockets) socket.end();
    },
  };
}

/** The length of a server frame's header, and of the whole frame. */
function lengthsOf(bytes: Buffer): [head: number, frame: number] {
  const short = (bytes[1] ?? 0) & 0x7f;
  if (short < 126) return [2, 2 + short];
  return short === 126 ? [4, 4 + bytes.readUInt16BE(2)] : [10, 10 + Number(bytes.readBigUInt64BE(2))];
}
