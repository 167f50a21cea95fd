import type { Transaction } from "../sql/driver.ts";
import { storedWebhooks, type TriedDelivery, type WebhookFailing, type WebhookTry } from "./ports.ts";

type Tried = Pick<TriedDelivery, "org" | "webhook" | "state" | "lastTry">;

/** What is failing after one more try. Nodes may tell of tries in another order than they ended; the one that ended last counts. */
function afterTry(before: WebhookFailing | null, { at, durationMs, status, error }: WebhookTry): WebhookFailing | null {
  const endedAt = at + durationMs;
  if (before !== null && before.endedAt > endedAt) return before;
  return error === null ? null : { since: before?.since ?? at, at, endedAt, status, error };
}

/**
 * Notes which webhooks fail by these tries. Locks only webhooks that fail, or did: call it before queues and deliveries are locked.
 */
export async function noteTries(sql: Transaction, tried: readonly Tried[]): Promise<void> {
  const triesOf = new Map<string, WebhookTry[]>();
  for (const { webhook, state, lastTry } of tried) {
    if (state === "cancelled" || lastTry === null) continue;
    triesOf.set(webhook, [...(triesOf.get(webhook) ?? []), lastTry]);
  }
  if (triesOf.size === 0) return;
  for (const tries of triesOf.values()) tries.sort((a, b) => a.at + a.durationMs - (b.at + b.durationMs));
  const { givenTexts } = sql.dialect;
  const { columns, write, readAll } = storedWebhooks;
  const find = `SELECT ${columns} FROM webhook WHERE org IN (${givenTexts}) AND ref IN (${givenTexts})`;
  const orgs = [...new Set(tried.map(({ org }) => org))];
  const found = await readAll(sql.all(find, JSON.stringify(orgs), JSON.stringify([...triesOf.keys()])));
  const failing = found.filter(
    (hook) => hook.failing !== null || triesOf.get(hook.ref)?.some(({ error }) => error !== null),
  );
  if (failing.length === 0) return;
  const keys = failing.map(({ org, id }) => ({ org, id }));
  const locked = await readAll(sql.rows.lock("webhook", storedWebhooks.names, keys));
  const changed = locked.map(({ org, id, ref, failing }) => ({
    org,
    id,
    failing: (triesOf.get(ref) ?? []).reduce(afterTry, failing),
  }));
  await sql.rows.update("webhook", ["org", "id"], changed.map(write));
}
