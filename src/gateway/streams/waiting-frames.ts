import { hasExpired } from "../../contract/log/log-event.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { FrameContent } from "../fanout/event-facts.ts";
import { createPieceRun, type PieceRun } from "../fanout/piece-runs.ts";

/** A frame that waits; what is left of it once its text was withdrawn or has expired. */
type Waiting = Pick<FrameContent, "piece"> &
  Readonly<Omit<FrameContent, "piece">> & {
    frame: Uint8Array;
    bytes: number;
    isBlank: boolean;
    /** The piece with those that have joined it. */
    run?: PieceRun | undefined;
  };

type Options = {
  databaseClock: Clock;
  /** What is left of a frame without its text. */
  blank(frame: Uint8Array): Uint8Array;
  /** Encodes pieces of a message that are told as one; without it, they stay apart. */
  encodePieces?: ((payload: string) => Uint8Array) | undefined;
};

/**
 * Creates the queue of the frames of one reader. Pieces of a message that wait with nothing between them are one frame, so that the queue
 * grows with their text, and not with their number.
 */
export function createWaitingFrames({ databaseClock, blank, encodePieces }: Options) {
  let waiting: Waiting[] = [];
  const waitingOf = new Map<string, Waiting[]>(); // by the text that they hold
  let bytes = 0;

  function resize(one: Waiting, to: number): void {
    bytes += to - one.bytes;
    one.bytes = to;
  }

  function drop(one: Waiting): void {
    if (one.isBlank) return;
    one.frame = blank(one.frame);
    one.piece = undefined;
    one.run = undefined;
    one.isBlank = true;
    resize(one, one.frame.length);
  }

  /** Adds a piece to the frame that waits last, if that holds those before it. */
  function join(last: Waiting | undefined, { piece, expiresAt }: FrameContent): boolean {
    if (encodePieces === undefined || last?.piece === undefined || piece === undefined) return false;
    if (last.expiresAt !== expiresAt) return false;
    last.run ??= createPieceRun(last.piece);
    if (!last.run.add(piece)) return false;
    resize(last, last.bytes + Buffer.byteLength(piece.text));
    return true;
  }

  /** The frame as it is written. */
  function written(one: Waiting): Uint8Array {
    if (one.expiresAt !== undefined && hasExpired(one, databaseClock.now())) drop(one);
    return one.run === undefined ? one.frame : (encodePieces?.(one.run.payload()) ?? one.frame);
  }

  function note(one: Waiting): void {
    if (one.text === undefined) return;
    const ones = waitingOf.get(one.text);
    if (ones === undefined) waitingOf.set(one.text, [one]);
    else ones.push(one);
  }

  function forget({ text }: Waiting): void {
    const ones = text === undefined ? undefined : waitingOf.get(text);
    if (text === undefined || ones === undefined) return;
    ones.shift(); // frames are taken in order
    if (ones.length === 0) waitingOf.delete(text);
  }

  return {
    /** How many bytes wait; those that escape characters of joined pieces are not counted. */
    get bytes(): number {
      return bytes;
    },
    get isEmpty(): boolean {
      return waiting.length === 0;
    },
    add(frame: Uint8Array, content: FrameContent): void {
      if (join(waiting.at(-1), content)) return;
      const one = { frame, bytes: frame.length, isBlank: false, ...content };
      waiting.push(one);
      note(one);
      bytes += frame.length;
    },
    /** Takes frames, up to the one that brings them to `most` bytes, without what has expired. */
    take(most: number): Uint8Array {
      const frames: Uint8Array[] = [];
      let taken = 0;
      for (const one of waiting) {
        if (taken >= most) break;
        const frame = written(one);
        frames.push(frame);
        taken += frame.length;
        bytes -= one.bytes;
        forget(one);
      }
      waiting.splice(0, frames.length);
      return Buffer.concat(frames);
    },
    /** Drops those of the named texts that wait; whether any did. */
    withdraw(texts: ReadonlySet<string>): boolean {
      if (waitingOf.size === 0) return false;
      for (const text of texts) for (const one of waitingOf.get(text) ?? []) drop(one);
      return true;
    },
    clear(): void {
      waiting = [];
      waitingOf.clear();
      bytes = 0;
    },
  };
}
