/** What attackers heard, with the count of each kind: `HTTP 429`, `closed 4429`, `cut`, `answered`. */
export type Heard = Record<string, number>;

/** Counts what one process of attackers hears. */
export type Tally = { count(what: string, times?: number): void; heard(): Heard };

/** Creates an empty tally. */
export function createTally(): Tally {
  const heard: Heard = {};
  return {
    count(what, times = 1) {
      heard[what] = (heard[what] ?? 0) + times;
    },
    heard: () => heard,
  };
}

/**
 * Whether attackers were told to stop, or were stopped: 429, a close with 4429, or a connection ended by the server.
 */
export function wasTold(heard: Heard): boolean {
  return Object.entries(heard).some(([what, times]) => times > 0 && /429|^cut|^closed/.test(what));
}

/** Adds up the counts of several processes. */
export function addHeard(parts: readonly Heard[]): Heard {
  const tally = createTally();
  for (const [what, times] of parts.flatMap((part) => Object.entries(part))) tally.count(what, times);
  return tally.heard();
}
