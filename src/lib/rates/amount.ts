/**
 * An amount that limits and measures add up: the same number, if it is finite. Throws otherwise, as one `NaN` in a sum would
 * lift its limit for good.
 */
export function amountOf(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new RangeError(`an amount must be a finite number, not ${value}`);
}
