import type { Owner } from "../../lib/owner.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { Line } from "../connections/connection.ts";

/** What is held for lines that are slow to take it. Lines for which nothing is held cost nothing. */
export type Backlog = {
  /** Bytes wait for this line: each check looks at it until none do. */
  watch(line: Slow): void;
  /**
   * Bytes wait for at least one of these lines, to which `bytes` more were published. A check looks at all lines of one name again
   * after a second, or after so many bytes that a line could have come a quarter of the way to its limit. The lines of the last
   * call are looked at.
   */
  suspect(name: string, bytes: number, lines: () => Iterable<Slow>): void;
  /**
   * Counts bytes that are held for a line beside what waits for its socket, such as a page that is being read for it, until the
   * function that this returns is called. May cut lines, this one too.
   */
  hold(line: Slow, bytes: number): () => void;
  /** The line is gone. */
  forget(line: Pick<Slow, "owner">): void;
  /**
   * Looks at the slow lines, but ten times a second at most unless much came in between. Cuts those of which nothing was taken for
   * too long, and those that are the most behind of an organization until no more than its limit is held for it; then, until no
   * more than the node's limit is held, the most behind of the organization for which most is held.
   */
  check(): void;
  /** Bytes that were held at the last check; 0 when no line is slow any more. */
  readonly bytes: number;
};

type Slow = Pick<Line, "owner" | "org" | "waitingBytes" | "takings" | "cut">;

/** What was published since its lines were looked at; without `lines` nothing was. */
type Suspicion = { lines: (() => Iterable<Slow>) | undefined; bytes: number; lookedAt: number };

/** A slow line: what is held beside what waits, and since when its socket has taken nothing. */
type Entry = { line: Slow; heldBytes: number; bytes: number; takings: number; takenAt: number };
type Account = { entries: Entry[]; bytes: number };

type Options = {
  /** What may be held for all lines of the node together, for those of an organization, and for one. */
  maxBytes: number;
  maxOrganizationBytes: number;
  maxLineBytes: number;
  /** For how long a line for which bytes wait may take none of them. */
  maxStallMs: number;
  /** A clock that only goes forward. */
  clock: Clock;
};

const checkMs = 100;
const lookAgainMs = 1_000;
const mostBetweenChecks = 1024 * 1024;
const unknown = ""; // the account of lines that have not said for whom they are

/** An empty backlog. */
export function createBacklog(options: Options): Backlog {
  const { maxBytes, maxOrganizationBytes, maxLineBytes, maxStallMs, clock } = options;
  const lookAgainBytes = maxLineBytes / 4;
  const slow = new Map<Owner, Entry>();
  const suspicions = new Map<string, Suspicion>(); // of the last second
  let bytes = 0;
  let heldSince = 0; // what was held since the last check
  let checkedAt = Number.NEGATIVE_INFINITY;
  let isUrgent = false;

  function entryOf(line: Slow): Entry {
    const known = slow.get(line.owner);
    if (known !== undefined) return known;
    const entry = { line, heldBytes: 0, bytes: 0, takings: line.takings, takenAt: clock.now() };
    if (!line.owner.isClosed) slow.set(line.owner, entry);
    return entry;
  }

  /** Those who are found to be slow are known from then on, so who follows the same topic need not be looked at again at once. */
  function lookAtSuspects(now: number): void {
    for (const [name, suspicion] of suspicions) {
      const { lines, lookedAt } = suspicion;
      const isRecent = now - lookedAt < lookAgainMs;
      if (lines === undefined && !isRecent) suspicions.delete(name);
      if (lines === undefined || (isRecent && suspicion.bytes < lookAgainBytes)) continue;
      for (const line of lines()) entryOf(line);
      suspicions.set(name, { lines: undefined, bytes: 0, lookedAt: now });
    }
  }

  /** Looks at a line. False when nothing is held for it any more. */
  function look(entry: Entry, now: number): boolean {
    const { line, heldBytes } = entry;
    const waiting = line.waitingBytes();
    if (waiting === 0 || line.takings !== entry.takings) entry.takenAt = now;
    entry.takings = line.takings;
    entry.bytes = waiting + heldBytes;
    return entry.bytes > 0;
  }

  /** What is held, by organization, without the lines that are cut for what is held for them alone. */
  function findAccounts(now: number): Map<string, Account> {
    const accounts = new Map<string, Account>();
    for (const [owner, entry] of slow) {
      if (!look(entry, now)) {
        slow.delete(owner);
      } else if (entry.bytes > maxLineBytes || now - entry.takenAt > maxStallMs) {
        entry.line.cut();
      } else {
        const org = entry.line.org ?? unknown;
        const account = accounts.get(org) ?? { entries: [], bytes: 0 };
        accounts.set(org, account);
        account.entries.push(entry);
        account.bytes += entry.bytes;
      }
    }
    return accounts;
  }

  /** Cuts the most behind; false when there is nobody. `entries` are in the order of what is held for them, the most last. */
  function cutOne(account: Account): boolean {
    const entry = account.entries.pop();
    if (entry === undefined) return false;
    account.bytes -= entry.bytes;
    bytes -= entry.bytes;
    entry.line.cut();
    return true;
  }

  function check(): void {
    const now = clock.now();
    if (!isUrgent && now - checkedAt < checkMs) return;
    checkedAt = now;
    isUrgent = false;
    heldSince = 0;
    lookAtSuspects(now);
    const accounts = [...findAccounts(now).values()];
    bytes = accounts.reduce((sum, account) => sum + account.bytes, 0);
    for (const account of accounts) {
      if (bytes <= maxBytes && account.bytes <= maxOrganizationBytes) continue;
      account.entries.sort((left, right) => left.bytes - right.bytes);
      while (account.bytes > maxOrganizationBytes && cutOne(account));
    }
    while (bytes > maxBytes && cutOne(mostHeld(accounts)));
  }

  return {
    watch: (line) => void entryOf(line),
    suspect(name, published, lines) {
      const { bytes: before, lookedAt } = suspicions.get(name) ?? { bytes: 0, lookedAt: Number.NEGATIVE_INFINITY };
      suspicions.set(name, { lines, bytes: before + published, lookedAt });
      isUrgent ||= before + published >= lookAgainBytes;
    },
    hold(line, more) {
      const entry = entryOf(line);
      entry.heldBytes += more;
      heldSince += more;
      if (heldSince >= mostBetweenChecks) {
        isUrgent = true;
        check();
      }
      let isHeld = true;
      return () => {
        if (isHeld) entry.heldBytes -= more;
        isHeld = false;
      };
    },
    forget: ({ owner }) => void slow.delete(owner),
    check,
    get bytes() {
      return slow.size === 0 ? 0 : bytes;
    },
  };
}

function mostHeld(accounts: Account[]): Account {
  return accounts.reduce((most, account) => (account.bytes > most.bytes ? account : most), { entries: [], bytes: 0 });
}
