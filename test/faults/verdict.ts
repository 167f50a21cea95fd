import type { Ledger } from "../harness/resilient-client.ts";

/** What was wrong with what connections heard. All zero is what Herald promises. */
export type Verdict = {
  /** Messages that a connection should have heard and did not. */
  lost: number;
  /** Messages that one connection heard more than once. */
  doubled: number;
  /** Messages that came after one that follows them in the store. */
  misordered: number;
  /** Messages that were heard and are not stored. */
  unstored: number;
  /** Times that the server said `recovered: false`. */
  gapsAdmitted: number;
};

export const flawless: Verdict = { lost: 0, doubled: 0, misordered: 0, unstored: 0, gapsAdmitted: 0 };

/** The sums of two verdicts. */
export function add(left: Verdict, right: Verdict): Verdict {
  return {
    lost: left.lost + right.lost,
    doubled: left.doubled + right.doubled,
    misordered: left.misordered + right.misordered,
    unstored: left.unstored + right.unstored,
    gapsAdmitted: left.gapsAdmitted + right.gapsAdmitted,
  };
}

/**
 * Compares what one client heard, connection after connection, with the order of the store: each connection must have heard
 * a run of it without a hole, and each run must begin no later than where the one before it ended. `reachesEnd`: the last
 * run must go to the end of the store.
 */
export function judge(
  { perConnection, gapsAdmitted }: Pick<Ledger, "perConnection" | "gapsAdmitted">,
  positions: ReadonlyMap<string, number>,
  reachesEnd: boolean,
): Verdict {
  const verdict = { ...flawless, gapsAdmitted };
  let heardUpTo: number | undefined; // over all connections
  for (const heard of perConnection) {
    const onThisConnection = new Set<string>();
    let last = heardUpTo;
    for (const id of heard) {
      const position = positions.get(id);
      if (position === undefined) verdict.unstored += 1;
      else if (onThisConnection.has(id)) verdict.doubled += 1;
      else if (last !== undefined && onThisConnection.size > 0 && position < last) verdict.misordered += 1;
      else {
        if (last !== undefined && position > last + 1) verdict.lost += position - last - 1;
        last = position;
      }
      onThisConnection.add(id);
    }
    if (last !== undefined) heardUpTo = Math.max(last, heardUpTo ?? last);
  }
  if (reachesEnd) verdict.lost += positions.size - 1 - (heardUpTo ?? -1);
  return verdict;
}
