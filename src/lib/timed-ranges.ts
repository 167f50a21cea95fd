/** Numbers from `first` to `last`, and a time. Lists of them are in order, and none overlap. */
export type TimedRange = [first: number, last: number, at: number];

/** The time of a number; `undefined` if it is in no range. */
export function timeOf(ranges: readonly TimedRange[], number: number): number | undefined {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.[1] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  const found = ranges[low];
  return found !== undefined && found[0] <= number ? found[2] : undefined;
}

/** The ranges, and a time for the numbers from `first` to `last`; those that have one keep it. */
export function withRange(ranges: readonly TimedRange[], first: number, last: number, at: number): TimedRange[] {
  const result: TimedRange[] = [];
  let from = first;
  let isAdded = false;
  const add = (upTo: number) => {
    if (from <= upTo) push(result, [from, upTo, at]);
  };
  for (const range of ranges) {
    if (range[0] > last && !isAdded) {
      add(last);
      isAdded = true;
    }
    if (!isAdded && range[1] >= first) {
      add(range[0] - 1);
      from = Math.max(from, range[1] + 1);
    }
    push(result, range);
  }
  if (!isAdded) add(last);
  return result;
}

/** Joins a range to the one before it if nothing lies between them and both have one time. */
function push(ranges: TimedRange[], range: TimedRange): void {
  const before = ranges.at(-1);
  if (before !== undefined && before[1] + 1 === range[0] && before[2] === range[2]) before[1] = range[1];
  else ranges.push([...range]);
}

const mostExact = 1_000;

/** The ranges, with those before the last 1,000 joined where nothing lies between them, at the later time. */
export function compacted(ranges: readonly TimedRange[]): TimedRange[] {
  const result: TimedRange[] = [];
  for (const [index, range] of ranges.entries()) {
    const before = result.at(-1);
    if (before !== undefined && index < ranges.length - mostExact && before[1] + 1 === range[0]) {
      before[1] = range[1];
      before[2] = Math.max(before[2], range[2]);
    } else result.push([...range]);
  }
  return result;
}
