/** What attackers heard, each kind with its count: `HTTP 429`, `closed 4429`, `cut`, `answered`. */
export type Heard = Record<string, number>;

/** Counts what one process of attackers hears. */
export type Tally = { count(what: string, times?: number): void; heard(): Heard };

/** A tally with nothing in it. */
export function createTally(): Tally {
  const heard: Heard = {};
  return {
    count(what, times = 1) {
      heard[what] = (heard[what] ?? 0) + times;
    },
    heard: () => heard,
  };
}

/** Whether attackers were told to stop, or stopped: 429, a close with 4429, or a connection that the server ended. */
export function wasTold(heard: Heard): boolean {
  return Object.entries(heard).some(([what, times]) => times > 0 && /429|^cut|^closed/.test(what));
}

/** The counts of several processes together. */
export function addHeard(parts: readonly Heard[]): Heard {
  const tally = createTally();
  for (const [what, times] of parts.flatMap((part) => Object.entries(part))) tally.count(what, times);
  return tally.heard();
}
