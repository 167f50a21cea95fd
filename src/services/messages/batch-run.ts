import { HeraldError, toHeraldError } from "../../contract/errors/errors.ts";
import { type ProblemForm, problemDocument } from "../../contract/errors/problem.ts";
import type { BatchAnswer } from "../../contract/messages/batch.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { createOrderedWindow } from "../../lib/queues/ordered-window.ts";
import { createThrottle } from "../../lib/rates/throttle.ts";
import { beginTexts } from "../../lib/text/begun-texts.ts";
import type { Caller } from "../keys/permissions.ts";
import { requestCosts, threadCosts } from "../limits/costs.ts";
import type { LineBlock } from "../transfer/imports.ts";
import { permitAgain } from "../transfer/work-charges.ts";
import type { BatchLine, BatchLineReader } from "./batch-lines.ts";
import { type BatchTarget, type Begun, createBatchSends } from "./batch-sends.ts";
import type { Sent } from "./messages.ts";

/** A request to send lines; `perSecond` is the pace that the caller asks for. The next block is taken when there is room. */
export type BatchWish = {
  caller: Caller;
  isDryRun: boolean;
  perSecond: number | undefined;
  blocks: AsyncGenerator<LineBlock, void>;
};

/** What a batch may ask of its call. */
export type BatchCall = {
  requestId: string;
  /**
   * Charges requests to the key, and to an organization: its own or, if the key has none, this one. Resolves once their
   * limits allow more; rejects with `rate_limited` if that takes longer than `withinMs`.
   */
  pay(cost: number, options: { org: string | undefined; withinMs: number }): Promise<void>;
  /** Checks again whether the key is valid; rejects if not. */
  permit(): Promise<void>;
  /** Records the call in the audit log. */
  record(counts: BatchCounts): Promise<void>;
};

/** What came of the lines of a batch, blank ones left out. `organization`: the only one that lines were sent in. */
export type BatchCounts = {
  organization: string | undefined;
  lines: number;
  stored: number;
  replayed: number;
  failed: number;
};

/** One batch. */
export type BatchRun = ReturnType<typeof createBatchRun>;

type Dependencies = BatchTarget & {
  onError(error: unknown, requestId: string): void;
  problemForm?: ProblemForm;
  reader: BatchLineReader;
  thread: ThreadScheduler;
  wish: BatchWish;
  call: BatchCall;
  /** Called once, when it holds nothing any more. */
  onEnd(): void;
};

/** The answer to a line, or why there is none, and none to those after it. */
type Answered = { line: number; text: string } | { line: number; error: HeraldError };

// As many lines as four commits take.
const sendsAtOnce = { items: 512, weight: 256 * 1024 };
const dryRunsAtOnce = { items: 8, weight: 256 * 1024 };
const mayWaitMs = 10_000; // less than an idle connection may

/** Creates a batch. The lines go to the log one after the other, so the log has them in their order. */
export function createBatchRun(dependencies: Dependencies) {
  const { problemForm, elapsed, onError, reader, thread, wish, call, onEnd } = dependencies;
  const { caller, isDryRun, perSecond, blocks } = wish;
  const { requestId } = call;
  const window = createOrderedWindow<Answered>(isDryRun ? dryRunsAtOnce : sendsAtOnce);
  const throttle = perSecond === undefined ? undefined : createThrottle({ perSecond, clock: elapsed });
  const permit = permitAgain(call.permit, elapsed);
  const organizations = new Set<string>();
  const counts = { lines: 0, stored: 0, replayed: 0, failed: 0 };
  let next = 1; // the first line that is not begun
  let isOver = false;
  const sends = createBatchSends({ ...dependencies, caller, isDryRun, mayWaitMs, isOver: () => isOver });

  const textOf = (answer: BatchAnswer | object) => `${JSON.stringify(answer)}\n`;
  const problemOf = (error: HeraldError) => problemDocument(error, requestId, problemForm);
  const lastLine = ({ line, error }: Extract<Answered, { error: HeraldError }>) =>
    textOf({ done: false, line, problem: problemOf(error) });

  function known(thrown: unknown): HeraldError {
    const error = toHeraldError(thrown);
    if (error.status === 500) onError(thrown, requestId);
    return error;
  }

  /** Lets nothing more begin. */
  function close(): void {
    isOver = true;
    window.close();
  }

  /** Ends the batch after what is being stored, with a last line that says why. */
  function end(error: HeraldError): void {
    if (isOver) return;
    window.add(Promise.resolve({ line: next, error }), 0);
    close();
  }

  function refuse(line: number, error: HeraldError): Answered {
    counts.failed++;
    return { line, text: textOf({ line, status: error.status, problem: problemOf(error) }) };
  }

  async function answerOf(line: number, outcome: Promise<Sent<object>>): Promise<Answered> {
    try {
      const { body, isReplay } = await outcome;
      if (!isDryRun) counts[isReplay ? "replayed" : "stored"]++;
      const status = isDryRun ? 200 : 201;
      return { line, text: textOf({ line, status, ...body, ...(isReplay && { replayed: true }) }) };
    } catch (thrown) {
      const error = known(thrown);
      if (!endsBatch(error)) return refuse(line, error);
      close();
      return { line, error };
    }
  }

  /** Reads a line, pays for it and begins it. Throws what ends the batch. */
  async function handOver(number: number, line: string | HeraldError, bytes: number): Promise<void> {
    let read: BatchLine | undefined;
    let refusal: HeraldError | undefined;
    try {
      if (typeof line !== "string") throw line;
      read = await reader.read(line, caller);
    } catch (thrown) {
      refusal = known(thrown);
    }
    const org = read?.request.organizationId;
    await call.pay(1 + requestCosts.bytes(bytes) + (read?.work ?? 0), { org, withinMs: mayWaitMs });
    let begun: Begun | undefined;
    try {
      if (read !== undefined && !isOver) begun = await sends.begin(read);
    } catch (thrown) {
      refusal = known(thrown);
      if (endsBatch(refusal)) throw refusal;
    }
    if (isOver && begun === undefined) return;
    counts.lines++;
    if (org !== undefined && begun !== undefined) organizations.add(org);
    if (begun !== undefined) window.add(answerOf(number, begun.outcome), bytes);
    else if (refusal !== undefined) window.add(Promise.resolve(refuse(number, refusal)), bytes);
    next = number + 1;
  }

  async function take(): Promise<IteratorResult<LineBlock, void>> {
    try {
      return await blocks.next();
    } catch (cause) {
      throw new HeraldError("bad_request", "the request broke off; send all lines again with the same ids", { cause });
    }
  }

  /** Sends all lines; waits for room before each. */
  async function feed(): Promise<void> {
    const name = caller.rights.org ?? caller.keyId;
    for (let block = await take(); block.done !== true; block = await take()) {
      const { first, lines, bytes: bytesOfBlock } = block.value;
      for (const [index, line] of lines.entries()) {
        if (typeof line === "string" && line.trim() === "") continue;
        await window.room();
        const waitMs = throttle?.take() ?? 0;
        if (waitMs >= 1) await Bun.sleep(waitMs);
        const bytes = typeof line === "string" ? line.length : bytesOfBlock; // about
        await thread.turn(name, threadCosts.line(bytes), { part: caller.keyId });
        if (isOver) return;
        next = first + index;
        await permit();
        await handOver(next, line, bytes);
        if (isOver) return;
      }
      next = first + lines.length;
    }
    close();
  }

  function record(): Promise<void> {
    const [organization, another] = organizations;
    return call.record({ organization: another === undefined ? organization : undefined, ...counts });
  }

  async function* answer(): AsyncGenerator<string, void> {
    let isRecorded = false;
    try {
      yield ""; // see `beginTexts`
      feed().catch((thrown: unknown) => end(known(thrown)));
      for (let ready = await window.take(); ready !== undefined; ready = await window.take()) {
        let text = "";
        for (const one of ready) {
          if ("error" in one) return yield text + lastLine(one);
          text += one.text;
        }
        yield text;
      }
      isRecorded = true;
      await record();
    } catch (thrown) {
      yield lastLine({ line: next, error: known(thrown) }); // the audit log is away
    } finally {
      close();
      blocks.return().catch(() => undefined); // not awaited, as the caller may not send any more
      await window.settle();
      onEnd();
      if (!isRecorded) await record(); // the caller hung up, or the batch ended early: what it did is done
    }
  }

  return {
    /** The answers, a text of whole lines at a time. Lines are read and sent once the first is asked for. */
    answers: beginTexts(answer()),
    end,
  };
}

/** Whether nothing more can be sent: the node stops or is overloaded, the store is away or full, the key was revoked. */
function endsBatch({ status }: HeraldError): boolean {
  return status === 401 || status === 429 || status === 503 || status === 507;
}
