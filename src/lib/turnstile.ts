/**
 * Lets a bounded number through in each turn of the event loop: a crowd makes no turn long. Those who wait take turns by name,
 * in the order in which names came: a crowd of one name holds up another name by one.
 */
export type Turnstile = {
  /** Resolves at once while this turn has room, else in one of the next. Whoever calls waits once at a time: nothing else bounds how many wait. */
  pass(name: string): Promise<void>;
};

/** A turnstile that lets `perTurn` through in a turn. */
export function createTurnstile(perTurn: number): Turnstile {
  const waiting = new Map<string, Set<() => void>>();
  let passed = 0;

  function letThrough(enter: () => void): void {
    if (passed === 0) setImmediate(beginTurn);
    passed++;
    enter();
  }

  function beginTurn(): void {
    passed = 0;
    // A name that is set again comes up again in this loop, after all others.
    for (const [name, crowd] of waiting) {
      if (passed === perTurn) return;
      waiting.delete(name);
      const [first] = crowd;
      if (first === undefined) continue;
      crowd.delete(first);
      if (crowd.size > 0) waiting.set(name, crowd);
      letThrough(first);
    }
  }

  return {
    pass: (name) =>
      new Promise((resolve) => {
        if (passed < perTurn) return letThrough(resolve);
        const crowd = waiting.get(name);
        if (crowd === undefined) waiting.set(name, new Set([resolve]));
        else crowd.add(resolve);
      }),
  };
}
