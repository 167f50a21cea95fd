import { firstIdOf } from "../../lib/text/ids.ts";
import { deliveryBounds } from "../delivery/bounds.ts";
import { foldReceipts } from "../delivery/gathered-receipts.ts";
import { removeSomeOfAny } from "../directory/removals.ts";
import { countSomeEvents, removeFirstEvents } from "../log/stored-bytes.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Driver, Sql, Transaction } from "../sql/driver.ts";
import type { Lease, RetentionOrder, RetentionWrites } from "./ports.ts";
import { lastOfFirst, type Ordered, removeFirst } from "./remove-first.ts";

/** Tables whose rows expire by the time in their ids. */
type Dated = "event" | "delivery" | "audience" | "former_participant" | "audit" | "revoked_token";

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
    async step(order) {
      return await driver.aside(async (sql) => {
        if (!(await isHeld(sql, order))) return undefined;
        const changed = await stepOf(sql, driver, order);
        if (changed === 0 && hasRemoved) sql.forget(); // once in a run: each time, the files of a database are written
        hasRemoved = changed > 0;
        return changed;
      });
    },
    async count(order) {
      return await driver.aside(async (sql) =>
        (await isHeld(sql, order)) ? await countSomeEvents(sql, order.limit) : undefined,
      );
    },
  };
}

async function isHeld(sql: Sql, { holder, now, leaseMs }: Lease): Promise<boolean> {
  return (await sql.run(takeLease, holder, now + othersWaitMs, now + leaseMs, now, holder)) > 0;
}

/** Does one kind of work per step: each kind begins once the previous one is done. */
async function stepOf(sql: Transaction, { dialect }: Driver, order: RetentionOrder): Promise<number> {
  const { limit, auditBefore, deletedBefore } = order;
  return (
    (await removeSomeOfAny(sql, dialect, { deletedBefore, limit })) ||
    // Before organizations are named, as entries may refer to organizations that never existed.
    (await removeOldest(sql, "audit", auditBefore, limit)) ||
    (await touchAll(sql, dialect, order))
  );
}

/** Removes by age from all organizations, including deleted ones. */
async function touchAll(sql: Transaction, dialect: Dialect, order: RetentionOrder): Promise<number> {
  const { messagesBefore, readsBefore, idsBefore, revocationsBefore, limit } = order;
  const organizations = await sql.all<{ id: string }>("SELECT id FROM organization");
  await sql.limitTo(organizations.map(({ id }) => id));
  return (
    (await removeOldestEvents(sql, dialect, messagesBefore, limit)) ||
    (await removeOldestReads(sql, dialect, readsBefore, limit)) ||
    (await removeOldest(sql, "delivery", messagesBefore, limit)) ||
    (await removeOldest(sql, "audience", messagesBefore && messagesBefore - audienceOutlivesMs, limit)) ||
    (await removeOldest(sql, "former_participant", messagesBefore && messagesBefore - clocksDifferMs, limit)) ||
    (await removeOldest(sql, "revoked_token", revocationsBefore, limit)) ||
    (await removeScheduledSends(sql, latestOf(idsBefore, messagesBefore), limit)) ||
    (await removeWebhookDeliveries(sql, order.now, limit)) ||
    (await forgetIds(sql, idsBefore, limit)) ||
    (await foldReceipts(sql, limit))
  );
}

async function removeOldestEvents(sql: Transaction, dialect: Dialect, before: number | undefined, limit: number) {
  return before === undefined ? 0 : await removeFirstEvents(sql, dialect, madeBefore("event", before, ""), limit);
}

/** Nothing replays these events, which would soon be most of the log. */
async function removeOldestReads(sql: Transaction, dialect: Dialect, before: number | undefined, limit: number) {
  if (before === undefined) return 0;
  const where = "kind = 'read' AND id > ? AND id < ?";
  return await removeFirstEvents(sql, dialect, { ...madeBefore("event", before, ""), where }, limit);
}

async function removeOldest(sql: Sql, table: Dated, before: number | undefined, limit: number) {
  return before === undefined ? 0 : await removeFirst(sql, madeBefore(table, before, ""), limit);
}

/** Ids go with their messages, if they are not forgotten before. */
function latestOf(idsBefore: number | undefined, messagesBefore: number | undefined): number | undefined {
  return idsBefore === undefined || messagesBefore === undefined
    ? (idsBefore ?? messagesBefore)
    : Math.max(idsBefore, messagesBefore);
}

/** Removes those that were sent, failed or were cancelled: they are kept as long as the ids of sends. */
async function removeScheduledSends(sql: Sql, before: number | undefined, limit: number): Promise<number> {
  if (before === undefined) return 0;
  const ended: Ordered = {
    table: "scheduled_send",
    key: ["ended_at", "org", "id"],
    where: "ended_at < ?",
    values: [before],
  };
  return await removeFirst(sql, ended, limit);
}

/** Removes what was posted to webhooks, or could not be, some time after. */
async function removeWebhookDeliveries(sql: Sql, now: number, limit: number): Promise<number> {
  const expired: Ordered = {
    table: "webhook_delivery",
    key: ["expires_at", "org", "webhook", "id"],
    where: "expires_at < ?",
    values: [now],
  };
  return await removeFirst(sql, expired, limit);
}

/** Counts at least one row if it looked at any: a page without ids to forget is not the end. */
async function forgetIds(sql: Sql, before: number | undefined, limit: number): Promise<number> {
  if (before === undefined) return 0;
  const [row] = await sql.all<{ ids_after: string }>("SELECT ids_after FROM retention");
  const after = row?.ids_after ?? "";
  const [last] = (await lastOfFirst(sql, madeBefore("event", before, after), limit)) ?? [];
  if (last === undefined) return 0;
  const forget =
    "UPDATE event SET mid = NULL, fingerprint = NULL WHERE id > ? AND id <= ? AND mid IS NOT NULL AND kind <> 'imported'";
  const forgotten = await sql.run(forget, after, last);
  await sql.run("UPDATE retention SET ids_after = ?", last);
  return Math.max(1, forgotten);
}

function madeBefore(table: Dated, before: number, after: string): Ordered {
  return { table, key: ["id"], where: "id > ? AND id < ?", values: [after, firstIdOf(before)] };
}
