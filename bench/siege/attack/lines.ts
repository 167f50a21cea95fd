import { connect, type Socket } from "node:net";
import type { Tally } from "./tally.ts";

/** What is said on a connection, and what is made of the answers. */
export type Talk = {
  /** Written as soon as the connection is open. */
  hello: string | Buffer;
  hear?(chunk: Buffer, line: Line): void;
  /** Called whenever the kernel has taken all that was written. */
  onDrain?(line: Line): void;
  /** Reads nothing, so that the server has to keep what it says. */
  isDeaf?: boolean;
};

/** A connection of an attacker. */
export type Line = {
  /** Whether there is room for more. */
  write(bytes: string | Buffer): boolean;
  /** Stops reading. */
  pause(): void;
  /** Hangs up. Another takes its place. */
  leave(): void;
};

type Options = {
  url: string;
  tally: Tally;
  count: number;
  /** Client addresses, all of this machine; the victim has another one unless `from` is its own. */
  from?: readonly string[];
  /** How long to wait before a connection that has ended is replaced. */
  returnMs?: number;
  talk(index: number): Talk;
};

/** Where attackers come from: the victim's limits of an address are its own. */
export const elsewhere = ["127.0.0.2"] as const;
/** The victim's own address. */
export const besideVictim = ["127.0.0.1"] as const;

const atOnce = 50;
const openEveryMs = 5;

/** Holds so many connections; what ends is opened anew. */
export function keepOpen(options: Options): void {
  const { url, tally, count, from = elsewhere, returnMs = 20, talk } = options;
  const { hostname, port } = new URL(url);

  function open(index: number): void {
    const { hello, hear, onDrain, isDeaf = false } = talk(index);
    let hasLeft = false;
    const localAddress = from[index % from.length];
    const socket: Socket = connect({ host: hostname, port: Number(port), ...(localAddress && { localAddress }) });
    const line: Line = {
      write: (bytes) => socket.write(bytes),
      pause: () => void socket.pause(),
      leave() {
        hasLeft = true;
        socket.destroy();
      },
    };
    socket.on("connect", () => {
      tally.count("connections");
      socket.write(hello);
      if (isDeaf) socket.pause();
      onDrain?.(line);
    });
    if (!isDeaf) socket.on("data", (chunk: Buffer) => hear?.(chunk, line));
    if (onDrain !== undefined) socket.on("drain", () => onDrain(line));
    socket.on("error", () => undefined); // `close` follows
    socket.on("close", () => {
      if (!hasLeft) tally.count("cut");
      setTimeout(() => open(index), returnMs);
    });
  }

  let begun = 0;
  const timer = setInterval(() => {
    for (let wave = 0; wave < atOnce && begun < count; wave++) open(begun++);
    if (begun === count) clearInterval(timer);
  }, openEveryMs);
}
