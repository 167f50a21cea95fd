import { nextTurn } from "./next-turn.ts";

const sortedPerTurn = 2_000;
const mergedPerTurn = 8_000;

/**
 * Sorts texts by UTF-16 units and removes duplicates, in slices of about a millisecond with a `turn` between them, by
 * default one of the event loop. Up to 2,000 are sorted in one slice.
 */
export async function sortInTurns(texts: readonly string[], turn: () => Promise<void> = nextTurn): Promise<string[]> {
  let runs: string[][] = [];
  for (let from = 0; from < texts.length; from += sortedPerTurn) {
    if (from > 0) await turn();
    const run = texts.slice(from, from + sortedPerTurn).sort();
    runs.push(run.filter((text, index) => text !== run[index - 1]));
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let index = 0; index < runs.length; index += 2)
      merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? [], turn));
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Whether a text is in a list sorted by `sortInTurns`. */
export function isAmongSorted(sorted: readonly string[], text: string): boolean {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sorted[middle] ?? "") < text) from = middle + 1;
    else to = middle;
  }
  return sorted[from] === text;
}

async function merge(left: string[], right: string[], turn: () => Promise<void>): Promise<string[]> {
  const merged: string[] = [];
  let [fromLeft, fromRight] = [0, 0];
  while (fromLeft < left.length || fromRight < right.length) {
    const first = left[fromLeft];
    const second = right[fromRight];
    if (first === second) {
      fromRight++; // equal on both sides: the left one is taken next
      continue;
    }
    if (second === undefined || (first !== undefined && first < second)) {
      merged.push(first ?? "");
      fromLeft++;
    } else {
      merged.push(second);
      fromRight++;
    }
    if (merged.length % mergedPerTurn === 0) await turn();
  }
  return merged;
}
