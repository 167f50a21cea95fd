import type { SteadyClock } from "../time/clock.ts";

type Options = {
  /** Writes a line; `before` is how many like it were left out since the last one. */
  tell(facts: Record<string, unknown>, before: number): void;
  everyMs?: number;
  clock: SteadyClock;
};

const minuteMs = 60_000;
const mostKinds = 64;

/**
 * Creates a log of what callers may cause as often as they like: of each kind, one line a minute, which counts those left out.
 * Kinds beyond 64 within a minute share a line.
 */
export function createSparing({ tell, everyMs = minuteMs, clock }: Options) {
  const kinds = new Map<string, { toldAt: number; leftOut: number }>();

  /** Forgets kinds whose minute is over: callers can invent kinds, and must not take up all places for good. */
  function forgetOld(): void {
    for (const [kind, { toldAt }] of kinds) if (clock.now() - toldAt >= everyMs) kinds.delete(kind);
  }

  return (kind: string, facts: Record<string, unknown>): void => {
    if (kinds.size >= mostKinds && !kinds.has(kind)) forgetOld();
    const name = kinds.has(kind) || kinds.size < mostKinds ? kind : "";
    const known = kinds.get(name);
    if (known !== undefined && clock.now() - known.toldAt < everyMs) {
      known.leftOut++;
      return;
    }
    kinds.set(name, { toldAt: clock.now(), leftOut: 0 });
    tell(facts, known?.leftOut ?? 0);
  };
}
