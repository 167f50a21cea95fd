import { HeraldError, toHeraldError, unavailable } from "../../contract/errors/errors.ts";
import type { PayloadLimits } from "../../contract/limits.ts";
import { createTurnstile } from "../../lib/event-loop/turnstile.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { OrganizationReads } from "../../store/ports.ts";
import type { ImportWrites } from "../../store/transfer/ports.ts";
import { requireOrganization } from "../directory/directory.ts";
import { type Caller, permitScope, permitSender } from "../keys/permissions.ts";
import type { OrganizationUse } from "../limits/organization-use.ts";
import { createLineReader } from "./import-lines.ts";
import { createImportParts, type ImportParts } from "./import-parts.ts";
import { createImportProgress, type ImportProgress } from "./import-progress.ts";
import type { Places } from "./places.ts";
import { createToll } from "./toll.ts";

/** Consecutive lines of a body, the first of them with this number; an error stands for a line that cannot be read. */
export type LineBlock = { first: number; lines: (string | HeraldError)[]; bytes: number };

/** What a transfer may ask of its call. */
export type TransferCall = {
  requestId: string;
  /** Charges work, in requests. Resolves once the limits of the key and its organization allow more. */
  pay(cost: number): Promise<void>;
  /** Checks again whether the key is valid and permits this; rejects if not. */
  permit(): Promise<void>;
  /** Records the call in the audit log. */
  record(counts: { lines: number; failed: number }): Promise<void>;
};

/** A request to import lines. The next block is taken while this one is being stored. */
export type ImportWish = { caller: Caller; org: string; isDryRun: boolean; blocks: AsyncGenerator<LineBlock, void> };

/** Imports users, conversations, participants and messages of the past. */
export type Imports = {
  /**
   * Imports lines as they come and as the report is read, a text of whole lines at a time. Throws
   * `organization_not_found`, and `rate_limited` if too many imports are running.
   */
  open(wish: ImportWish, call: TransferCall): Promise<AsyncGenerator<string, void>>;
  /** Ends all imports after what they are storing, and says so in their reports. */
  stop(): void;
};

type Dependencies = {
  imports: ImportWrites & { rowsOfPart: number };
  organizations: Pick<OrganizationReads, "get">;
  use: Pick<OrganizationUse, "reserveRoom">;
  places: Places;
  limits: PayloadLimits;
  clock: Clock;
  /** A clock that never goes back. */
  elapsed: Clock;
};

const linesPerTurn = 50; // about half a millisecond of the serving thread
const linesPerUnit = 500;
const bytesPerUnit = 262_144;
const waitForMoreMs = 50;

/** Creates imports on the store. */
export function createImports(dependencies: Dependencies): Imports {
  const { imports, organizations, use, places, limits, clock, elapsed } = dependencies;
  const turns = createTurnstile(1);
  const participantsOfItem = Math.floor(imports.rowsOfPart / 4);
  const reader = createLineReader({ limits, participantsOfItem, now: clock.now });
  let isStopping = false;

  /** The items of a line; `undefined` if it was refused. */
  function readLine({ org, caller }: ImportWish, parts: ImportParts, number: number, line: string | HeraldError) {
    try {
      if (typeof line !== "string") throw line;
      const items = line.trim() === "" ? [] : reader.read(line, { org, keepsIds: parts.keepsIds });
      const [first] = items;
      if (first?.kind === "message") {
        permitScope(caller, "message:send");
        permitSender(caller, first.sender);
      }
      return items;
    } catch (error) {
      if (!(error instanceof HeraldError)) throw error;
      parts.refuse(number, error);
      return undefined;
    }
  }

  async function readBlock(wish: ImportWish, parts: ImportParts, { first, lines }: LineBlock): Promise<void> {
    for (const [index, line] of lines.entries()) {
      if (index % linesPerTurn === 0) await turns.pass(wish.org);
      const number = first + index;
      const items = readLine(wish, parts, number, line);
      if (items !== undefined) await parts.add(number, items);
    }
  }

  /** Imports all blocks; yields when there is something to report. */
  async function* run(wish: ImportWish, call: TransferCall, progress: ImportProgress, parts: ImportParts) {
    const toll = createToll(call, elapsed);
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
        await readBlock(wish, parts, block.value);
        await toll.charge(Math.max(block.value.lines.length / linesPerUnit, block.value.bytes / bytesPerUnit));
        next = take();
      }
      if (isStopping) throw unavailable({ detail: "this node is shutting down; send all lines again" });
      await toll.permit();
      const text = progress.take();
      if (text !== "") yield text;
    }
  }

  async function* report(wish: ImportWish, call: TransferCall, release: () => void): AsyncGenerator<string, void> {
    const { org, caller, isDryRun } = wish;
    const progress = createImportProgress(call.requestId);
    const maxParticipants = limits.participants;
    const parts = createImportParts({
      imports,
      use,
      progress,
      org,
      keyId: caller.keyId,
      isDryRun,
      maxParticipants,
      clock,
    });
    let isRecorded = false;
    const record = async () => {
      isRecorded = true;
      await call.record({ lines: progress.lines, failed: progress.failed });
    };
    try {
      yield* run(wish, call, progress, parts);
      await parts.flush();
      await record();
      yield progress.end();
    } catch (error) {
      await parts.settle();
      yield progress.end(toHeraldError(error));
    } finally {
      release();
      await parts.settle();
      wish.blocks.return().catch(() => undefined); // not awaited, as the caller may not send any more
      if (!isRecorded) await record(); // the caller hung up, or the import failed: what it did is done
    }
  }

  return {
    async open(wish, call) {
      await requireOrganization(organizations, wish.org);
      return report(wish, call, places.take(wish.org));
    },
    stop() {
      isStopping = true;
    },
  };
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
