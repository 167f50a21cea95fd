import { unavailable } from "../../contract/errors/errors.ts";
import type { CommitMark, LogEvent } from "../../contract/log/log-event.ts";
import { forgetOldest } from "../../lib/caches/forget-oldest.ts";
import { createBatcher, type Overlap } from "../../lib/queues/batcher.ts";
import type { BatchLog, NewSend, PendingSends, SendLog, SendOutcome } from "../ports.ts";

/**
 * The most that one commit takes: the answers of so many sends take the serving thread some 3 ms, and nobody else gets a turn
 * meanwhile. In characters, since payloads are almost all ASCII, and a character takes two bytes of memory at most.
 */
export const mostOfCommit = { sends: 128, characters: 256 * 1024 };
const maxWaiting = 20_000;
const maxWeight = { maxBatch: mostOfCommit.characters, maxWaiting: 64 * 1024 * 1024 };
const uidWeight = 64;
// Each webhook that waits for a send is one row more in its commit, which takes as long as these characters.
const webhookWeight = 512;
const mostOrganizations = 10_000;
const longestHoldMs = 2;

type Options = {
  log: BatchLog;
  /** Called after each commit with its events, in offset order. Must not throw. */
  announce(events: LogEvent[]): void;
  observer?: CommitObserver | undefined;
  batchSize?: number;
  overlap?: Overlap | undefined;
};

/** Observes commits of sends. */
export type CommitObserver = {
  /** Called when a send begins to wait for its commit. */
  onAppend?: ((send: NewSend) => void) | undefined;
  /**
   * Called after a commit, which cannot be undone: must not throw. Returns the function that gives the mark to publish
   * with each stored send.
   */
  onCommit(sends: NewSend[], tookMs: number): (send: NewSend) => CommitMark | undefined;
  /** Called when a commit failed, or a send in it that was tried alone. Must not throw. */
  onFailure?(error: unknown): void;
};

/**
 * Creates a send log with group commit: the sends of one turn of the event loop, and those that arrive during a commit,
 * share one. If another commit is about to end, events wait for it, at most 2 ms, to be announced together.
 */
export function createSendLog({
  log,
  announce,
  observer,
  batchSize = mostOfCommit.sends,
  overlap,
}: Options): SendLog & PendingSends {
  const webhooksOf = new Map<string, number>(); // that waited for the organization's last send, as they will for its next

  function noteWebhooks(org: string, count = 0): void {
    if (count === 0) return void webhooksOf.delete(org);
    webhooksOf.set(org, count);
    forgetOldest(webhooksOf, mostOrganizations);
  }

  const batcher = createBatcher<NewSend, SendOutcome>({
    async flush(sends) {
      const startedAt = performance.now();
      const outcomes = await log.appendAll(sends).catch((error: unknown) => {
        observer?.onFailure?.(error);
        throw error;
      });
      const markOf = observer?.onCommit(sends, performance.now() - startedAt);
      const events: LogEvent[] = [];
      for (const [index, send] of sends.entries()) {
        const outcome = outcomes[index];
        if (outcome?.outcome === "failed") observer?.onFailure?.(outcome.error);
        if (outcome?.outcome !== "stored") continue;
        noteWebhooks(send.org, outcome.webhooks);
        events.push(toLogEvent(send, outcome, markOf?.(send)));
      }
      coalesce(events);
      return outcomes;
    },
    maxBatch: batchSize,
    maxWaiting,
    weights: { ...maxWeight, of: (send) => weightOf(send) + (webhooksOf.get(send.org) ?? 0) * webhookWeight },
    keyOf: ({ org }) => org,
    overlap,
    whenFull: () => unavailable({ detail: "too many sends are waiting for the database; retry with the same id" }),
  });
  const coalesce = createCoalescer({ isBusy: batcher.hasMore, announce });
  return {
    append(send) {
      observer?.onAppend?.(send);
      return batcher.add(send);
    },
    appendTogether(sends) {
      for (const send of sends) observer?.onAppend?.(send);
      return batcher.addTogether(sends);
    },
    oldestPending() {
      let oldest: number | undefined;
      for (const { createdAt } of batcher.pending()) oldest = Math.min(oldest ?? createdAt, createdAt);
      return oldest;
    },
  };
}

/** The part of a stored event that is published, without what only the store needs. */
export function toLogEvent(
  { org, kind, id, cid, payload, uids, expiresAt, isOpen, completes }: Omit<LogEvent, "offset" | "prev" | "committed">,
  { offset, prev }: Pick<LogEvent, "offset" | "prev">,
  committed?: CommitMark,
): LogEvent {
  const event = { org, offset, kind, id, cid, payload, uids, expiresAt, prev, committed };
  return isOpen === undefined && completes === undefined ? event : { ...event, isOpen, completes };
}

function weightOf({ payload, uids }: NewSend): number {
  return payload.length + (uids === undefined ? 0 : uids.length * uidWeight);
}

type CoalescerOptions = {
  /** Whether more events are about to come. */
  isBusy(): boolean;
  announce(events: LogEvent[]): void;
};

/**
 * Creates a function that announces events in groups: at once if no more are about to come, otherwise with the next
 * ones, at most 2 ms later. Events announced in one turn of the event loop cost each socket a single write, so waiting
 * pays under load.
 */
export function createCoalescer({ isBusy, announce }: CoalescerOptions): (events: LogEvent[]) => void {
  let held: LogEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function release(): void {
    clearTimeout(timer);
    timer = undefined;
    if (held.length === 0) return;
    const events = held;
    held = [];
    announce(events);
  }

  return (events) => {
    held.push(...events);
    if (isBusy()) timer ??= setTimeout(release, longestHoldMs);
    else release();
  };
}
