import { HeraldApiError } from "../../errors.ts";
import type {
  DryRunAnswer,
  MessageAnswer,
  MessageEnvelope,
  SystemMessageAnswer,
  SystemMessageEnvelope,
} from "../../types.ts";
import { createUuid } from "../../uuid.ts";
import type { CallOptions } from "../exchange.ts";
import type { Fetch } from "../fetch.ts";
import { unreachable } from "../http.ts";
import { callForLines, type LineBytes, type LineProblem, readLines, type Values, writeLines } from "../lines.ts";
import { query } from "./paths.ts";

/** A send of a batch. */
export type BatchEnvelope = MessageEnvelope | SystemMessageEnvelope;

/**
 * The answer to the send with this number, counted from 1: it is stored (201, `replayed` if it was before), it would be (200, in a
 * dry run), or it was refused.
 */
export type BatchAnswer = {
  /** The number of the send, from 1. */
  line: number;
  /** 201 for stored, 200 in a dry run, or the status of the refusal. */
  status: number;
} & (
  | ((MessageAnswer | SystemMessageAnswer | DryRunAnswer) & {
      /** Present if the send was stored before. */
      replayed?: true;
      /** Why the send was refused. */
      problem?: never;
    })
  | {
      /** Why the send was refused. */
      problem: LineProblem;
      /** Present if the send was stored before. */
      replayed?: never;
    }
);

/** The options of a batch. When `signal` breaks it off, what it has answered is stored. */
export type BatchOptions = CallOptions & {
  /** Sends at most so many a second. */
  rate?: number | undefined;
  /** Checks the sends, and stores and sends nothing. */
  dryRun?: boolean | undefined;
};

type LastLine = { done: false; line: number; problem: LineProblem };

/** Creates the calls of an admin client that send many messages in one request. `root` is the server address. */
export function createBatchCalls({ root, key, fetch }: { root: string; key: string; fetch: Fetch }) {
  function callBatch(lines: LineBytes, { rate, dryRun, signal }: BatchOptions): AsyncGenerator<Uint8Array, void> {
    const target = `${root}/admin/message/batch${query({ rate, dry_run: dryRun })}`;
    return callForLines({ url: target, method: "POST", key, fetch, lines, signal });
  }

  return {
    /**
     * Sends many messages and system messages in one request, and yields the answer to each, in order and while it goes on. A refused
     * send is an answer with a `problem`; the others are sent. Throws if the batch ends early: then send all again with the same ids,
     * and nothing is sent twice. Sends are taken as fast as the server stores them, and no faster than the answers are read.
     */
    sendBatch(sends: Values<BatchEnvelope>, options: BatchOptions = {}): AsyncGenerator<BatchAnswer, void> {
      let sent = 0;
      const lines = writeLines(withIds(sends, () => sent++));
      return readBatch(callBatch(lines, options), root, () => sent);
    },
    /** Like `sendBatch`, for lines that are written already: one JSON object each, with ids of their own. */
    sendBatchLines(lines: LineBytes, options: BatchOptions = {}): AsyncGenerator<BatchAnswer, void> {
      return readBatch(callBatch(lines, options), root);
    },
  };
}

/** Gives a random id to each send that has none. `onSend` is called for each. */
function withIds(sends: Values<BatchEnvelope>, onSend: () => void): Values<BatchEnvelope> {
  return Symbol.asyncIterator in sends ? eachLater(sends, onSend) : eachNow(sends, onSend);
}

function* eachNow(sends: Iterable<BatchEnvelope>, onSend: () => void): Generator<BatchEnvelope, void> {
  for (const send of sends) {
    onSend();
    yield withId(send);
  }
}

async function* eachLater(
  sends: AsyncIterable<BatchEnvelope>,
  onSend: () => void,
): AsyncGenerator<BatchEnvelope, void> {
  for await (const send of sends) {
    onSend();
    yield withId(send);
  }
}

/**
 * Yields the answers to a batch. Throws `HeraldApiError` if it ended early, and `unreachable` if there are fewer than `expected` in
 * the end.
 */
async function* readBatch(
  bytes: AsyncGenerator<Uint8Array, void>,
  url: string,
  expected: () => number = () => 0,
): AsyncGenerator<BatchAnswer, void> {
  let answered = 0;
  for await (const answer of readLines<BatchAnswer | LastLine>(bytes)) {
    if ("done" in answer) throw endedEarly(answer);
    answered++;
    yield answer;
  }
  if (answered < expected()) throw unreachable(url, "the response ended before the batch").error;
}

function withId(send: BatchEnvelope): BatchEnvelope {
  return "message" in send
    ? { ...send, message: { ...send.message, id: send.message.id ?? createUuid() } }
    : { ...send, messageSystem: { ...send.messageSystem, id: send.messageSystem.id ?? createUuid() } };
}

function endedEarly({ line, problem: { status, code, title, detail } }: LastLine): HeraldApiError {
  return new HeraldApiError({
    status,
    code,
    title,
    detail: `the batch ended before line ${line} was answered: ${detail}`,
  });
}
