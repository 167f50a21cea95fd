import { HeraldError, toHeraldError, unavailable } from "../../contract/errors/errors.ts";
import type { ProblemForm } from "../../contract/errors/problem.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import type { ThreadScheduler } from "../../lib/event-loop/thread-scheduler.ts";
import { createQueue } from "../../lib/queues/queue.ts";
import { beginTexts } from "../../lib/text/begun-texts.ts";
import type { Clock, SteadyClock } from "../../lib/time/clock.ts";
import type { KeyReads } from "../../store/keys/ports.ts";
import type { OrganizationReads } from "../../store/ports.ts";
import type { ImportItem, ImportWrites } from "../../store/transfer/ports.ts";
import { requireOrganization } from "../directory/directory.ts";
import { type Caller, permitScope, permitSender, requireValidKey } from "../keys/permissions.ts";
import { requestCosts, threadCosts } from "../limits/costs.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { createLineReader } from "./import-lines.ts";
import { createImportParts, type ImportParts } from "./import-parts.ts";
import { createImportProgress, type ImportProgress } from "./import-progress.ts";
import type { TransferSlots } from "./transfer-slots.ts";
import { createWorkCharges, type WorkingCall } from "./work-charges.ts";

/** Consecutive lines of a body, the first of them with this number; an error stands for a line that cannot be read. */
export type LineBlock = { first: number; lines: (string | HeraldError)[]; bytes: number };

/** What a transfer may ask of its call. */
type TransferCall = WorkingCall & {
  requestId: string;
  /** Records the call in the audit log. */
  record(counts: { lines: number; failed: number }): Promise<void>;
};

/** A request to import lines. The next block is taken while this one is being stored. */
type ImportWish = { caller: Caller; org: string; isDryRun: boolean; blocks: AsyncGenerator<LineBlock, void> };

/** Imports users, conversations, participants, messages of the past and inboxes. */
export type Imports = ReturnType<typeof createImports>;

type Dependencies = {
  imports: ImportWrites & { rowsOfPart: number };
  keys: Pick<KeyReads, "isValid">;
  organizations: Pick<OrganizationReads, "get">;
  use: Pick<OrganizationUse, "reserveRoom">;
  slots: TransferSlots;
  thread: ThreadScheduler;
  limits: PayloadLimits;
  clock: Clock;
  elapsed: SteadyClock;
  problemForm?: ProblemForm;
};

const longLine = 64 * 1024; // such lines are read one at a time
const waitForMoreMs = 50;
const participantsOfItem = 60; // two rows each, which fit the smallest part of the stores

/** Creates imports on the store. */
export function createImports(dependencies: Dependencies) {
  const { keys, organizations, slots, thread, limits, clock, elapsed, problemForm } = dependencies;
  const longLines = createQueue(() => unavailable({ detail: "this node is shutting down; send all lines again" }));
  const reader = createLineReader({ limits, participantsOfItem, now: clock.now });
  let isStopping = false;

  function permitted({ caller }: ImportWish, items: ImportItem[]): ImportItem[] {
    const [first] = items;
    const actor = first && actorOf(first);
    if (actor !== undefined) {
      permitScope(caller, "message:send");
      permitSender(caller, actor);
    }
    return items;
  }

  async function readLong(wish: ImportWish, line: string, keepsIds: boolean): Promise<ImportItem[] | HeraldError> {
    const { org } = wish;
    const turn = async () => await thread.turn(org, threadCosts.slice);
    try {
      return permitted(wish, await longLines.add({ of: org }, () => reader.readInTurns(line, { org, keepsIds }, turn)));
    } catch (error) {
      return faultOf(error);
    }
  }

  /** The items of a line, or what is wrong with it; no promise for a short line, as most are. */
  function readLine(wish: ImportWish, line: string | HeraldError, keepsIds: boolean) {
    if (typeof line !== "string") return line;
    if (line.length > longLine) return readLong(wish, line, keepsIds);
    try {
      return line.trim() === "" ? [] : permitted(wish, reader.read(line, { org: wish.org, keepsIds }));
    } catch (error) {
      return faultOf(error);
    }
  }

  /** Reads the lines of a block, in turns; yields when there is something to report. */
  async function* readBlock(
    wish: ImportWish,
    { parts, progress }: { parts: ImportParts; progress: ImportProgress },
    { first, lines }: LineBlock,
  ): AsyncGenerator<string, void> {
    let sliceEndsAt = 0;
    for (const [index, line] of lines.entries()) {
      if (elapsed.now() >= sliceEndsAt) {
        const text = progress.take();
        if (text !== "") yield text;
        await thread.turn(wish.org, threadCosts.slice);
        sliceEndsAt = elapsed.now() + threadCosts.slice / 1_000;
      }
      const reading = readLine(wish, line, parts.keepsIds);
      const items = reading instanceof Promise ? await reading : reading;
      await (items instanceof HeraldError ? parts.refuse(first + index, items) : parts.add(first + index, items));
    }
  }

  /** Imports all blocks; yields when there is something to report. */
  async function* run(wish: ImportWish, call: TransferCall, progress: ImportProgress, parts: ImportParts) {
    const { charge, permit } = createWorkCharges(call, elapsed);
    const take = () => {
      const next = wish.blocks.next();
      next.catch(() => undefined); // awaited later
      return next;
    };
    let next = take();
    for (;;) {
      const block = parts.isWaiting ? await soon(next) : await next;
      if (block === undefined) await parts.flush();
      else if (block.done) return;
      else {
        yield* readBlock(wish, { parts, progress }, block.value);
        await charge(requestCosts.lines(block.value.lines.length, block.value.bytes));
        next = take();
      }
      if (isStopping) throw unavailable({ detail: "this node is shutting down; send all lines again" });
      await permit();
      const text = progress.take();
      if (text !== "") yield text;
    }
  }

  async function* report(wish: ImportWish, call: TransferCall, release: () => void): AsyncGenerator<string, void> {
    const progress = createImportProgress(call.requestId, problemForm);
    const parts = createImportParts({ ...dependencies, ...wish, progress, maxParticipants: limits.participants });
    let isRecorded = false;
    const record = async () => await call.record({ lines: progress.lines, failed: progress.failed });
    const recordEnd = async () => {
      isRecorded = true;
      await record();
    };
    try {
      yield ""; // see `beginTexts`
      let isBegun = false;
      for await (const text of run(wish, call, progress, parts)) {
        if (!isBegun) await record(); // before the caller learns of any change, as of every change
        isBegun = true;
        yield text;
      }
      await parts.flush();
      await recordEnd();
      yield progress.end();
    } catch (error) {
      await parts.settle();
      yield progress.end(toHeraldError(error));
    } finally {
      release();
      await parts.settle();
      wish.blocks.return().catch(() => undefined); // not awaited, as the caller may not send any more
      if (!isRecorded) await recordEnd(); // the caller hung up, or the import failed: what it did is done
    }
  }

  return {
    /**
     * Imports lines as they come and as the report is read, a text of whole lines at a time. Throws
     * `organization_not_found`, and `rate_limited` if too many imports are running.
     */
    async open(wish: ImportWish, call: TransferCall): Promise<AsyncGenerator<string, void>> {
      await requireOrganization(organizations, wish.org);
      await requireValidKey(keys, wish.caller, clock.now());
      return beginTexts(report(wish, call, slots.take(wish.org)));
    },
    /** Ends all imports after what they are storing, and says so in their reports. */
    stop(): void {
      isStopping = true;
    },
  };
}

/** The user as whom a line acts, if it is more than a change of the directory. */
function actorOf(item: ImportItem): string | undefined {
  if ("sender" in item) return item.sender;
  return "uid" in item ? item.uid : undefined;
}

/** Throws anything that is no fault of the line. */
function faultOf(error: unknown): HeraldError {
  if (error instanceof HeraldError) return error;
  throw error;
}

/** The value, or `undefined` if it takes longer than a moment. */
async function soon<Value>(value: Promise<Value>): Promise<Value | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, waitForMoreMs);
  try {
    return await Promise.race([value, late]);
  } finally {
    clearTimeout(timer);
  }
}
