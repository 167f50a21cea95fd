import type { Row, Transaction } from "../sql/driver.ts";
import type { TriedDelivery, WebhookTry } from "./ports.ts";

type AnsweredRow = Row & { webhook: string; id: string; last_try: string | null };
type EventRow = Row & { org: string; id: string; edited_at: number | null };

/**
 * Takes what receivers answered to posts about events out of the database, as an answer may repeat the message. Call it after the
 * events were changed or removed, in the same transaction. Locks queues and then deliveries, like all who change deliveries.
 */
export async function forgetAnswers(
  sql: Transaction,
  { org, eventIds }: { org: string; eventIds: readonly string[] },
): Promise<void> {
  if (eventIds.length === 0) return;
  const { forUpdate, givenTexts } = sql.dialect;
  const find = `SELECT webhook, id, last_try FROM webhook_delivery
    WHERE org = ? AND event_id IN (${givenTexts}) AND event_id IS NOT NULL AND last_try IS NOT NULL`;
  const found = await sql.all<AnsweredRow>(find, org, JSON.stringify(eventIds));
  if (found.length === 0) return;
  await sql.all(`SELECT webhook FROM webhook_queue WHERE org = ? ORDER BY webhook${forUpdate}`, org);
  const keys = found.map(({ webhook, id }) => ({ org, webhook, id }));
  const locked = await sql.rows.lock<AnsweredRow>("webhook_delivery", ["webhook", "id", "last_try"], keys);
  const rows = locked.flatMap(({ webhook, id, last_try }) =>
    last_try === null ? [] : [{ org, webhook, id, last_try: JSON.stringify(withoutAnswer(JSON.parse(last_try))) }],
  );
  await sql.rows.update("webhook_delivery", ["org", "webhook", "id"], rows);
  sql.forget();
}

/**
 * The tries without the answers to posts whose event has no text any more, or has another one by now: a post may have been under
 * way meanwhile. The events keep their text until the transaction ends. Call it before other locks are taken; an event
 * that is being changed is not waited for, and its answers are left out.
 */
export async function withoutLateAnswers(sql: Transaction, tried: readonly TriedDelivery[]): Promise<TriedDelivery[]> {
  const ids = tried.flatMap(({ eventId, lastTry }) => (lastTry?.answer == null || eventId === null ? [] : [eventId]));
  if (ids.length === 0) return [...tried];
  const { forShare, skipLocked, givenTexts } = sql.dialect;
  const find = `SELECT org, id, edited_at FROM event
    WHERE id IN (${givenTexts}) AND OCTET_LENGTH(payload) > 0${forShare}${skipLocked}`;
  const events = new Map((await sql.all<EventRow>(find, JSON.stringify(ids))).map((event) => [event.id, event]));
  return tried.map((one) => {
    const event = events.get(one.eventId ?? "");
    if (one.lastTry === null || one.eventId === null) return one;
    if (event?.org === one.org && Number(event.edited_at ?? 0) < one.lastTry.at) return one;
    return { ...one, lastTry: withoutAnswer(one.lastTry) };
  });
}

function withoutAnswer(tried: WebhookTry): WebhookTry {
  return { ...tried, answer: null };
}
