import { toSeconds } from "../../contract/identifiers.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { maxToldIds, type SystemMessageReadEvent } from "../../contract/messages/inbox.ts";
import { createId, joinIds } from "../../lib/text/ids.ts";
import { compacted, timeOf, withRange } from "../../lib/timed-ranges.ts";
import type { LogTransaction, LogWriter } from "../log/log-writer.ts";
import { beginning } from "../log/past.ts";
import type { NewSend } from "../ports.ts";
import type { Row, Transaction } from "../sql/driver.ts";
import { distinctRows } from "../sql/rows.ts";
import { readMarks } from "./inbox-reads.ts";
import { placeOfUser, placesOf } from "./places.ts";
import { type InboxWrites, type Marks, type NewMark, noMarks } from "./ports.ts";

/** A system message that is kept, with its place in the log. */
export type KeptSend = Pick<NewSend, "org" | "sender" | "mid" | "cid" | "uids" | "silent" | "expiresAt"> & {
  kept: NonNullable<NewSend["kept"]>;
  offset: number;
};

type InboxRow = Row & {
  org: string;
  place: string;
  offset: number;
  mid: string | null;
  sender_key: string | null;
  silent: number;
  kept_until: number;
  expires_at: number | null;
};

/** Puts system messages into inboxes. Those with a key take the earlier ones in the same places out. All of it is sent at once. */
export function keepInInboxes(sql: Transaction, sends: readonly KeptSend[]): Promise<unknown> {
  const rows = new Map<string, InboxRow>();
  const removals: Promise<unknown>[] = [];
  const replaced = `DELETE FROM inbox WHERE org = ? AND sender_key = ? AND place IN (${sql.dialect.givenTexts})`;
  // Who has left since keeps what was addressed to them.
  const replacedForAll = `${replaced} AND NOT EXISTS (SELECT 1 FROM former_participant f
    WHERE f.org = ? AND f.cid = ? AND f.log_start < inbox."offset" AND f.log_end >= inbox."offset")`;
  for (const send of sends) {
    const { org, cid, offset } = send;
    const rowsOfSend = rowsOf(send);
    for (const row of rowsOfSend) rows.set(joinIds(org, row.place, row.sender_key ?? offset), row);
    const sender_key = rowsOfSend[0]?.sender_key ?? null;
    if (sender_key === null) continue;
    const values = [org, sender_key, JSON.stringify(rowsOfSend.map(({ place }) => place))];
    removals.push(cid === undefined ? sql.run(replaced, ...values) : sql.run(replacedForAll, ...values, org, cid));
  }
  return Promise.all([...removals, sql.rows.insert("inbox", [...rows.values()])]);
}

/**
 * Puts imported system messages into inboxes. Replaces nothing: the newest with a key is found when an inbox is read, and an earlier one
 * may still be that of somebody who left.
 */
export async function keepImported(sql: Transaction, imported: readonly KeptSend[]): Promise<void> {
  await sql.rows.insert("inbox", imported.flatMap(rowsOf));
}

function rowsOf({ org, sender, cid, uids, mid = "", kept, silent, expiresAt, offset }: KeptSend): InboxRow[] {
  const sender_key = kept.key === undefined ? null : joinIds(sender, kept.key);
  const times = { kept_until: kept.until, expires_at: expiresAt ?? null };
  const row = { org, offset, mid, sender_key, silent: silent ? 1 : 0, ...times };
  return placesOf({ cid, uids }).map((place) => ({ ...row, place }));
}

/** System messages of an organization with one audience, by their offsets. */
type Audience = { org: string; offsets: readonly number[] } & Pick<LogEvent, "cid" | "uids">;

/** Takes system messages out of inboxes. Returns until when the longest of them was to be kept; `undefined` if none was. */
export async function takeOutOfInboxes(
  { sql }: LogTransaction,
  { org, offsets, ...audience }: Audience,
): Promise<number | undefined> {
  const there = `org = ? AND place IN (${sql.dialect.givenTexts})
    AND "offset" IN (${sql.dialect.givenNumbers})`;
  const values = [org, JSON.stringify(placesOf(audience)), JSON.stringify(offsets)];
  const findLongest = `SELECT MAX(kept_until) AS kept_until FROM inbox WHERE ${there}`;
  const [longest] = await sql.all<{ kept_until: number | null }>(findLongest, ...values);
  const until = longest?.kept_until ?? null;
  if (until === null) return undefined;
  await sql.run(`DELETE FROM inbox WHERE sender_key IS NULL AND ${there}`, ...values);
  await sql.run(`UPDATE inbox SET mid = NULL WHERE ${there}`, ...values); // what a key has replaced stays replaced
  return Number(until);
}

/** Keeps a recall in the inboxes of those who hear it, so that `since` brings it. */
export async function keepRecall(
  { sql }: LogTransaction,
  { org, offset, until, ...audience }: Pick<LogEvent, "org" | "offset" | "cid" | "uids"> & { until: number },
): Promise<void> {
  const row = { org, offset, mid: null, sender_key: null, silent: 1, kept_until: until, expires_at: null };
  const rows = placesOf(audience).map((place): InboxRow => ({ ...row, place }));
  await sql.rows.insert("inbox", rows);
}

/** Removes a user's own rows and marks, and what tells where the user was addressed in the past. */
export async function forgetInbox({ sql, pastHead }: LogTransaction, org: string, uid: string): Promise<void> {
  await sql.run("DELETE FROM inbox WHERE org = ? AND place = ?", org, placeOfUser(uid));
  await sql.run("DELETE FROM inbox_mark WHERE org = ? AND uid = ?", org, uid);
  const forgetPast = "DELETE FROM former_participant WHERE org = ? AND uid = ? AND log_end < 0";
  if (pastHead(org) > beginning) await sql.run(forgetPast, org, uid);
}

/** Creates the writes of inboxes. A commit costs the same statements for many marks as for one. */
export function createInboxWrites({ writer }: { writer: LogWriter }): InboxWrites {
  return {
    async markAll(marks) {
      const orgs = [...new Set(marks.map(({ org }) => org))];
      await writer.transaction(orgs, async (transaction) => {
        const { heads, sql } = transaction;
        const live = marks.filter(({ org }) => heads.has(org));
        const [before, ids] = await Promise.all([findMarks(sql, live), findIds(sql, live)]);
        const after = new Map<string, Row & { org: string; uid: string; marks: string }>();
        const current = new Map(before);
        for (const mark of live) {
          const { org, uid } = mark;
          const anchor = anchorOf(mark);
          if (anchor !== undefined && ids.get(joinIds(org, anchor.offset)) !== anchor.id) continue;
          const key = joinIds(org, uid);
          const known = current.get(key) ?? noMarks;
          const isNew = ({ offset }: { offset: number }) =>
            timeOf(mark.seenOnly ? known.seen : known.read, offset) === undefined;
          const told = mark.items.filter(isNew);
          if (told.length === 0) continue;
          const next = marksAfter(known, mark, { head: heads.get(org) ?? 0, pastHead: transaction.pastHead(org) });
          current.set(key, next);
          after.set(key, { org, uid, marks: JSON.stringify(next) });
          tell(
            transaction,
            mark,
            told.map(({ mid }) => mid),
          );
        }
        const rows = [...after.values()];
        const isKnown = ({ org, uid }: { org: string; uid: string }) => before.has(joinIds(org, uid));
        sql.lastly(sql.rows.update("inbox_mark", ["org", "uid"], rows.filter(isKnown)));
        sql.lastly(
          sql.rows.insert(
            "inbox_mark",
            rows.filter((row) => !isKnown(row)),
          ),
        );
      });
    },
  };
}

function marksAfter(
  { seen, read }: Marks,
  { items, upTo, seenOnly, now }: NewMark,
  { head, pastHead }: { head: number; pastHead: number },
): Marks {
  const add = (ranges: Marks["read"]) =>
    compacted(
      upTo === undefined
        ? items.reduceRight((all, { offset, before }) => withRange(all, before + 1, offset, now), [...ranges])
        : withRange(withRange(ranges, beginning + 1, pastHead, now), 1, Math.min(upTo.offset, head), now),
    );
  return { seen: add(seen), read: seenOnly ? read : add(read) };
}

function tell({ emit }: LogTransaction, { org, uid, seenOnly, now }: NewMark, mids: string[]): void {
  for (let start = 0; start < mids.length; start += maxToldIds) {
    const ids = mids.slice(start, start + maxToldIds);
    const event: SystemMessageReadEvent = { system_message_read: { ids, seen: seenOnly, t: toSeconds(now) } };
    const of = { org, kind: "system_read", cid: undefined, sender: uid, createdAt: now } as const;
    emit({ ...of, id: createId(now), uids: [uid], payload: JSON.stringify(event) });
  }
}

async function findMarks({ rows }: Transaction, marks: readonly NewMark[]): Promise<Map<string, Marks>> {
  type Found = Row & { org: string; uid: string; marks: string };
  const keys = distinctRows(marks.map(({ org, uid }) => ({ org, uid })));
  const found = await rows.find<Found>("inbox_mark", ["org", "uid", "marks"], keys);
  return new Map(found.map(({ org, uid, marks }) => [joinIds(org, uid), readMarks(marks)]));
}

/** The last place that a mark is about: if its event is still there, the log up to it is the one that was looked at. */
function anchorOf({ items: [newest], upTo }: NewMark): { offset: number; id: string | undefined } | undefined {
  return upTo?.id === undefined ? newest : upTo;
}

/** The ids of the events that stand at the anchors of marks. */
async function findIds({ rows }: Transaction, marks: readonly NewMark[]): Promise<Map<string, string>> {
  type Found = Row & { org: string; offset: number; id: string };
  const places = marks.flatMap((mark) => {
    const anchor = anchorOf(mark);
    return anchor === undefined ? [] : [{ org: mark.org, offset: anchor.offset }];
  });
  const found = await rows.find<Found>("event", ["org", "offset", "id"], distinctRows(places));
  return new Map(found.map(({ org, offset, id }) => [joinIds(org, Number(offset)), id]));
}
