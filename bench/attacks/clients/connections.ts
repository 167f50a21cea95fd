import { connect, type Socket } from "node:net";
import type { Tally } from "./tally.ts";

/** What to say on a connection, and how to handle the answers. */
export type Talk = {
  /** Written as soon as the connection is open. */
  hello: string | Buffer;
  hear?(chunk: Buffer, line: Line): void;
  /** Called whenever the kernel has taken everything written. */
  onDrain?(line: Line): void;
  /** Reads nothing, so that the server has to hold what it sends. */
  readsNothing?: boolean;
};

/** A connection of an attacker. */
export type Line = {
  /** Whether there is room for more. */
  write(bytes: string | Buffer): boolean;
  /** Stops reading. */
  pause(): void;
  /** Hangs up. Another connection takes its place. */
  leave(): void;
};

type Options = {
  url: string;
  tally: Tally;
  count: number;
  /** Client addresses on this machine; none is the victim's unless `from` names it. */
  from?: readonly string[];
  /** How long to wait before replacing a connection that has ended. */
  returnMs?: number;
  talk(index: number): Talk;
};

/**
 * Writes pieces until there is no room or no piece, one in each turn of the event loop: a refused body is read as fast
 * as it comes, and without turns the refusal would not be heard.
 */
export function fill(line: Line, next: () => string | undefined): void {
  const piece = next();
  if (piece !== undefined && line.write(piece)) setImmediate(() => fill(line, next));
}

/** Where attackers come from, so that they do not use up the limits of the victim's address. */
export const elsewhere = ["127.0.0.2"] as const;
/** The victim's own address. */
export const besideVictim = ["127.0.0.1"] as const;

const atOnce = 50;
const openEveryMs = 5;

/** Keeps `count` connections open, replacing those that end. */
export function keepOpen(options: Options): void {
  const { url, tally, count, from = elsewhere, returnMs = 20, talk } = options;
  const { hostname, port } = new URL(url);

  function open(index: number): void {
    const { hello, hear, onDrain, readsNothing = false } = talk(index);
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
      if (readsNothing) socket.pause();
      onDrain?.(line);
    });
    if (!readsNothing) socket.on("data", (chunk: Buffer) => hear?.(chunk, line));
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
