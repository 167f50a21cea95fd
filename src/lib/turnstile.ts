/** Lets a bounded number through in each turn of the event loop, in the order in which they came: a crowd makes no turn long. */
export type Turnstile = {
  /** Resolves at once while this turn has room, else in one of the next. */
  pass(): Promise<void>;
};

/** A turnstile that lets `perTurn` through in a turn. */
export function createTurnstile(perTurn: number): Turnstile {
  const waiting = new Set<() => void>();
  let passed = 0;

  function letThrough(enter: () => void): void {
    if (passed === 0) setImmediate(beginTurn);
    passed++;
    enter();
  }

  function beginTurn(): void {
    passed = 0;
    for (const enter of waiting) {
      if (passed === perTurn) return;
      waiting.delete(enter);
      letThrough(enter);
    }
  }

  return {
    pass: () =>
      new Promise((resolve) => {
        if (passed < perTurn) letThrough(resolve);
        else waiting.add(resolve);
      }),
  };
}
