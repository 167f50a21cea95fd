import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createOwner, type Owner, onAbort } from "../../lib/owner.ts";

/** A response that its caller has not received completely. */
export type Untaken = {
  readonly owner: Owner;
  /** The organization that its bytes count towards. */
  readonly org: string | undefined;
  waitingBytes(): number;
  /** Increases whenever the socket has taken a piece. */
  readonly takings: number;
  /** Ends it at once. */
  cut(): void;
};

/** A text, or the bytes of one. */
export type Content = string | Uint8Array<ArrayBuffer>;

/** Bodies of responses that are too long to be handed over at once. */
export type LongAnswers = ReturnType<typeof createLongAnswers>;

/** What a response needs to know about its call. */
export type Answering = {
  org: string | undefined;
  /** Its signal aborts when the caller hangs up. Bun creates the signal when it is first read. */
  request: Pick<Request, "signal">;
  /** Requires the bytes handed out so far to be taken within seconds; otherwise the connection is cut. */
  endSoon(): void;
};

/** Counts the bytes held for slow callers, and cuts them. */
export type AnswerBacklog = {
  watch(answer: Untaken): void;
  forget(answer: Pick<Untaken, "owner">): void;
  /** Called when a response was cut. */
  onCut(): void;
};

type Dependencies = { backlog: AnswerBacklog; onError(error: unknown): void };

/** A response of more bytes is long. */
const longAnswerBytes = 64 * 1024;
const mostBytesOfUnit = 3; // UTF-8 bytes per UTF-16 unit, at most

/**
 * Creates long responses, which are sent in pieces. The queue of the stream has no room, so Bun pulls a piece only once
 * the socket has taken the previous one (measured with Bun 1.4.5, decision 0034); hence it is known when all is taken.
 * Each piece waits for a turn of the event loop.
 */
export function createLongAnswers({ backlog, onError }: Dependencies) {
  /** Streams bytes that count towards `org` until the last of them is taken or the caller hangs up or is cut. */
  function streamOf(bytes: Uint8Array, { org, request, endSoon }: Answering): ReadableStream<Uint8Array> {
    const owner = createOwner(onError);
    let begin = 0; // of what is not handed out yet
    let takings = 0;
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

    const answer: Untaken = {
      owner,
      org,
      waitingBytes: () => (owner.isClosed ? 0 : bytes.length), // held as a whole
      get takings() {
        return takings;
      },
      cut() {
        if (owner.isClosed) return;
        owner.close();
        backlog.onCut();
        controller?.error(); // without a reason, which Bun would print
        endSoon();
      },
    };

    const body = new ReadableStream<Uint8Array>(
      {
        start(started) {
          controller = started;
        },
        async pull(asked) {
          takings++;
          if (begin > 0) await nextTurn();
          if (owner.isClosed) return;
          if (begin >= bytes.length) {
            owner.close();
            asked.close();
            return;
          }
          const piece = bytes.subarray(begin, begin + longAnswerBytes);
          begin += piece.length;
          asked.enqueue(piece);
        },
        cancel: () => owner.close(),
      },
      { highWaterMark: 0 },
    );
    owner.hold(() => backlog.forget(answer));
    backlog.watch(answer);
    onAbort(request.signal, () => owner.close());
    return body;
  }

  return {
    /** The body for this content: the content itself, unless it is long. */
    bodyOf: (content: Content, call: Answering): Content | ReadableStream<Uint8Array> =>
      isLong(content) ? streamOf(typeof content === "string" ? Buffer.from(content) : content, call) : content,
  };
}

function isLong(content: Content): boolean {
  if (content.length > longAnswerBytes) return true;
  return content.length > longAnswerBytes / mostBytesOfUnit && Buffer.byteLength(content) > longAnswerBytes;
}
