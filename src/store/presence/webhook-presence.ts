import type { Driver, Reader, Row, Transaction } from "../sql/driver.ts";
import type { WebhookQueue } from "../webhooks/ports.ts";
import { deliveryOfNotice, storeDeliveries } from "../webhooks/posts.ts";
import { type PresencePlace, presencePlaces, type WebhookPresenceReads, type WebhookPresenceWrites } from "./ports.ts";

type PlaceRow = Row & { seq: number; holder: string; held_until: number };

const { columns } = presencePlaces;
const usersOfPage = 10_000;
const findUsers = `SELECT uid FROM webhook_online WHERE org = ? AND webhook = ? AND uid > ? ORDER BY uid LIMIT ${usersOfPage}`;
const setPlace = "UPDATE webhook_presence SET seq = ?, holder = ?, held_until = ? WHERE org = ? AND webhook = ?";

/** Creates the reads of what webhooks were told of presence. */
export function createWebhookPresenceReads({ reader }: { reader: Reader }): WebhookPresenceReads {
  const { now: timeNow } = reader.dialect;
  const findNow = `SELECT ${timeNow} AS now`;
  const findPlaces = `SELECT ${columns} FROM webhook_presence
    WHERE holder = ? OR held_until < ? ORDER BY held_until, org, webhook LIMIT ?`;
  return {
    async followed(holder, limit) {
      const [row] = await reader.all<{ now: number }>(findNow);
      const now = Number(row?.now);
      return { now, places: await presencePlaces.readAll(reader.all(findPlaces, holder, now, limit)) };
    },
    async told({ org, webhook }) {
      const users = new Set<string>();
      for (let after = ""; ; ) {
        const rows = await reader.allOf<{ uid: string }>(org, findUsers, org, webhook, after);
        for (const { uid } of rows) users.add(uid);
        const last = rows.at(-1);
        if (last === undefined || rows.length < usersOfPage) return users;
        after = last.uid;
      }
    },
  };
}

/** Creates the writes of what webhooks are told of presence. They lock the webhook's row first. */
export function createWebhookPresenceWrites({ driver }: { driver: Driver }): WebhookPresenceWrites {
  const { givenTexts } = driver.dialect;
  const removeUsers = `DELETE FROM webhook_online WHERE org = ? AND webhook = ? AND uid IN (${givenTexts})`;
  const forgetUsers = `DELETE FROM webhook_online WHERE org = ? AND webhook = ? AND uid IN
    (SELECT uid FROM webhook_online WHERE org = ? AND webhook = ? LIMIT ?)`;

  const within = <Result>({ org }: WebhookQueue, work: (sql: Transaction) => Promise<Result>) =>
    driver.aside(async (sql) => {
      await sql.limitTo([org]);
      return await work(sql);
    });

  async function lock(sql: Transaction, { org, webhook }: WebhookQueue) {
    const [row] = await sql.rows.lock<PlaceRow>(
      "webhook_presence",
      ["seq", "holder", "held_until"],
      [{ org, webhook }],
    );
    return row && { seq: Number(row.seq), holder: row.holder, heldUntil: Number(row.held_until) };
  }

  return {
    hold: (place, { holder, now, until }) =>
      within(place, async (sql) => {
        const found = await lock(sql, place);
        if (found === undefined || (found.holder !== holder && found.heldUntil >= now)) return undefined;
        await sql.run(setPlace, found.seq, holder, until, place.org, place.webhook);
        return found.seq;
      }),
    tell: (place, { holder, seq, now, until, part }) =>
      within(place, async (sql) => {
        const { org, webhook } = place;
        const found = await lock(sql, place);
        if (found?.holder !== holder || found.seq !== seq) return false;
        const { online, offline } = part;
        if (offline.length > 0) await sql.run(removeUsers, org, webhook, JSON.stringify(offline));
        await sql.rows.insert(
          "webhook_online",
          online.map((uid) => ({ org, webhook, uid })),
        );
        const notice = { type: "users.presence", data: { online, offline, seq: seq + 1 } } as const;
        await storeDeliveries(sql, [deliveryOfNotice({ org, webhook }, notice, now)]);
        await sql.run(setPlace, seq + 1, holder, until, org, webhook);
        return true;
      }),
    release: (holder) =>
      driver.aside(async (sql) => {
        await sql.run("UPDATE webhook_presence SET held_until = 0 WHERE holder = ?", holder);
      }),
    forget: (place, limit) =>
      within(place, async (sql) => {
        const { org, webhook } = place;
        if ((await lock(sql, place)) === undefined) return false;
        if ((await sql.run(forgetUsers, org, webhook, org, webhook, limit)) > 0) return true;
        await sql.run("DELETE FROM webhook_presence WHERE org = ? AND webhook = ?", org, webhook);
        return false;
      }),
  };
}

/** Follows the presence for a webhook from now on; what it was told before stays. Call it under the lock of its organization. */
export async function followPresence(sql: Transaction, { org, webhook }: WebhookQueue): Promise<void> {
  const first: PresencePlace = { org, webhook, seq: 0, holder: "", heldUntil: 0 };
  const rows = await sql.rows.find<Row>("webhook_presence", ["org"], [{ org, webhook }]);
  if (rows.length === 0) await sql.rows.insert("webhook_presence", [presencePlaces.write(first)]);
}
