import type { Listener } from "./listeners.ts";

/** What may wait for a reader that keeps up. */
const comfortableBytes = 256 * 1024;

/** A body of server-sent events (WHATWG HTML, section 9.2) that is written piece by piece. */
export type EventStream = Listener & {
  /** The body of the HTTP answer. */
  readonly body: ReadableStream<Uint8Array>;
  readonly isOpen: boolean;
  /** Whether so much waits that what writes to it had better go slower. */
  readonly isSlow: boolean;
  /** Writes text, whole events or comments. May cut the stream. */
  push(text: string): void;
  /** A comment line, which keeps the line warm and finds out dead peers. */
  comment(): void;
  /** Resolves with true when little waits to be taken, with false when the stream is over. */
  isReadyForMore(): Promise<boolean>;
  /** Hands out what waits, and ends it. */
  end(): void;
};

type Options = {
  maxWaitingBytes: number;
  /** Called when it is cut while bytes wait for its reader. */
  onCut(): void;
  /** Called once, whichever side ended it. */
  onClose(): void;
};

const encoder = new TextEncoder();

/** A stream that hands out what waits as fast as the client takes it, and is cut when more than `maxWaitingBytes` wait. */
export function createEventStream({ maxWaitingBytes, onCut, onClose }: Options): EventStream {
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
    onClose();
  }

  const stream: EventStream = {
    body,
    get isOpen() {
      return isOpen;
    },
    get isSlow() {
      return waitingBytes > comfortableBytes;
    },
    push(text) {
      if (!isOpen) return;
      const bytes = encoder.encode(text);
      waiting.push(bytes);
      waitingBytes += bytes.length;
      if ((controller?.desiredSize ?? 0) > 0) handOver();
      if (waitingBytes > maxWaitingBytes) stream.cut();
    },
    comment: () => stream.push(":\n\n"),
    async isReadyForMore() {
      while (isOpen && stream.isSlow) await new Promise<void>((resolve) => onTaken.push(resolve));
      return isOpen;
    },
    end() {
      if (!isOpen) return;
      handOver();
      close();
      controller?.close();
    },
    cut() {
      if (!isOpen) return;
      if (waitingBytes > 0) onCut();
      close();
      controller?.error(new Error("the reader is too slow"));
    },
    waitingBytes: () => waitingBytes,
  };
  return stream;
}

/** An event as a stream carries it. JSON text holds no line breaks, so one `data:` line is enough. */
export function eventText(event: string, id: string | undefined, payload: string): string {
  return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${payload}\n\n`;
}
