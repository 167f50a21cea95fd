import { isLiveOrganization } from "../directory/entity.ts";
import { requireKey } from "../keys/keys.ts";
import type { LogTransaction, LogWriter } from "../log/log-writer.ts";
import type { KeyProof } from "../ports.ts";
import { followPresence } from "../presence/webhook-presence.ts";
import type { Reader } from "../sql/driver.ts";
import { type StoredWebhook, storedWebhooks, type WebhookReads, type WebhookWrites } from "./ports.ts";
import { wishesColumn } from "./wishes.ts";

const { columns, write } = storedWebhooks;
const isLive = isLiveOrganization("webhook.org");
const findOne = `SELECT ${columns} FROM webhook WHERE org = ? AND id = ? AND ${isLive}`;
const findPage = `SELECT ${columns} FROM webhook WHERE org = ? AND id > ? AND ${isLive} ORDER BY id LIMIT ?`;
const findAll = `SELECT ${columns} FROM webhook WHERE org = ? ORDER BY id`;
// Lets a node look at what waited while the webhook was off.
const lookAgain = `INSERT INTO webhook_queue (org, webhook, next_at) VALUES (?, ?, ?)
  ON CONFLICT (org, webhook) DO UPDATE SET next_at = excluded.next_at`;
const mostSecrets = 5;

/** Creates the reads of webhooks. */
export function createWebhookReads({ reader }: { reader: Reader }): WebhookReads {
  const { givenTexts } = reader.dialect;
  const findAmong = `SELECT ${columns} FROM webhook
    WHERE org IN (${givenTexts}) AND ref IN (${givenTexts}) AND ${isLive}`;
  return {
    get: (org, id) => storedWebhooks.readFirst(reader.allOf(org, findOne, org, id)),
    list: (org, { after = "", limit }) => storedWebhooks.readAll(reader.allOf(org, findPage, org, after, limit)),
    async among(orgs, refs) {
      if (refs.length === 0) return [];
      return await storedWebhooks.readAll(reader.allOf(orgs, findAmong, JSON.stringify(orgs), JSON.stringify(refs)));
    },
  };
}

/**
 * Creates the writes of webhooks. All of them lock the organization first, as every commit of an event does, and set what
 * that commit reads.
 */
export function createWebhookWrites({ writer }: { writer: LogWriter }): WebhookWrites {
  /** Changes the webhooks of an organization; `change` returns those that it then has, or nothing if it changed none. */
  async function change<Result>(
    org: string,
    missing: Result,
    work: (
      transaction: LogTransaction,
      webhooks: StoredWebhook[],
    ) => Promise<{ left?: StoredWebhook[]; result: Result }>,
    by?: KeyProof,
  ): Promise<Result> {
    return await writer.change(org, missing, async (transaction) => {
      const { sql } = transaction;
      const { left, result } = await work(transaction, await storedWebhooks.readAll(sql.all(findAll, org)));
      if (left !== undefined)
        await sql.run("UPDATE organization SET webhooks = CAST(? AS TEXT) WHERE id = ?", wishesColumn(left), org);
      await requireKey(sql, by);
      return result;
    });
  }

  // Results of posts change what is failing, without the lock of the organization.
  const store = async ({ sql }: LogTransaction, { failing: _, ...webhook }: StoredWebhook) =>
    await sql.rows.update("webhook", ["org", "id"], [write(webhook)]);

  return {
    put: (org, { id, ref, url, events, waitMs, until, secret, now, most }, by) =>
      change<Awaited<ReturnType<WebhookWrites["put"]>>>(
        org,
        { outcome: "missing" },
        async (transaction, webhooks) => {
          const { sql } = transaction;
          const before = webhooks.find((one) => one.id === id);
          if (before === undefined && webhooks.length >= most) return { result: { outcome: "too_many" } };
          const base = before ?? { org, id, ref, secrets: [{ secret, endsAt: null }], createdAt: now };
          const isSame = before?.url === url && before.disabledAt === null;
          const failing = isSame ? before.failing : null;
          const webhook: StoredWebhook = { ...base, url, events, waitMs, until, disabledAt: null, failing };
          if (before === undefined) await sql.rows.insert("webhook", [write(webhook)]);
          else await store(transaction, webhook);
          if (before !== undefined && !isSame)
            await sql.rows.update("webhook", ["org", "id"], [write({ org, id, failing })]);
          if (events.includes("users.presence")) await followPresence(sql, { org, webhook: webhook.ref });
          if (before?.disabledAt != null) await sql.run(lookAgain, org, webhook.ref, now);
          const left = [...webhooks.filter((one) => one !== before), webhook];
          return { left, result: { outcome: "done", webhook, isNew: before === undefined } };
        },
        by,
      ),
    rotate: (org, id, { secret, othersEndAt, now }, by) =>
      change<StoredWebhook | undefined>(
        org,
        undefined,
        async (transaction, webhooks) => {
          const before = webhooks.find((one) => one.id === id);
          if (before === undefined) return { result: undefined };
          const others = before.secrets
            .map((one) => ({ ...one, endsAt: Math.min(one.endsAt ?? othersEndAt, othersEndAt) }))
            .filter(({ endsAt }) => endsAt > now);
          const webhook = { ...before, secrets: [{ secret, endsAt: null }, ...others].slice(0, mostSecrets) };
          await store(transaction, webhook);
          transaction.sql.forget();
          return { result: webhook };
        },
        by,
      ),
    disable: (org, ref, now) =>
      change<boolean>(org, false, async (transaction, webhooks) => {
        const before = webhooks.find((one) => one.ref === ref);
        if (before === undefined || before.disabledAt !== null) return { result: false };
        const webhook = { ...before, disabledAt: now };
        await store(transaction, webhook);
        return { left: webhooks.map((one) => (one === before ? webhook : one)), result: true };
      }),
    remove: (org, id) =>
      change<boolean>(org, false, async ({ sql }, webhooks) => {
        const before = webhooks.find((one) => one.id === id);
        if (before === undefined) return { result: false };
        await sql.run("DELETE FROM webhook WHERE org = ? AND id = ?", org, id);
        await sql.run("DELETE FROM webhook_queue WHERE org = ? AND webhook = ?", org, before.ref);
        sql.forget();
        return { left: webhooks.filter((one) => one !== before), result: true };
      }),
  };
}
