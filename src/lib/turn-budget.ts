import { createFairQueue } from "./fair-queue.ts";

/** Begins a bounded amount of work in each turn of the event loop, so that no crowd makes one long. */
export type TurnBudget = {
  /** Whether work of this weight may begin now, whoever wants it: then nothing has to be awaited. */
  takes(weight: number): boolean;
  /** Resolves in one of the next turns. Those who wait take turns by name: a crowd of one name holds up another by one. */
  wait(name: string, weight: number): Promise<void>;
};

type Waiting = { weight: number; begin(): void };

/** Lets work begin while less than `perTurn` has begun in a turn: so at least one piece, however heavy. Its callers bound how many wait. */
export function createTurnBudget(perTurn: number): TurnBudget {
  const waiting = createFairQueue<Waiting>();
  let spent = 0;
  let isTurnAwaited = false;

  function awaitTurn(): void {
    if (isTurnAwaited) return;
    isTurnAwaited = true;
    setImmediate(beginTurn);
  }

  function spend(weight: number): void {
    spent += weight;
    awaitTurn();
  }

  function beginTurn(): void {
    isTurnAwaited = false;
    spent = 0;
    while (spent < perTurn) {
      const next = waiting.take();
      if (next === undefined) return;
      spend(next.weight);
      next.begin();
    }
  }

  return {
    takes(weight) {
      if (waiting.size > 0 || spent >= perTurn) return false;
      spend(weight);
      return true;
    },
    wait: (name, weight) =>
      new Promise((begin) => {
        waiting.add(name, { weight, begin });
        awaitTurn();
      }),
  };
}
