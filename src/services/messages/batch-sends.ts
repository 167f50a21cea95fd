import type { SteadyClock } from "../../lib/time/clock.ts";
import type { NewSend } from "../../store/ports.ts";
import { boundTo, type Caller, permitScope } from "../keys/permissions.ts";
import { onceAllowed } from "../limits/once-allowed.ts";
import type { BatchLine } from "./batch-lines.ts";
import type { DryRuns } from "./dry-runs.ts";
import {
  type Sending,
  type Sent,
  type Stored,
  tellAppended,
  toMessageAnswer,
  toMessageSend,
  toSystemAnswer,
  toSystemSend,
} from "./messages.ts";

/** A send that has its place in the log's order; the outcome comes later. */
export type Begun = { outcome: Promise<Sent<object>> };

/** Where a batch sends, or only tries to. */
export type BatchTarget = Sending & {
  dryRuns: Pick<DryRuns, "message" | "systemMessage">;
  elapsed: SteadyClock;
};

type Options = BatchTarget & {
  caller: Caller;
  isDryRun: boolean;
  /** How long a send may wait for the rate of its organization. */
  mayWaitMs: number;
  isOver(): boolean;
};

/** Creates what hands over the lines of one batch to the log. */
export function createBatchSends(options: Options) {
  const { sends, use, dryRuns, clock, elapsed, caller, isDryRun, mayWaitMs, isOver } = options;

  let endSleep: () => void = () => undefined;
  const limited = { withinMs: mayWaitMs, elapsed, isOver, sleep };

  /** Sleeps until a send of this batch is refunded, as it is a replay, or for so long. One line at a time waits. */
  function sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      endSleep = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function append<Send extends NewSend>(
    send: Send,
    toAnswer: (send: Send, stored: Stored) => Sent<object>,
  ): Promise<Begun | undefined> {
    const tell = await onceAllowed(() => use.admitSend(send), limited);
    if (isOver()) {
      tell(false);
      return undefined;
    }
    const told = (isStored: boolean) => {
      tell(isStored);
      if (!isStored) endSleep();
    };
    return { outcome: tellAppended(sends.append(send), send, told).then((stored) => toAnswer(send, stored)) };
  }

  return {
    /**
     * Resolves once the send has its place in the order of sends, so that the next line comes after it; `undefined` if
     * the batch is over by then. Rejects with what the key or the limits of the organization refuse.
     */
    async begin({ kind, request }: BatchLine): Promise<Begun | undefined> {
      const by = boundTo(caller, request.organizationId);
      if (by !== caller) permitScope(by, kind === "message" ? "message:send" : "system:send");
      if (kind === "message") {
        if (isDryRun) return { outcome: dryRuns.message(by, request) };
        return await append(toMessageSend(by, request, clock.now()), toMessageAnswer);
      }
      if (isDryRun) return { outcome: dryRuns.systemMessage(by, request) };
      return await append(await toSystemSend(by, request, clock.now()), toSystemAnswer);
    },
  };
}
