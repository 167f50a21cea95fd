import type { Clock } from "../lib/clock.ts";
import type { Line } from "./connection.ts";

/** What waits for lines that are slow to take it. Lines for which nothing waits cost nothing. */
export type Backlog = {
  /** Bytes wait for this line: each check looks at it until none do. */
  watch(line: Slow): void;
  /**
   * Bytes wait for at least one of these lines, to which `bytes` more were published. A check looks at all lines of one name again
   * after a second, or after so many bytes that a line could have come a quarter of the way to its limit. The lines of the last
   * call are looked at.
   */
  suspect(name: string, bytes: number, lines: () => Iterable<Slow>): void;
  /** The line is gone. */
  forget(line: Slow): void;
  /**
   * Looks at the slow lines, but ten times a second at most unless much was published to them. Cuts those that are furthest behind
   * until no more than the limit waits for all together.
   */
  check(): void;
  /** Bytes that waited at the last check; 0 when no line is slow any more. */
  readonly bytes: number;
};

type Slow = Pick<Line, "waitingBytes" | "cut">;

/** What was published since its lines were looked at; without `lines` nothing was. */
type Suspicion = { lines: (() => Iterable<Slow>) | undefined; bytes: number; lookedAt: number };

type Options = {
  /** What may wait for all lines of the node together, and for one. */
  maxBytes: number;
  maxLineBytes: number;
  /** A clock that only goes forward. */
  clock: Clock;
};

const checkMs = 100;
const lookAgainMs = 1_000;

/** An empty backlog. */
export function createBacklog({ maxBytes, maxLineBytes, clock }: Options): Backlog {
  const lookAgainBytes = maxLineBytes / 4;
  const slow = new Set<Slow>();
  const suspicions = new Map<string, Suspicion>(); // of the last second
  let bytes = 0;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let isUrgent = false;

  /** Those who are found to be slow are known from then on, so who follows the same topic need not be looked at again at once. */
  function lookAtSuspects(now: number): void {
    for (const [name, suspicion] of suspicions) {
      const { lines, lookedAt } = suspicion;
      const isRecent = now - lookedAt < lookAgainMs;
      if (lines === undefined && !isRecent) suspicions.delete(name);
      if (lines === undefined || (isRecent && suspicion.bytes < lookAgainBytes)) continue;
      for (const line of lines()) slow.add(line);
      suspicions.set(name, { lines: undefined, bytes: 0, lookedAt: now });
    }
  }

  function findSlow(): { line: Slow; waiting: number }[] {
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
    suspect(name, published, lines) {
      const { bytes: before, lookedAt } = suspicions.get(name) ?? { bytes: 0, lookedAt: Number.NEGATIVE_INFINITY };
      suspicions.set(name, { lines, bytes: before + published, lookedAt });
      isUrgent ||= before + published >= lookAgainBytes;
    },
    forget: (line) => void slow.delete(line),
    check() {
      const now = clock.now();
      if (!isUrgent && now - checkedAt < checkMs) return;
      checkedAt = now;
      isUrgent = false;
      lookAtSuspects(now);
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
