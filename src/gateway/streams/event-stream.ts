import type { Owner } from "../../lib/owner.ts";
import { comfortableBytes, type Line } from "../connections/connection.ts";

const givenAtOnce = 64 * 1024;
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
  /** Hands out what waits, and ends it: a stream has no way to say why. Cuts it when its reader is far behind. */
  end(): void;
};

type Options = {
  /** Ends with the stream, and the stream with it. */
  owner: Owner;
  /** The organization that its bytes count for. */
  org: string;
  maxWaitingBytes: number;
  /** Called when bytes wait for its reader. */
  onWaiting(): void;
  /** Called when it is cut while bytes wait for its reader. */
  onCut(): void;
  /** Called when it is ended or cut: Bun closes the connection once what was handed out is taken, and must not wait for a reader for ever. */
  onEnd(): void;
};

/**
 * A stream that hands out what waits as fast as the client takes it, and is cut when more than `maxWaitingBytes` wait. Its queue has
 * no room of its own, so Bun asks for a piece only when the socket has taken the one before: what was given counts until then.
 */
export function createEventStream({ owner, org, maxWaitingBytes, onWaiting, onCut, onEnd }: Options): EventStream {
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0; // with what was given
  let givenBytes = 0;
  let takings = 0;
  let isAsked = false;
  let isOpen = true;
  let onTaken: (() => void)[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
      pull() {
        isAsked = true;
        waitingBytes -= givenBytes;
        givenBytes = 0;
        takings++;
        giveNext();
        resume();
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );

  /** Gives the next piece of what waits, once it is asked for; without anything to give, the next `push` does. */
  function giveNext(): void {
    if (!isAsked || waiting.length === 0 || !isOpen) return;
    isAsked = false; // may be asked again at once
    let count = 0;
    while (count < waiting.length && givenBytes < givenAtOnce) givenBytes += waiting[count++]?.length ?? 0;
    controller?.enqueue(Buffer.concat(waiting.splice(0, count)));
  }

  function resume(): void {
    if (waitingBytes > comfortableBytes) return;
    const resumed = onTaken;
    onTaken = [];
    for (const take of resumed) take();
  }

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    waiting = [];
    waitingBytes = 0;
    givenBytes = 0;
    resume();
    owner.close();
  }

  const stream: EventStream = {
    owner,
    org,
    body,
    get isOpen() {
      return isOpen;
    },
    get isSlow() {
      return waitingBytes > comfortableBytes;
    },
    get takings() {
      return takings;
    },
    push(frame) {
      if (!isOpen) return;
      waiting.push(frame);
      waitingBytes += frame.length;
      giveNext();
      if (waiting.length > 0 || waitingBytes > givenAtOnce) onWaiting();
      if (waitingBytes > maxWaitingBytes) stream.cut();
    },
    comment: () => stream.push(comment),
    async isReadyForMore() {
      while (isOpen && stream.isSlow) await new Promise<void>((resolve) => onTaken.push(resolve));
      return isOpen;
    },
    end() {
      if (!isOpen) return;
      if (stream.isSlow) return stream.cut();
      if (waiting.length > 0) controller?.enqueue(Buffer.concat(waiting));
      close();
      controller?.close();
      onEnd();
    },
    cut() {
      if (!isOpen) return;
      if (waitingBytes > 0) onCut();
      close();
      controller?.error(); // without a reason: Bun prints one to standard error when the answer has not begun (1.4.5)
      onEnd();
    },
    waitingBytes: () => waitingBytes,
  };
  owner.hold(stream.cut);
  return stream;
}
