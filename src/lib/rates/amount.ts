import { forgetOldest } from "../caches/forget-oldest.ts";
import type { Clock } from "../time/clock.ts";

/**
 * An amount that limits and measures add up: the same number, if it is finite. Throws otherwise, as one `NaN` in a sum would
 * lift its limit for good.
 */
export function amountOf(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new RangeError(`an amount must be a finite number, not ${value}`);
}

/** Measures recent amounts by name. */
export type Meters = {
  note(name: string, amount?: number): void;
  /** The amount in the last whole second. */
  of(name: string): number;
};

type Meter = { second: number; amount: number; before: number };

/** Creates meters for at most `maxNames` names; the oldest are forgotten first. */
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
      const more = amountOf(amount);
      let meter = meters.get(name);
      if (meter === undefined) {
        meter = { second: 0, amount: 0, before: 0 };
        meters.set(name, meter);
        forgetOldest(meters, maxNames);
      }
      turn(meter).amount += more;
    },
    of(name) {
      const meter = meters.get(name);
      return meter === undefined ? 0 : turn(meter).before;
    },
  };
}
