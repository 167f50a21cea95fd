import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createOwner, type Owner, onAbort } from "../../lib/owner.ts";

/** An answer that its caller has not taken to the end. */
export type Untaken = {
  readonly owner: Owner;
  /** The organization that its bytes count for. */
  readonly org: string | undefined;
  waitingBytes(): number;
  /** Rises whenever the socket has taken a piece. */
  readonly takings: number;
  /** Ends it at once. */
  cut(): void;
};

/** Bodies of answers that are too long to be forgotten once they are made. */
export type LongAnswers = {
  /** The body of an answer with this text: the text itself, unless it is long. */
  bodyOf(text: string, toBytes: ToBytes, call: Answering): string | ReadableStream<Uint8Array>;
};

/** What an answer has to know of its call. */
export type Answering = {
  org: string | undefined;
  /** Its signal aborts when the caller has hung up. The runtime makes it when it is first asked for. */
  request: Pick<Request, "signal">;
  /** What was handed out must be taken within seconds, or the connection is cut. */
  endSoon(): void;
};

/** Counts what is held for those who do not take it, and cuts them. */
export type AnswerBacklog = {
  watch(answer: Untaken): void;
  forget(answer: Pick<Untaken, "owner">): void;
  /** An answer was cut. */
  onCut(): void;
};

type Dependencies = { backlog: AnswerBacklog; onError(error: unknown): void };

/** What makes bytes of a text. */
export type ToBytes = (text: string) => Uint8Array;

/** An answer of more bytes is a long one. */
const longAnswerBytes = 64 * 1024;
const mostBytesOfUnit = 3; // of UTF-16, in UTF-8

/**
 * Long answers go out in pieces. The queue of their stream has no room, so the runtime asks for a piece when the socket has taken the one before
 * (measured with Bun 1.4.5, decision 0036): so it is known when all was taken. Each piece has a turn of the event loop.
 */
export function createLongAnswers({ backlog, onError }: Dependencies): LongAnswers {
  /** Its bytes count for `org` until the last of them is taken, or the caller has hung up, or is cut. */
  function streamOf(bytes: Uint8Array, { org, request, endSoon }: Answering): ReadableStream<Uint8Array> {
    const owner = createOwner(onError);
    let begin = 0; // of what was not handed out
    let takings = 0;
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined;

    const answer: Untaken = {
      owner,
      org,
      waitingBytes: () => (owner.isClosed ? 0 : bytes.length), // it is held as a whole
      get takings() {
        return takings;
      },
      cut() {
        if (owner.isClosed) return;
        owner.close();
        backlog.onCut();
        controller?.error(); // Bun prints what it is given
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
        cancel: owner.close,
      },
      { highWaterMark: 0 },
    );
    owner.hold(() => backlog.forget(answer));
    backlog.watch(answer);
    onAbort(request.signal, owner.close);
    return body;
  }

  return { bodyOf: (text, toBytes, call) => (isLong(text) ? streamOf(toBytes(text), call) : text) };
}

/** Makes bytes of a text, once while it stays the same: the documents that anybody may ask for, as often as they like. */
export function rememberBytes(): ToBytes {
  let last: { text: string; bytes: Uint8Array } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, bytes: Buffer.from(text) };
    return last.bytes;
  };
}

function isLong(text: string): boolean {
  if (text.length > longAnswerBytes) return true;
  return text.length > longAnswerBytes / mostBytesOfUnit && Buffer.byteLength(text) > longAnswerBytes;
}
