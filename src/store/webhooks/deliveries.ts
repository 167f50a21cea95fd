import { joinIds } from "../../lib/text/ids.ts";
import { requireKey } from "../keys/keys.ts";
import type { Driver, Reader, Row, Transaction } from "../sql/driver.ts";
import { withoutLateAnswers } from "./answers.ts";
import { noteTries } from "./failing.ts";
import {
  type WebhookDelivery,
  type WebhookDeliveryReads,
  type WebhookDeliveryWrites,
  type WebhookQueue,
  webhookDeliveries,
} from "./ports.ts";
import { expectTries, storeDeliveries, undeliverableOf } from "./posts.ts";

type QueueRow = Row & { org: string; webhook: string; next_at: number };
type StateRow = Row & Pick<WebhookDelivery, "id" | "state">;
type DueRow = Row & { webhook: string; event_id: string; due_at: number };
type AgendaRow = Row & { now: number; event_at: number | null; try_at: number | null };

const { columns, write } = webhookDeliveries;
const findOne = `SELECT ${columns} FROM webhook_delivery WHERE org = ? AND webhook = ? AND id = ?`;
const lastId = "\u{10ffff}";
const pageOf = (condition: string) => `SELECT ${columns} FROM webhook_delivery
  WHERE org = ? AND webhook = ? AND ${condition} ORDER BY id DESC LIMIT ?`;

/** Creates the reads of deliveries. */
export function createWebhookDeliveryReads({ reader }: { reader: Reader }): WebhookDeliveryReads {
  const { now: timeNow, givenTexts } = reader.dialect;
  const findAgenda = `SELECT clock.now AS now, (SELECT MIN(due_at) FROM webhook_due) AS event_at,
    (SELECT MIN(next_at) FROM webhook_queue) AS try_at FROM (SELECT ${timeNow} AS now) AS clock`;
  const findQueues = `SELECT org, webhook FROM webhook_queue
    WHERE next_at <= ? AND webhook NOT IN (${givenTexts}) ORDER BY next_at, org, webhook LIMIT ?`;
  return {
    async agenda() {
      const [row] = await reader.all<AgendaRow>(findAgenda);
      return {
        now: Number(row?.now),
        eventAt: row?.event_at == null ? undefined : Number(row.event_at),
        tryAt: row?.try_at == null ? undefined : Number(row.try_at),
      };
    },
    queues: (now, { busy, limit }) => reader.all<WebhookQueue>(findQueues, now, JSON.stringify(busy), limit),
    get: (org, webhook, id) => webhookDeliveries.readFirst(reader.allOf(org, findOne, org, webhook, id)),
    list: (org, webhook, { state, before = lastId, limit }) =>
      webhookDeliveries.readAll(
        state === undefined
          ? reader.allOf(org, pageOf("id < ?"), org, webhook, before, limit)
          : reader.allOf(org, pageOf("state = ? AND id < ?"), org, webhook, state, before, limit),
      ),
  };
}

const findDue = `SELECT ${columns} FROM webhook_delivery
  WHERE org = ? AND webhook = ? AND state = 'waiting' AND next_try_at <= ? ORDER BY next_try_at, id LIMIT ?`;
const findNext = `SELECT MIN(next_try_at) AS next_at FROM webhook_delivery WHERE org = ? AND webhook = ? AND state = 'waiting'`;
const setNext = "UPDATE webhook_queue SET next_at = ? WHERE org = ? AND webhook = ?";
const holdDue = `UPDATE webhook_due SET due_at = ?, told = ? WHERE org = ? AND "offset" = ? AND webhook = ?`;
const dropQueue = "DELETE FROM webhook_queue WHERE org = ? AND webhook = ?";

/**
 * Creates the writes of deliveries. They run beside sends, with which they share no rows. Locks are taken in this order:
 * due events, events, webhooks, queues, deliveries.
 */
export function createWebhookDeliveryWrites({ driver }: { driver: Driver }): WebhookDeliveryWrites {
  const within = <Result>(of: readonly { org: string }[], work: (sql: Transaction) => Promise<Result>) =>
    driver.aside(async (sql) => {
      await sql.limitTo([...new Set(of.map(({ org }) => org))]);
      return await work(sql);
    });

  const tuples = driver.dialect.givenTuples("text", "number", "text");
  const removeDue = `DELETE FROM webhook_due WHERE (org, "offset", webhook) IN
    (SELECT v0, v1, v2 FROM (${tuples}) AS asked)`;

  return {
    settle: (due, deliveries) =>
      within(due, async (sql) => {
        const keys = due.map(({ org, offset, webhook }) => ({ org, offset, webhook }));
        const found = await sql.rows.lock<DueRow>("webhook_due", ["webhook", "event_id", "due_at"], keys);
        const dueAtOf = new Map(found.map((row) => [joinIds(row.webhook, row.event_id), Number(row.due_at)]));
        const live = due.filter(({ webhook, eventId, dueAt }) => dueAtOf.get(joinIds(webhook, eventId)) === dueAt);
        if (live.length === 0) return 0;
        const names = new Set(live.map(({ webhook, eventId }) => joinIds(webhook, eventId)));
        const stored = deliveries.filter(({ webhook, eventId }) => names.has(joinIds(webhook, eventId)));
        await sql.run(removeDue, JSON.stringify(live.map(({ org, offset, webhook }) => [org, offset, webhook])));
        await storeDeliveries(sql, stored);
        return live.length;
      }),
    settleParts: (due, next, deliveries) =>
      within([due], async (sql) => {
        const { org, offset, webhook } = due;
        const [found] = await sql.rows.lock<DueRow>("webhook_due", ["due_at"], [{ org, offset, webhook }]);
        if (found === undefined || Number(found.due_at) !== due.dueAt) return undefined;
        if (next === undefined) await sql.run(removeDue, JSON.stringify([[org, offset, webhook]]));
        else {
          const told = next.told === undefined ? null : JSON.stringify(next.told);
          await sql.run(holdDue, next.dueAt, told, org, offset, webhook);
        }
        await storeDeliveries(sql, deliveries);
        return { ...due, ...next };
      }),
    claim: ({ org, webhook }, { now, until, limit }) =>
      within([{ org }], async (sql) => {
        // Nodes that claim of one webhook take turns.
        const [queue] = await sql.rows.lock<QueueRow>("webhook_queue", ["next_at"], [{ org, webhook }]);
        if (queue === undefined) return [];
        const found = await webhookDeliveries.readAll(sql.all(findDue, org, webhook, now, limit));
        const claimed = found.map(({ id }) => ({ org, webhook, id, next_try_at: until }));
        await sql.rows.update("webhook_delivery", ["org", "webhook", "id"], claimed);
        const [next] = await sql.all<{ next_at: number | null }>(findNext, org, webhook);
        if (next?.next_at == null) await sql.run(dropQueue, org, webhook);
        else await sql.run(setNext, Number(next.next_at), org, webhook);
        return found;
      }),
    finish: (given) =>
      within(given, async (sql) => {
        const tried = await withoutLateAnswers(sql, given);
        const told = await undeliverableOf(sql, tried);
        await noteTries(sql, tried);
        await expectTries(sql, [...tried, ...told]);
        const keys = tried.map(({ org, webhook, id }) => ({ org, webhook, id }));
        const rows = await sql.rows.lock<StateRow>("webhook_delivery", ["id", "state"], keys);
        const over = new Set(rows.filter(({ state }) => state !== "waiting").map(({ id }) => id));
        const stored = told.filter(({ of }) => !over.has(of));
        const changed = tried
          .filter(({ id, state }) => state === "delivered" || !over.has(id))
          .map(({ org, webhook, id, state, tries, nextTryAt, lastTry, expiresAt }) =>
            write({ org, webhook, id, state, tries, nextTryAt, lastTry, expiresAt }),
          );
        await sql.rows.update("webhook_delivery", ["org", "webhook", "id"], changed);
        await sql.rows.insert("webhook_delivery", stored.map(write));
      }),
    add: (delivery) =>
      within([delivery], async (sql) => {
        await noteTries(sql, [delivery]);
        await sql.rows.insert("webhook_delivery", [write(delivery)]);
      }),
    restart: ({ org, webhook, id }, { now, expiresAt }, by) =>
      within([{ org }], async (sql) => {
        await expectTries(sql, [{ org, webhook, nextTryAt: now }]);
        const again = `UPDATE webhook_delivery SET state = 'waiting', tries = 0, next_try_at = ?, expires_at = ?
          WHERE org = ? AND webhook = ? AND id = ? AND (state <> 'waiting' OR tries > 0)`;
        const isRestarted = (await sql.run(again, now, expiresAt, org, webhook, id)) > 0;
        await requireKey(sql, by);
        return isRestarted;
      }),
    postpone: ({ org, webhook }, at) =>
      within([{ org }], async (sql) => {
        await (at === undefined ? sql.run(dropQueue, org, webhook) : sql.run(setNext, at, org, webhook));
      }),
  };
}
