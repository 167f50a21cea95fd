import { keptMs } from "../../contract/webhooks/kept.ts";
import { createId, joinIds } from "../../lib/text/ids.ts";
import type { Row, Transaction } from "../sql/driver.ts";
import {
  type StoredNotice,
  type TriedDelivery,
  type WebhookDelivery,
  type WebhookQueue,
  webhookDeliveries,
} from "./ports.ts";
import { readWishes, refsOf, type Wish } from "./wishes.ts";

type WishesRow = Row & { id: string; webhooks: string };

/** A notice, when it was written, in milliseconds since the Unix epoch, and its data, made only if a webhook wants it. */
export type NewNotice = Pick<StoredNotice, "type"> & { at: number; data(): object };

/** The deliveries of a notice: one for each webhook that wants it, other than `except`. */
export function deliveriesOf(
  org: string,
  wishes: readonly Wish[],
  { type, data, at }: NewNotice,
  except?: string,
): WebhookDelivery[] {
  const refs = refsOf(wishes, type).filter((ref) => ref !== except);
  if (refs.length === 0) return [];
  const notice = { type, data: data() };
  return refs.map((webhook) => deliveryOfNotice({ org, webhook }, notice, at));
}

/** A delivery of a notice that is due at once. */
export function deliveryOfNotice({ org, webhook }: WebhookQueue, notice: StoredNotice, at: number): WebhookDelivery {
  return {
    org,
    webhook,
    id: createId(at),
    state: "waiting",
    eventId: null,
    part: 1,
    parts: 1,
    unreached: "[]",
    waitedMs: 0,
    createdAt: at,
    tries: 0,
    nextTryAt: at,
    lastTry: null,
    expiresAt: at + keptMs.waiting,
    notice,
  };
}

/**
 * What other webhooks are told of the deliveries that nothing is left to try for, each with the id of the one it tells `of`. The
 * wishes are read without a lock: this tells what a webhook wants now.
 */
export async function undeliverableOf(
  sql: Transaction,
  tried: readonly TriedDelivery[],
): Promise<(WebhookDelivery & { of: string })[]> {
  const failed = tried.filter(({ state, undeliverable }) => state === "failed" && undeliverable !== undefined);
  if (failed.length === 0) return [];
  const find = `SELECT id, webhooks FROM organization
    WHERE id IN (${sql.dialect.givenTexts}) AND webhooks IS NOT NULL AND deleted_at IS NULL`;
  const rows = await sql.all<WishesRow>(find, JSON.stringify([...new Set(failed.map(({ org }) => org))]));
  const wishesOf = new Map(rows.map(({ id, webhooks }) => [id, readWishes(webhooks)]));
  return failed.flatMap(({ org, webhook, id: of, undeliverable = {}, lastTry }) => {
    const notice: NewNotice = { type: "message.undeliverable", at: lastTry?.at ?? 0, data: () => undeliverable };
    return deliveriesOf(org, wishesOf.get(org) ?? [], notice, webhook).map((delivery) => ({ ...delivery, of }));
  });
}

/**
 * Stores new deliveries, and lets nodes look at their webhooks. Locks queues, like all who change deliveries. Both statements are sent
 * at once, as `Transaction.lastly` needs it.
 */
export async function storeDeliveries(sql: Transaction, deliveries: readonly WebhookDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  await Promise.all([
    expectTries(sql, deliveries),
    sql.rows.insert("webhook_delivery", deliveries.map(webhookDeliveries.write)),
  ]);
}

/** Lets nodes look at these webhooks, at the earliest of their times. */
export async function expectTries(
  sql: Transaction,
  at: readonly (WebhookQueue & { nextTryAt: number | null })[],
): Promise<void> {
  const next = new Map<string, [string, string, number]>();
  for (const { org, webhook, nextTryAt } of at) {
    if (nextTryAt === null) continue;
    const key = joinIds(org, webhook);
    next.set(key, [org, webhook, Math.min(nextTryAt, next.get(key)?.[2] ?? nextTryAt)]);
  }
  if (next.size === 0) return;
  const expect = `INSERT INTO webhook_queue (org, webhook, next_at)
    SELECT v0, v1, v2 FROM (${sql.dialect.givenTuples("text", "text", "number")}) AS asked WHERE TRUE ORDER BY v0, v1
    ON CONFLICT (org, webhook) DO UPDATE SET
      next_at = CASE WHEN excluded.next_at < webhook_queue.next_at THEN excluded.next_at ELSE webhook_queue.next_at END`;
  await sql.run(expect, JSON.stringify([...next.values()]));
}
