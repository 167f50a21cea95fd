import type { Clock } from "./clock.ts";

/** How much of something each name did lately. */
export type Meters = {
  note(name: string, amount?: number): void;
  /** How much it was in the last whole second. */
  of(name: string): number;
};

type Meter = { second: number; amount: number; before: number };

/** Meters of `maxNames` names at most: the one that rested longest is forgotten first. */
export function createMeters({ clock, maxNames = 10_000 }: { clock: Clock; maxNames?: number }): Meters {
  const meters = new Map<string, Meter>();

  function turn(meter: Meter): Meter {
    const second = Math.floor(clock.now() / 1000);
    if (meter.second === second) return meter;
    meter.before = meter.second === second - 1 ? meter.amount : 0;
    meter.second = second;
    meter.amount = 0;
    return meter;
  }

  return {
    note(name, amount = 1) {
      const meter = meters.get(name) ?? { second: 0, amount: 0, before: 0 };
      meters.delete(name); // so that the map is in the order of use
      meters.set(name, meter);
      const [first] = meters.keys();
      if (meters.size > maxNames && first !== undefined) meters.delete(first);
      turn(meter).amount += amount;
    },
    of(name) {
      const meter = meters.get(name);
      return meter === undefined ? 0 : turn(meter).before;
    },
  };
}
