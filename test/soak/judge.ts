import { createChronicle, judge } from "../faults/judging/verdict.ts";
import type { Ledger, Shown } from "./recorder.ts";

/** A message as the database has it, in the order of the log. `text` is `undefined` if it was taken back. */
export type StoredMessage = { id: string; cid: string; text: string | undefined };

/** Everyone has heard this, so that a first message that is missed is found, too. */
const beginning = "the beginning";

/** Everything that is wrong with what clients heard, and the sums. */
export type Account = {
  faults: string[];
  missed: number;
  doubled: number;
  misordered: number;
  unstored: number;
  gaps: number;
  differences: number;
};

type Case = {
  stored: readonly StoredMessage[];
  ledgers: readonly Ledger[];
  /** The conversations of a user. */
  roomsOf: (uid: string) => ReadonlySet<string>;
};

/**
 * Compares each client with the database: it was given every message of its conversations once and in order, except that a message
 * that was taken back while it was away never comes; and it shows the texts that the database has, no more and no less. Its views show the
 * last of them, in the order of the log.
 */
export function judgeLedgers({ stored, ledgers, roomsOf }: Case): Account {
  const account: Account = { faults: [], missed: 0, doubled: 0, misordered: 0, unstored: 0, gaps: 0, differences: 0 };
  for (const ledger of ledgers) {
    const rooms = roomsOf(ledger.uid);
    const own = stored.filter(({ cid }) => rooms.has(cid));
    const kept = own.filter(({ text }) => text !== undefined);
    const keptIds = new Set(kept.map(({ id }) => id));
    const { doubled, misordered, unstored } = verdictOn(ledger.messages, own);
    const { lost: missed } = verdictOn(
      ledger.messages.filter((id) => keptIds.has(id)),
      kept,
    );
    const { gaps, refusal } = ledger;
    const differences =
      countDifferences(new Map(ledger.shown), kept) +
      ledger.views.reduce((sum, [cid, view]) => sum + countViewDifferences(view, kept, cid), 0);
    const figures = { missed, doubled, misordered, unstored, gaps, differences };
    for (const [name, count] of Object.entries(figures))
      if (count > 0) account.faults.push(`${ledger.uid}: ${count} ${name}`);
    if (ledger.transport !== "sse" && ledger.views.length !== rooms.size)
      account.faults.push(`${ledger.uid} has ${ledger.views.length} views of ${rooms.size} conversations`);
    for (const count of ledger.wrongCounts) account.faults.push(`${ledger.uid} counts as unread in ${count}`);
    if (refusal !== undefined) account.faults.push(`${ledger.uid} was refused: ${refusal}`);
    account.missed += missed;
    account.doubled += doubled;
    account.misordered += misordered;
    account.unstored += unstored;
    account.gaps += gaps;
    account.differences += differences;
  }
  return account;
}

function verdictOn(ids: string[], messages: readonly StoredMessage[]) {
  const run = {
    ids: [beginning, ...ids],
    since: undefined,
    joinedAt: undefined,
    recovered: undefined,
    paged: [],
    closeCode: undefined,
  };
  return judge([run], createChronicle([beginning, ...messages.map(({ id }) => id)]), true);
}

function countDifferences(shown: ReadonlyMap<string, string>, kept: readonly StoredMessage[]): number {
  const same = kept.filter(({ id, text }) => shown.get(id) === text).length;
  return kept.length - same + (shown.size - same);
}

/** A view begins with the last messages when it is created, and keeps as many as it may. */
const leastShown = 50;

function countViewDifferences(view: Shown, kept: readonly StoredMessage[], room: string): number {
  const own = kept.filter(({ cid }) => cid === room);
  const last = own.slice(Math.max(0, own.length - view.length));
  const wrong = last.filter(({ id, text }, index) => view[index]?.[0] !== id || view[index]?.[1] !== text);
  return (
    wrong.length + Math.max(0, Math.min(own.length, leastShown) - view.length) + Math.max(0, view.length - own.length)
  );
}
