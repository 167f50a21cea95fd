import type { Owner } from "../../lib/owner.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { comfortableBytes, type Line } from "../connections/connection.ts";
import type { LineParts } from "../connections/line-parts.ts";
import type { Transport } from "../connections/register.ts";
import type { FrameContent } from "../fanout/event-facts.ts";
import { createWaitingFrames } from "./waiting-frames.ts";

const givenAtOnce = 64 * 1024;
const comment = new TextEncoder().encode(":\n\n");
const nothing = new Uint8Array();

/** A body of server-sent events (WHATWG HTML, section 9.2), written piece by piece. */
export type EventStream = Omit<Line, "org" | "end" | "withdraw"> &
  Required<Pick<Line, "withdraw">> & {
    readonly org: string;
    /** The body of the HTTP response. */
    readonly body: ReadableStream<Uint8Array>;
    /** Whether so much is waiting that writers should slow down. */
    readonly isSlow: boolean;
    /** Writes whole events, unless they have expired when their turn comes. May cut the stream. */
    push(frame: Uint8Array, content?: FrameContent): void;
    /** Writes a comment line, which keeps the connection alive and detects dead peers. */
    comment(): void;
    /** Resolves to true once little is waiting, or to false if the stream is over. */
    isReadyForMore(): Promise<boolean>;
    /**
     * Hands out what is waiting and ends the stream; a stream cannot say why. Cuts it instead if its reader is far
     * behind.
     */
    end(): void;
  };

type Options = {
  /** Closes with the stream, and closes the stream with it. */
  owner: Owner;
  /** The organization that its bytes count towards. */
  org: string;
  maxWaitingBytes: number;
  databaseClock: Clock;
  /** Called when bytes are waiting for the reader. */
  onWaiting(): void;
  /** Called when the stream is cut with bytes waiting. */
  onCut(): void;
  /**
   * Called when the stream is ended or cut: Bun closes the connection once the remaining bytes are taken, which must
   * not wait for the reader for ever.
   */
  onEnd(): void;
  /** What is left of a frame without its text; nothing by default. */
  blank?(frame: Uint8Array): Uint8Array;
  /** Encodes pieces of a message that wait one after the other and are told as one; without it, each is told. */
  encodePieces?: ((payload: string) => Uint8Array) | undefined;
};

/**
 * Creates a stream that hands out bytes as fast as the client takes them, and is cut when more than `maxWaitingBytes`
 * wait. The body's queue has no room of its own, so Bun pulls only once the socket has taken the previous piece; until
 * then that piece counts as waiting.
 */
export function createEventStream(options: Options): EventStream {
  const { owner, org, maxWaitingBytes, databaseClock, onWaiting, onCut, onEnd } = options;
  const { blank = () => nothing, encodePieces } = options;
  const waiting = createWaitingFrames({ databaseClock, blank, encodePieces });
  let givenBytes = 0; // handed out last
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
        givenBytes = 0;
        takings++;
        giveNext();
        resume();
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );

  const waitingBytes = () => waiting.bytes + givenBytes;

  /** Hands out what is next if Bun has asked for it, or leaves that to the next `push`. */
  function giveNext(): void {
    if (!isAsked || waiting.isEmpty || !isOpen) return;
    const given = waiting.take(givenAtOnce);
    if (given.length === 0) return; // all of it was withdrawn, or has expired
    givenBytes = given.length;
    isAsked = false; // before enqueueing, which may ask again at once
    controller?.enqueue(given);
  }

  function resume(): void {
    if (waitingBytes() > comfortableBytes) return;
    const resumed = onTaken;
    onTaken = [];
    for (const take of resumed) take();
  }

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    waiting.clear();
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
      return waitingBytes() > comfortableBytes;
    },
    get takings() {
      return takings;
    },
    push(frame, content = { text: undefined }) {
      if (!isOpen) return;
      waiting.add(frame, content);
      giveNext();
      if (!waiting.isEmpty || waitingBytes() > givenAtOnce) onWaiting();
      if (waitingBytes() > maxWaitingBytes) stream.cut();
    },
    withdraw(texts) {
      if (waiting.withdraw(texts)) resume();
    },
    comment: () => stream.push(comment),
    async isReadyForMore() {
      while (isOpen && stream.isSlow) await new Promise<void>((resolve) => onTaken.push(resolve));
      return isOpen;
    },
    end() {
      if (!isOpen) return;
      if (stream.isSlow) return stream.cut();
      const rest = waiting.take(Number.POSITIVE_INFINITY);
      if (rest.length > 0) controller?.enqueue(rest);
      close();
      controller?.close();
      onEnd();
    },
    cut() {
      if (!isOpen) return;
      if (waitingBytes() > 0) onCut();
      close();
      controller?.error(); // without a reason, which Bun 1.4.5 would print to standard error if the response has not begun
      onEnd();
    },
    waitingBytes,
  };
  owner.hold(stream.cut);
  return stream;
}

/** Opens a stream of the node: counts it and what waits for it, and keeps it alive with comments, or with what `beat` returns. */
export function openEventStream(
  {
    register,
    backlog,
    heartbeats,
    limits,
    databaseClock,
    onCut,
  }: Pick<LineParts, "register" | "backlog" | "heartbeats" | "limits" | "databaseClock" | "onCut">,
  transport: Transport,
  {
    beat,
    ...options
  }: Pick<Options, "owner" | "org" | "onEnd" | "blank" | "encodePieces"> & { beat?: () => Uint8Array },
): EventStream {
  const stream = createEventStream({
    ...options,
    maxWaitingBytes: limits.backlogBytes,
    databaseClock,
    onWaiting: () => backlog.watch(stream),
    onCut,
  });
  register.add(transport, stream);
  heartbeats.repeat(options.owner, limits.pingMs, beat === undefined ? stream.comment : () => stream.push(beat()));
  return stream;
}
