import { forgetOldest } from "../../lib/caches/forget-oldest.ts";
import type { Clock } from "../../lib/time/clock.ts";

const triesBeforeLast = 9;
const suspectForMs = 60_000;
const maxOrganizations = 1_000;

/**
 * How the first row of an organization is tried: `alone` after it failed for an unforeseen reason; `last` once that has been so
 * for a minute.
 */
export type Trial = "usual" | "alone" | "last";

/** First rows of organizations that failed for reasons that nobody foresaw. */
export type Suspects = {
  trialOf(org: string, rowId: string): Trial;
  note(org: string, rowId: string): void;
  clear(org: string): void;
};

/** Creates the list of suspects of a node; `elapsed` never goes back. */
export function createSuspects(elapsed: Clock): Suspects {
  const suspects = new Map<string, { rowId: string; tries: number; since: number }>();
  const find = (org: string, rowId: string) => {
    const suspect = suspects.get(org);
    return suspect?.rowId === rowId ? suspect : undefined;
  };

  return {
    trialOf(org, rowId) {
      const suspect = find(org, rowId);
      if (suspect === undefined) return "usual";
      const isLast = suspect.tries >= triesBeforeLast && elapsed.now() - suspect.since >= suspectForMs;
      return isLast ? "last" : "alone";
    },
    note(org, rowId) {
      const suspect = find(org, rowId) ?? { rowId, tries: 0, since: elapsed.now() };
      suspects.set(org, { ...suspect, tries: suspect.tries + 1 });
      forgetOldest(suspects, maxOrganizations);
    },
    clear: (org) => void suspects.delete(org),
  };
}
