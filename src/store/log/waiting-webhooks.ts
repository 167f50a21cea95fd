import { forgetOldest } from "../../lib/caches/forget-oldest.ts";

/** Knows how many webhooks wait for the sends of organizations: each is one more row in the commit of a send. */
export type WaitingWebhooks = {
  /** How many waited for the organization's last send, as they will for its next. */
  of(org: string): number;
  /** Notes how many webhooks wait for a send that was stored. */
  note(org: string, count: number | undefined): void;
};

const mostKnown = 10_000;

/** Creates what a node knows of them. */
export function createWaitingWebhooks(): WaitingWebhooks {
  const counts = new Map<string, number>();
  return {
    of: (org) => counts.get(org) ?? 0,
    note(org, count = 0) {
      if (count === 0) counts.delete(org);
      else counts.set(org, count);
      forgetOldest(counts, mostKnown);
    },
  };
}
