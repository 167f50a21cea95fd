import type { ExportedStays, Range } from "../../store/transfer/ports.ts";

/** Which of a list a user has: those after an index, up to another one or to the end. */
export type InboxPart = { after: number | undefined; upTo: number | undefined };

/**
 * Which of the system messages at some offsets a user has, if not all of them. Of a user who is still there, the first part has no end,
 * and what is said of earlier ones comes after it.
 */
export function partsOf(offsets: readonly number[], { isThere, ranges }: Pick<ExportedStays, "isThere" | "ranges">) {
  const runs = runsIn(offsets, ranges);
  const last = runs.at(-1);
  const isOpen = isThere && last?.end === offsets.length;
  const closed = (isOpen ? runs.slice(0, -1) : runs).map(({ start, end }): InboxPart => {
    return { after: indexBefore(start), upTo: end - 1 };
  });
  if (!isThere) return closed;
  const after = indexBefore(isOpen && last !== undefined ? last.start : offsets.length);
  return after === undefined ? closed : [{ after, upTo: undefined }, ...closed];
}

function indexBefore(index: number): number | undefined {
  return index === 0 ? undefined : index - 1;
}

/** The runs of indexes whose offsets lie in one of the ranges, in order. */
function runsIn(offsets: readonly number[], ranges: readonly Range[]): { start: number; end: number }[] {
  const runs: { start: number; end: number }[] = [];
  for (const { after, upTo } of ranges.toSorted((one, other) => one.after - other.after)) {
    const [start, end] = [countUpTo(offsets, after), countUpTo(offsets, upTo)];
    const before = runs.at(-1);
    if (start >= end) continue;
    if (before !== undefined && before.end >= start) before.end = Math.max(before.end, end);
    else runs.push({ start, end });
  }
  return runs;
}

/** How many of the numbers, which are in order, are at most `most`. */
function countUpTo(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}
