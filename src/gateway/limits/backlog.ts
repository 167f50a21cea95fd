import type { Owner } from "../../lib/owner.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import type { Line } from "../connections/connection.ts";

type Slow = Pick<Line, "owner" | "org" | "waitingBytes" | "takings" | "cut" | "withdraw">;

/** What was published since the lines were last looked at; `lines` is `undefined` if nothing was. */
type Suspicion = { lines: (() => Iterable<Slow>) | undefined; bytes: number; lookedAt: number };

/** A slow line: the bytes held besides those waiting, and since when its socket has taken nothing. */
type Entry = { line: Slow; heldBytes: number; bytes: number; takings: number; takenAt: number };
type Account = { entries: Entry[]; bytes: number };

type Options = {
  /** Limits on the bytes held for all lines of the node, for those of one organization, and for one line. */
  maxBytes: number;
  maxOrganizationBytes: number;
  maxLineBytes: number;
  /** How long a line with waiting bytes may go without taking any. */
  maxStallMs: number;
  clock: SteadyClock;
};

const checkMs = 100;
const lookAgainMs = 1_000;
const mostBetweenChecks = 1024 * 1024;
const unknown = ""; // the account of lines whose organization is not known yet

/** Creates an empty backlog. */
export function createBacklog(options: Options) {
  const { maxBytes, maxOrganizationBytes, maxLineBytes, maxStallMs, clock } = options;
  const lookAgainBytes = maxLineBytes / 4;
  const slow = new Map<Owner, Entry>();
  const suspicions = new Map<string, Suspicion>(); // published to in the last second
  let bytes = 0;
  let heldSince = 0; // bytes held since the last check
  let checkedAt = Number.NEGATIVE_INFINITY;
  let isUrgent = false;

  function entryOf(line: Slow): Entry {
    const known = slow.get(line.owner);
    if (known !== undefined) return known;
    const entry = { line, heldBytes: 0, bytes: 0, takings: line.takings, takenAt: clock.now() };
    if (!line.owner.isClosed) slow.set(line.owner, entry);
    return entry;
  }

  /** Lines found slow are tracked from then on, so the others of the same topic need not be looked at again soon. */
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

  /** Updates an entry. False if nothing is held for its line any more. */
  function look(entry: Entry, now: number): boolean {
    const { line, heldBytes } = entry;
    const waiting = line.waitingBytes();
    if (waiting === 0 || line.takings !== entry.takings) entry.takenAt = now;
    entry.takings = line.takings;
    entry.bytes = waiting + heldBytes;
    return entry.bytes > 0;
  }

  /** The bytes held per organization, after cutting lines that exceed a limit of their own. */
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

  /** Cuts the line furthest behind; false if there is none. `entries` are sorted by bytes held, ascending. */
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
    /** Marks a line with waiting bytes: each check looks at it until none are left. */
    watch: (line: Slow): void => void entryOf(line),
    /**
     * Notes that at least one of these lines has waiting bytes, after `bytes` more were published to them. Lines of one
     * name are checked again after a second, or once enough bytes were published to bring a line a quarter of the way to
     * its limit. Only the `lines` of the last call are checked.
     */
    suspect(name: string, published: number, lines: () => Iterable<Slow>): void {
      const { bytes: before, lookedAt } = suspicions.get(name) ?? { bytes: 0, lookedAt: Number.NEGATIVE_INFINITY };
      suspicions.set(name, { lines, bytes: before + published, lookedAt });
      isUrgent ||= before + published >= lookAgainBytes;
    },
    /**
     * Counts bytes held for a line besides those waiting for its socket, such as a page being read, until the returned
     * function is called. May cut lines, including this one.
     */
    hold(line: Slow, more: number): () => void {
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
    /** Drops those of the named texts that wait for slow lines of the organization, where the transport can. */
    withdraw(org: string, texts: ReadonlySet<string>): void {
      for (const { line } of slow.values()) if (line.org === org) line.withdraw?.(texts);
    },
    /** Forgets a line that is gone. */
    forget: ({ owner }: Pick<Slow, "owner">): void => void slow.delete(owner),
    /**
     * Looks at the slow lines, at most ten times a second unless much was added since. Cuts lines that are over their own
     * limit or have taken nothing for too long; then the furthest behind of each organization that is over its limit;
     * then, until the node is within its limit, the furthest behind of the organization that holds most.
     */
    check,
    /** Bytes held at the last check; 0 when no line is slow. */
    get bytes(): number {
      return slow.size === 0 ? 0 : bytes;
    },
  };
}

/**
 * Accounts for bytes held for slow lines, and cuts the lines that fall too far behind. A line without waiting bytes
 * costs nothing.
 */
export type Backlog = ReturnType<typeof createBacklog>;

function mostHeld(accounts: Account[]): Account {
  return accounts.reduce((most, account) => (account.bytes > most.bytes ? account : most), { entries: [], bytes: 0 });
}
