import { hasExpired } from "../../contract/log/log-event.ts";
import type { Owner } from "../../lib/owner.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { comfortableBytes, type Line } from "../connections/connection.ts";
import type { LineParts } from "../connections/line-parts.ts";
import type { Transport } from "../connections/register.ts";
import type { FrameContent } from "../fanout/event-facts.ts";

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

/** A frame that waits; empty once it was withdrawn or has expired. */
type Piece = { frame: Uint8Array } & Readonly<FrameContent>;

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
};

/**
 * Creates a stream that hands out bytes as fast as the client takes them, and is cut when more than `maxWaitingBytes`
 * wait. The body's queue has no room of its own, so Bun pulls only once the socket has taken the previous piece; until
 * then that piece counts as waiting.
 */
export function createEventStream(options: Options): EventStream {
  const { owner, org, maxWaitingBytes, databaseClock, onWaiting, onCut, onEnd } = options;
  let waiting: Piece[] = [];
  const waitingOf = new Map<string, Piece[]>(); // by the text that they hold
  let waitingBytes = 0; // including the piece handed out last
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

  /** Hands out the next piece if Bun has asked for one, or leaves that to the next `push`. */
  function giveNext(): void {
    if (!isAsked || waiting.length === 0 || !isOpen) return;
    const taken: Piece[] = [];
    for (const piece of waiting) {
      if (givenBytes >= givenAtOnce) break;
      dropExpired(piece);
      givenBytes += piece.frame.length;
      taken.push(piece);
    }
    waiting.splice(0, taken.length);
    for (const piece of taken) forget(piece);
    if (givenBytes === 0) return; // all of it was withdrawn, or has expired
    isAsked = false; // before enqueueing, which may ask again at once
    controller?.enqueue(joined(taken));
  }

  function drop(piece: Piece): void {
    waitingBytes -= piece.frame.length;
    piece.frame = nothing;
  }

  function dropExpired(piece: Piece): void {
    if (piece.expiresAt !== undefined && hasExpired(piece, databaseClock.now())) drop(piece);
  }

  /** Notes the text that a waiting piece holds. */
  function note(piece: Piece): void {
    if (piece.text === undefined) return;
    const pieces = waitingOf.get(piece.text);
    if (pieces === undefined) waitingOf.set(piece.text, [piece]);
    else pieces.push(piece);
  }

  function forget({ text }: Piece): void {
    const pieces = text === undefined ? undefined : waitingOf.get(text);
    if (text === undefined || pieces === undefined) return;
    pieces.shift(); // pieces are taken in order
    if (pieces.length === 0) waitingOf.delete(text);
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
    waitingOf.clear();
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
    push(frame, content = { text: undefined }) {
      if (!isOpen) return;
      const piece = { frame, ...content };
      waiting.push(piece);
      note(piece);
      waitingBytes += frame.length;
      giveNext();
      if (waiting.length > 0 || waitingBytes > givenAtOnce) onWaiting();
      if (waitingBytes > maxWaitingBytes) stream.cut();
    },
    withdraw(texts) {
      if (waitingOf.size === 0) return;
      for (const text of texts) for (const piece of waitingOf.get(text) ?? []) drop(piece);
      resume();
    },
    comment: () => stream.push(comment),
    async isReadyForMore() {
      while (isOpen && stream.isSlow) await new Promise<void>((resolve) => onTaken.push(resolve));
      return isOpen;
    },
    end() {
      if (!isOpen) return;
      if (stream.isSlow) return stream.cut();
      for (const piece of waiting) dropExpired(piece);
      const rest = joined(waiting);
      if (rest.length > 0) controller?.enqueue(rest);
      close();
      controller?.close();
      onEnd();
    },
    cut() {
      if (!isOpen) return;
      if (waitingBytes > 0) onCut();
      close();
      controller?.error(); // without a reason, which Bun 1.4.5 would print to standard error if the response has not begun
      onEnd();
    },
    waitingBytes: () => waitingBytes,
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
  { beat, ...options }: Pick<Options, "owner" | "org" | "onEnd"> & { beat?: () => Uint8Array },
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

function joined(pieces: readonly Piece[]): Uint8Array {
  return Buffer.concat(pieces.map(({ frame }) => frame));
}
