import { nextTurn } from "../lib/next-turn.ts";
import { createOwner, type Owner, onAbort } from "../lib/owner.ts";

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
  /** A body of these bytes, which count for `org` until the last of them is taken, or the caller has hung up, or is cut. */
  streamOf(bytes: Uint8Array, call: Answering): ReadableStream<Uint8Array>;
};

/** What an answer has to know of its call. */
export type Answering = {
  org: string | undefined;
  /** Aborts when the caller has hung up. */
  signal: AbortSignal;
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

/** An answer of more bytes is a long one. */
export const longAnswerBytes = 64 * 1024;

/**
 * Long answers go out in pieces. The queue of their stream has no room, so the runtime asks for a piece when the socket has taken the one before
 * (measured with Bun 1.4.5, decision 0036): so it is known when all was taken. Each piece has a turn of the event loop.
 */
export function createLongAnswers({ backlog, onError }: Dependencies): LongAnswers {
  return {
    streamOf(bytes, { org, signal, endSoon }) {
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
          controller?.error(new Error("the reader is too slow"));
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
      onAbort(signal, owner.close);
      return body;
    },
  };
}
