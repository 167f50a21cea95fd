import { nextTurn } from "./next-turn.ts";
import { beginSlice } from "./slice.ts";

const sortedAtOnce = 2_000; // by the runtime, which takes a fraction of a millisecond and cannot give way

/**
 * Sorts texts by UTF-16 units and removes duplicates, in slices of about a millisecond with a `turn` between them, by
 * default one of the event loop.
 */
export async function sortInTurns(texts: readonly string[], turn: () => Promise<void> = nextTurn): Promise<string[]> {
  let isOver = beginSlice();
  const giveWay = async () => {
    await turn();
    isOver = beginSlice();
  };

  async function merge(left: readonly string[], right: readonly string[]): Promise<string[]> {
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
      if (isOver()) await giveWay();
    }
    return merged;
  }

  let runs: string[][] = [];
  for (let from = 0; from < texts.length; from += sortedAtOnce) {
    if (from > 0 && isOver(sortedAtOnce)) await giveWay();
    const run = texts.slice(from, from + sortedAtOnce).sort();
    runs.push(run.filter((text, index) => text !== run[index - 1]));
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let index = 0; index < runs.length; index += 2)
      merged.push(await merge(runs[index] ?? [], runs[index + 1] ?? []));
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
