import { forgetOldest } from "../../lib/caches/forget-oldest.ts";
import { createTurnstile } from "../../lib/event-loop/turnstile.ts";
import { createSharing } from "../../lib/queues/sharing.ts";

/** Paces the rows of webhooks: each webhook that waits for a send is one more row in its commit. */
export type WebhookPace = {
  /** How many webhooks waited for the organization's last send, as they will for its next. */
  of(org: string): number;
  /** Notes how many webhooks wait for a send that was stored. */
  note(org: string, count: number | undefined): void;
  /** What a send has to wait for before it is stored, if anything. Those of one organization go in order. */
  turnOf(org: string): Promise<void> | undefined;
};

const mostKnown = 10_000;
// 5,000 rows a second leave the disk time for others.
const rows = { perTurn: 50, turnMs: 10 };

/** Creates the pace of a node. An organization that is alone on it, or has no webhooks, waits for nothing. */
export function createWebhookPace(now?: () => number): WebhookPace {
  const counts = new Map<string, number>();
  const waiting = new Map<string, number>();
  const { note, isShared } = createSharing(now);
  const exit = createTurnstile(rows.perTurn, { turnMs: rows.turnMs });
  const countOf = (org: string) => counts.get(org) ?? 0;

  async function passExit(org: string): Promise<void> {
    waiting.set(org, (waiting.get(org) ?? 0) + 1);
    await exit.pass(org, { weight: countOf(org) });
    const left = (waiting.get(org) ?? 1) - 1;
    if (left === 0) waiting.delete(org);
    else waiting.set(org, left);
  }

  return {
    of: countOf,
    note(org, count = 0) {
      if (count === 0) counts.delete(org);
      else counts.set(org, count);
      forgetOldest(counts, mostKnown);
    },
    turnOf(org) {
      note(org);
      const isFree = countOf(org) === 0 || !isShared();
      return isFree && !waiting.has(org) ? undefined : passExit(org);
    },
  };
}
