import { HeraldError } from "../../contract/errors/errors.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { NewSend } from "../../store/ports.ts";
import type { Caller } from "../keys/permissions.ts";
import type { TellStored } from "../limits/organization-use.ts";
import type { BatchLine } from "./batch-lines.ts";
import type { DryRuns } from "./dry-runs.ts";
import { appendAdmitted, type Sending, type Sent, toMessageAnswer, toMessageSend } from "./messages.ts";
import { toSystemAnswer, toSystemSend } from "./system-messages.ts";

/** A send that has its place in the log's order; the outcome comes later. */
export type Begun = { outcome: Promise<Sent<object>> };

/** Hands over the lines of a batch to the log. */
export type BatchSends = {
  /**
   * Resolves once the send has its place in the order of sends, so that the next line comes after it; `undefined` if
   * the batch is over by then. Rejects with what the key or the limits of the organization refuse.
   */
  begin(line: BatchLine): Promise<Begun | undefined>;
};

/** Where a batch sends, or only tries to. */
export type BatchTarget = Sending & {
  dryRuns: Pick<DryRuns, "message" | "systemMessage">;
  /** A clock that never goes back. */
  elapsed: Clock;
};

type Options = BatchTarget & {
  caller: Caller;
  isDryRun: boolean;
  /** How long a send may wait for the rate of its organization. */
  mayWaitMs: number;
  isOver(): boolean;
};

const tryAgainMs = 20;

/** Creates the sends of one batch. */
export function createBatchSends(options: Options): BatchSends {
  const { sends, use, dryRuns, clock, elapsed, caller, isDryRun, mayWaitMs, isOver } = options;

  /** Waits until the organization's rate allows the send. */
  async function admit(send: NewSend): Promise<TellStored> {
    for (const until = elapsed.now() + mayWaitMs; ; ) {
      try {
        return await use.admitSend(send);
      } catch (error) {
        const isEarly = error instanceof HeraldError && error.code === "rate_limited";
        if (!isEarly || isOver() || elapsed.now() > until) throw error;
        await Bun.sleep(tryAgainMs);
      }
    }
  }

  async function append<Send extends NewSend>(
    send: Send,
    toAnswer: (send: Send, stored: Awaited<ReturnType<typeof appendAdmitted>>) => Sent<object>,
  ): Promise<Begun | undefined> {
    const tell = await admit(send);
    if (!isOver()) return { outcome: appendAdmitted(sends, send, tell).then((stored) => toAnswer(send, stored)) };
    tell(false);
    return undefined;
  }

  return {
    async begin({ kind, request }) {
      if (kind === "message") {
        if (isDryRun) return { outcome: dryRuns.message(caller, request) };
        return await append(toMessageSend(caller, request, clock.now()), toMessageAnswer);
      }
      if (isDryRun) return { outcome: dryRuns.systemMessage(caller, request) };
      return await append(await toSystemSend(caller, request, clock.now()), toSystemAnswer);
    },
  };
}
