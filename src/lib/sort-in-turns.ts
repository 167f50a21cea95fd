import { nextTurn } from "./next-turn.ts";

const textsPerTurn = 4_000;

/** Sorts texts by their UTF-16 units in time shares of about a millisecond, between which the event loop turns. */
export async function sortInTurns(texts: Iterable<string>): Promise<string[]> {
  let runs: string[][] = [[]];
  for (const text of texts) {
    if ((runs.at(-1)?.length ?? 0) >= textsPerTurn) runs.push([]);
    runs.at(-1)?.push(text);
  }
  for (const run of runs) {
    run.sort();
    await nextTurn();
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let index = 0; index < runs.length; index += 2)
      merged.push(await mergeInTurns(runs[index] ?? [], runs[index + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergeInTurns(left: string[], right: string[]): Promise<string[]> {
  const merged: string[] = [];
  let [fromLeft, fromRight] = [0, 0];
  while (fromLeft < left.length || fromRight < right.length) {
    const first = left[fromLeft];
    const second = right[fromRight];
    if (second === undefined || (first !== undefined && first <= second)) {
      merged.push(first ?? "");
      fromLeft++;
    } else {
      merged.push(second);
      fromRight++;
    }
    if (merged.length % textsPerTurn === 0) await nextTurn();
  }
  return merged;
}
