import type { Clock } from "../lib/clock.ts";
import type { Line } from "./connection.ts";

/** What waits for lines that are slow to take it. Lines for which nothing waits cost nothing. */
export type Backlog = {
  /** Bytes wait for this line: each check looks at it until none do. */
  watch(line: Slow): void;
  /**
   * Bytes wait for at least one of these lines: a check looks at all of them, but not at those of one name more than once a second.
   * Another call with the same name replaces this one.
   */
  suspect(name: string, lines: () => Iterable<Slow>): void;
  /** The line is gone. */
  forget(line: Slow): void;
  /** Looks at the slow lines. Cuts those that are furthest behind until no more than the limit waits for all together. */
  check(): void;
  /** Bytes that waited at the last check; 0 when no line is slow any more. */
  readonly bytes: number;
};

type Slow = Pick<Line, "waitingBytes" | "cut">;

const lookAgainMs = 1_000;

/** An empty backlog. `maxBytes` may wait for all lines of the node together. */
export function createBacklog({ maxBytes, clock }: { maxBytes: number; clock: Clock }): Backlog {
  const slow = new Set<Slow>();
  const suspects = new Map<string, () => Iterable<Slow>>();
  const lookedAt = new Map<string, number>(); // the names of the last second
  let bytes = 0;

  /** Those who are found to be slow are known from then on, so who follows the same topic need not be looked at again at once. */
  function lookAtSuspects(): void {
    const now = clock.now();
    for (const [name, at] of lookedAt) if (now - at >= lookAgainMs) lookedAt.delete(name);
    for (const [name, lines] of suspects) {
      if (lookedAt.has(name)) continue;
      lookedAt.set(name, now);
      suspects.delete(name);
      for (const line of lines()) slow.add(line);
    }
  }

  function findSlow(): { line: Slow; waiting: number }[] {
    lookAtSuspects();
    const found: { line: Slow; waiting: number }[] = [];
    for (const line of slow) {
      const waiting = line.waitingBytes();
      if (waiting > 0) found.push({ line, waiting });
      else slow.delete(line);
    }
    return found;
  }

  return {
    watch: (line) => void slow.add(line),
    suspect: (name, lines) => void suspects.set(name, lines),
    forget: (line) => void slow.delete(line),
    check() {
      const found = findSlow();
      bytes = found.reduce((sum, { waiting }) => sum + waiting, 0);
      if (bytes <= maxBytes) return;
      for (const { line, waiting } of found.sort((left, right) => right.waiting - left.waiting)) {
        if (bytes <= maxBytes) return;
        line.cut();
        bytes -= waiting;
      }
    },
    get bytes() {
      return slow.size === 0 ? 0 : bytes;
    },
  };
}
