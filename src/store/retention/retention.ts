import { keptUntil, maxKeepDays } from "../../contract/messages/inbox.ts";
import { firstIdOf, timeOfId } from "../../lib/text/ids.ts";
import { deliveryBounds } from "../delivery/bounds.ts";
import { foldReceipts } from "../delivery/delivery.ts";
import { removeSomeOfAny } from "../directory/removals.ts";
import { countSomeEvents, removeFirstOf } from "../log/stored-bytes.ts";
import { expireSomeProposals } from "../proposals/expiry.ts";
import { type Driver, limitToAll, type Reader, type Row, type Sql, type Transaction } from "../sql/driver.ts";
import { lastOfFirst, type Ordered } from "../sql/key-range.ts";
import type { Lease, RetentionOrder, RetentionReads, RetentionWrites } from "./ports.ts";

/** Tables whose rows expire by the time in their ids. */
type Dated =
  | "event"
  | "delivery"
  | "audience"
  | "former_participant"
  | "audit"
  | "revoked_token"
  | "message_reaction"
  | "hidden_message"
  | "growth";

const longestKeptMs = keptUntil(0, maxKeepDays);
const clocksDifferMs = 24 * 3600 * 1000; // at most, between two nodes
// Deliveries may refer to an audience for this long after it was created.
const audienceOutlivesMs = deliveryBounds.audienceLivesMs + clocksDifferMs;

// Versions that do not count removals check `held_until`: they begin a day after the last counting node has stopped.
const othersWaitMs = 24 * 3600 * 1000;
const takeLease = `UPDATE retention SET holder = ?, held_until = ?, leased_until = ?
  WHERE leased_until < ? OR (holder = ? AND leased_until > 0)`;

/**
 * Creates the retention writes. Expired events are found by their ids, which sort by creation time, so no index is
 * needed that would slow sends down.
 */
export function createRetentionWrites({ driver }: { driver: Driver }): RetentionWrites {
  let hasRemoved = false;
  return {
    step: (order) =>
      driver.aside(async (sql) => {
        if (!(await isHeld(sql, order))) return undefined;
        const changed = await stepOf(sql, order);
        if (changed === 0 && hasRemoved) sql.forget(); // once in a run: each time, the files of a database are written
        hasRemoved = changed > 0;
        return changed;
      }),
    count: (order) =>
      driver.aside(async (sql) => ((await isHeld(sql, order)) ? await countSomeEvents(sql, order.limit) : undefined)),
  };
}

async function isHeld(sql: Sql, { holder, now, leaseMs }: Lease): Promise<boolean> {
  return (await sql.run(takeLease, holder, now + othersWaitMs, now + leaseMs, now, holder)) > 0;
}

/** Does one kind of work per step: each kind begins once the previous one is done. */
async function stepOf(sql: Transaction, order: RetentionOrder): Promise<number> {
  const { limit, auditBefore, deletedBefore } = order;
  return (
    (await removeSomeOfAny(sql, { deletedBefore, limit })) ||
    // Before organizations are named, as entries may refer to organizations that never existed.
    (await removeFirstOf(sql, madeBefore("audit", auditBefore), limit)) ||
    (await removeFirstOf(sql, timedBefore("person_session", ["expires_at", "id"], order.now), limit)) ||
    (await touchAll(sql, order))
  );
}

/** Removes by age from all organizations, including deleted ones. */
async function touchAll(sql: Transaction, order: RetentionOrder): Promise<number> {
  const { messagesBefore, readsBefore, idsBefore, revocationsBefore, limit } = order;
  await limitToAll(sql);
  const expired = [
    ...madeBefore("event", messagesBefore),
    // Nothing replays these events, which would soon be most of the log.
    ...["read", "system_read"].flatMap((kind) =>
      madeBefore("event", readsBefore).map((rows) => ({ ...rows, where: `kind = '${kind}' AND ${rows.where}` })),
    ),
    ...madeBefore("message_reaction", messagesBefore).map((rows) => ({ ...rows, key: ["id", "uid", "reaction"] })),
    ...madeBefore("hidden_message", messagesBefore).map((rows) => ({ ...rows, key: ["id", "uid"] })),
    ...madeBefore("growth", messagesBefore),
    ...madeBefore("delivery", messagesBefore),
    ...madeBefore("audience", messagesBefore && messagesBefore - audienceOutlivesMs),
    ...madeBefore("former_participant", messagesBefore && messagesBefore - clocksDifferMs),
    ...timedBefore("addressee", ["created_at", "org", "place", `"offset"`], messagesBefore),
    ...madeBefore("revoked_token", revocationsBefore),
    // Those that were sent, failed or were cancelled are kept as long as the ids of sends.
    ...timedBefore("scheduled_send", ["ended_at", "org", "id"], latestOf(idsBefore, messagesBefore)),
    ...timedBefore("proposal", ["ended_at", "org", "id"], latestOf(idsBefore, messagesBefore)),
    ...keptBefore("sender_key IS NULL", order.now),
    // Until all that they could have replaced has expired, too.
    ...keptBefore("sender_key IS NOT NULL", order.now - longestKeptMs),
    // What was posted to webhooks, or could not be, is kept for some time.
    ...timedBefore("webhook_delivery", ["expires_at", "org", "webhook", "id"], order.now),
  ];
  return (
    (await expireSomeProposals(sql, order)) ||
    (await removeFirstOf(sql, expired, limit)) ||
    (await forgetIds(sql, idsBefore, limit)) ||
    (await foldReceipts(sql, limit))
  );
}

/** Ids go with their messages, if they are not forgotten before. */
function latestOf(idsBefore: number | undefined, messagesBefore: number | undefined): number | undefined {
  return idsBefore === undefined || messagesBefore === undefined
    ? (idsBefore ?? messagesBefore)
    : Math.max(idsBefore, messagesBefore);
}

/** Counts at least one row if it looked at any: a page without ids to forget is not the end. */
async function forgetIds(sql: Sql, before: number | undefined, limit: number): Promise<number> {
  const [row] = before === undefined ? [] : await sql.all<{ ids_after: string }>("SELECT ids_after FROM retention");
  const after = row?.ids_after ?? "";
  const [events] = madeBefore("event", before, after);
  const [last] = (events && (await lastOfFirst(sql, events, limit))) ?? [];
  if (last === undefined) return 0;
  const forget =
    "UPDATE event SET mid = NULL, fingerprint = NULL WHERE id > ? AND id <= ? AND mid IS NOT NULL AND kind NOT IN ('imported', 'append')";
  const forgotten = await sql.run(forget, after, last);
  await sql.run("UPDATE retention SET ids_after = ?", last);
  return Math.max(1, forgotten);
}

/** The rows of a table whose ids were made before a time; none without a time. */
function madeBefore(table: Dated, before: number | undefined, after = ""): Ordered[] {
  if (before === undefined) return [];
  return [{ table, key: ["id"], where: "id > ? AND id < ?", values: [after, firstIdOf(before)] }];
}

/** The rows of a table with a time before another in the first column of a key; none without a time. */
function timedBefore(table: string, key: [time: string, ...string[]], before: number | undefined): Ordered[] {
  return before === undefined ? [] : [{ table, key, where: `${key[0]} < ?`, values: [before] }];
}

function keptBefore(which: string, before: number): Ordered[] {
  const [rows] = timedBefore("inbox", ["kept_until", "org", "place", `"offset"`], before);
  return rows === undefined ? [] : [{ ...rows, where: `${which} AND ${rows.where}` }];
}

type Found = Row & { id: string };
type Deleted = Row & { organization: number | null; conversation: number | null };

// The first rows of indexes, and a table of what is deleted: none of it takes longer the more messages there are.
const findDeleted = `SELECT MIN(CASE WHEN cid = '' THEN removed_at END) AS organization,
  MIN(CASE WHEN cid <> '' THEN removed_at END) AS conversation FROM removal`;
const findEvent = "SELECT id FROM event ORDER BY id LIMIT 1";
const findRetryId = "SELECT id FROM event WHERE id > (SELECT ids_after FROM retention) ORDER BY id LIMIT 1";
const findAudit = "SELECT id FROM audit ORDER BY id LIMIT 1";

/** Creates the retention reads. */
export function createRetentionReads({ reader }: { reader: Reader }): RetentionReads {
  async function waitOf(find: Promise<Found[]>, before: number): Promise<number> {
    const [row] = await find;
    return row === undefined ? 0 : Math.max(0, before - timeOfId(row.id));
  }

  return {
    async now() {
      const [row] = await reader.all<{ now: number }>(`SELECT ${reader.dialect.now} AS now`);
      return Number(row?.now ?? 0);
    },
    async overdue({ now, messagesBefore, idsBefore, auditBefore, deletedBefore }) {
      const [deleted] = await reader.all<Deleted>(findDeleted);
      const { organization, conversation } = deleted ?? {};
      return {
        deleted: Math.max(
          0,
          organization == null ? 0 : now - Number(organization),
          conversation == null ? 0 : deletedBefore - Number(conversation),
        ),
        messages: messagesBefore === undefined ? 0 : await waitOf(reader.allOfEvery(findEvent), messagesBefore),
        ids: idsBefore === undefined ? 0 : await waitOf(reader.allOfEvery(findRetryId), idsBefore),
        audit: auditBefore === undefined ? 0 : await waitOf(reader.all(findAudit), auditBefore),
      };
    },
  };
}
