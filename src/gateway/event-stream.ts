import type { Owner } from "../lib/owner.ts";
import type { Line } from "./connection.ts";

/** What may wait for a reader that keeps up. */
const comfortableBytes = 256 * 1024;
const comment = new TextEncoder().encode(":\n\n");

/** A body of server-sent events (WHATWG HTML, section 9.2) that is written piece by piece. */
export type EventStream = Omit<Line, "end"> & {
  /** The body of the HTTP answer. */
  readonly body: ReadableStream<Uint8Array>;
  /** Whether so much waits that what writes to it had better go slower. */
  readonly isSlow: boolean;
  /** Writes whole events. May cut the stream. */
  push(frame: Uint8Array): void;
  /** Writes a comment line, which keeps the line warm and finds out dead peers. */
  comment(): void;
  /** Resolves with true when little waits to be taken, with false when the stream is over. */
  isReadyForMore(): Promise<boolean>;
  /** Hands out what waits, and ends it: a stream has no way to say why. */
  end(): void;
};

type Options = {
  /** Ends with the stream, and the stream with it. */
  owner: Owner;
  maxWaitingBytes: number;
  /** Called when bytes wait for its reader. */
  onWaiting(): void;
  /** Called when it is cut while bytes wait for its reader. */
  onCut(): void;
  /** Called when it is ended: what was handed out may still have to be taken, and must not wait for a reader for ever. */
  onEnd(): void;
};

/** A stream that hands out what waits as fast as the client takes it, and is cut when more than `maxWaitingBytes` wait. */
export function createEventStream({ owner, maxWaitingBytes, onWaiting, onCut, onEnd }: Options): EventStream {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let isOpen = true;
  let onTaken: (() => void)[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull: handOver,
      cancel: close,
    },
    { highWaterMark: 1 },
  );

  /** Gives the stream what waits, once; without anything to give, the next `push` does. */
  function handOver(): void {
    if (waiting.length === 0 || controller === undefined || !isOpen) return;
    const taken = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    controller.enqueue(taken); // may pull again at once, so nothing of what it takes may still wait
    resume();
  }

  function resume(): void {
    const resumed = onTaken;
    onTaken = [];
    for (const take of resumed) take();
  }

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    waiting = [];
    waitingBytes = 0;
    resume();
    owner.close();
  }

  const stream: EventStream = {
    owner,
    body,
    get isOpen() {
      return isOpen;
    },
    get isSlow() {
      return waitingBytes > comfortableBytes;
    },
    push(frame) {
      if (!isOpen) return;
      waiting.push(frame);
      waitingBytes += frame.length;
      if ((controller?.desiredSize ?? 0) > 0) handOver();
      if (waitingBytes > 0) onWaiting();
      if (waitingBytes > maxWaitingBytes) stream.cut();
    },
    comment: () => stream.push(comment),
    async isReadyForMore() {
      while (isOpen && stream.isSlow) await new Promise<void>((resolve) => onTaken.push(resolve));
      return isOpen;
    },
    end() {
      if (!isOpen) return;
      handOver();
      close();
      controller?.close();
      onEnd();
    },
    cut() {
      if (!isOpen) return;
      if (waitingBytes > 0) onCut();
      close();
      controller?.error(new Error("the reader is too slow"));
    },
    waitingBytes: () => waitingBytes,
  };
  owner.hold(stream.cut);
  return stream;
}
