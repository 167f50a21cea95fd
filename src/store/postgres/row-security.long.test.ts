import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import { createId } from "../../lib/text/ids.ts";
import type { NewKey } from "../keys/ports.ts";
import { migrateStore } from "../migrate.ts";
import type { NewProposal } from "../proposals/ports.ts";
import type { NewScheduledSend } from "../schedule/ports.ts";
import type { Driver, Row } from "../sql/driver.ts";
import { entryAt } from "../testing/audit-suite.ts";
import { audienceOf, deliveryOf } from "../testing/delivery-suite.ts";
import { messageOf } from "../testing/log-suite.ts";
import { createTestWrites } from "../testing/test-store.ts";
import type { NewWebhook, WebhookDelivery } from "../webhooks/ports.ts";
import { connectPostgres, openPostgres } from "./postgres.ts";

setDefaultTimeout(60_000); // starting a server may take long on a busy machine

/**
 * Read before the caller is known, or across organizations: hidden only from statements that name other organizations.
 */
const ofTheServer = [
  "api_key",
  "audit",
  "file_bytes",
  "removal",
  "schedule",
  "webhook_due",
  "webhook_presence",
  "webhook_queue",
];
/** The tables of organizations, and how many rows each test organization has there. */
const rowsOf: Record<string, number> = {
  '"user"': 2,
  conversation: 1,
  participant: 2,
  event: 3,
  delivery: 1,
  audience: 1,
  scheduled_send: 1,
  proposal: 1,
  webhook: 1,
  webhook_delivery: 1,
  file: 1,
  attachment: 1,
  hidden_message: 1,
};
const tables = Object.keys(rowsOf);

const keyOf = (org: string | null): NewKey => ({
  id: createId(),
  name: "k",
  digest: "d",
  pepper: "p",
  createdAt: 1,
  scopes: [],
  org,
  senders: null,
  networks: null,
  expiresAt: null,
});

const proposalOf = (): NewProposal => ({
  id: "proposed",
  kind: "message",
  cid: undefined,
  sender: "alice",
  request: "{}",
  fingerprint: "f",
  reason: null,
  keyId: "k",
  createdAt: 1,
  expiresAt: 2,
  mostWaiting: 1,
});

const scheduledOf = (): NewScheduledSend => ({
  id: "later",
  sendAt: 2,
  request: "{}",
  sender: "alice",
  fingerprint: "f",
  revision: createId(),
  keyId: "k",
  now: 1,
  replaces: undefined,
  mostWaiting: 1,
});

const webhookOf = (): NewWebhook => ({
  id: "push",
  ref: createId(),
  url: "https://example.org/",
  events: ["message.unreached"],
  waitMs: 1,
  until: "delivered",
  secret: "s",
  now: 1,
  most: 1,
});

const webhookDeliveryOf = (org: string): WebhookDelivery => ({
  org,
  webhook: "push",
  id: "d",
  state: "failed",
  eventId: null,
  part: 1,
  parts: 1,
  unreached: "[]",
  waitedMs: 1,
  createdAt: 1,
  tries: 1,
  nextTryAt: null,
  lastTry: null,
  expiresAt: 1,
});

const fileOf = (org: string) => ({
  ...{ org, id: "f", name: "a", now: 1, keepUntil: 2 },
  ...{ bytesId: `bytes of ${org}`, size: 1, sha256: "x", contentType: "text/plain" },
});

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());

  /**
   * Opens a database with two organizations that hold the same ids, and a node's connection to it with these settings.
   */
  async function openTwo(settings: Record<string, string> = {}): Promise<Driver & AsyncDisposable> {
    const url = (await postgres?.createDatabase()) ?? "";
    await using superuser = new SQL(postgres?.asSuperuser(url) ?? "", { max: 1 });
    const name = new URL(url).pathname.slice(1);
    for (const [key, value] of Object.entries(settings))
      await superuser.unsafe(`ALTER DATABASE "${name}" SET ${key} = ${value}`);
    const driver = connectPostgres(url);
    await migrateStore(driver);
    const writes = createTestWrites(driver);
    const { organizations, users, conversations, deliveries, files, schedule, proposals, webhooks, webhookDeliveries } =
      writes;
    for (const org of ["o1", "o2"]) {
      await organizations.put(org, undefined, 1);
      await users.put(org, "alice", `alice of ${org}`, 1);
      await conversations.put(org, "room", { participants: ["alice", "bob"] }, 1);
      await schedule.put(org, scheduledOf());
      await proposals.put(org, proposalOf());
      await webhooks.put(org, webhookOf());
      await webhookDeliveries.add(webhookDeliveryOf(org));
      await deliveries.record({ audiences: [audienceOf(org)], deliveries: [deliveryOf(org, 1)] });
      await files.begin(org, `bytes of ${org}`, 1);
      await files.create(fileOf(org));
      const file = { id: "f", name: "a", contentType: "text/plain", size: 1, isGiven: true };
      const sent = messageOf(org, { cid: "room", sender: "alice", files: [file], createdAt: 1 });
      await writes.batches.appendAll([sent]);
      const hiding = { org, sender: "bob", eventId: createId(), at: 1, keyId: "k", cid: "room", ids: [sent.id] };
      await writes.hidings.hide(hiding);
    }
    return { ...driver, [Symbol.asyncDispose]: driver.close };
  }

  describe("row-level security on PostgreSQL: a statement that forgets the organization", () => {
    test.each(tables)("sees nothing of %s on a reader's connection, whatever ran there before", async (table) => {
      await using driver = await openTwo();
      const forgetful = `SELECT * FROM ${table}`;
      // More than there are connections, so that each of them has read for an organization.
      const scoped = await Promise.all(
        Array.from({ length: 40 }, (_, index) => driver.allOf(`o${(index % 2) + 1}`, forgetful)),
      );
      for (const [index, rows] of scoped.entries()) {
        const org = `o${(index % 2) + 1}`;
        expect(rows.map((row) => row.org)).toEqual(Array.from({ length: rowsOf[table] ?? 0 }, () => org));
      }
      const all = await Promise.all(Array.from({ length: 40 }, () => driver.all(forgetful)));
      expect(all.flat()).toEqual([]);
    });

    test.each(tables)(
      "sees all organizations in %s if it asks for that, and the next one on the connection none",
      async (table) => {
        await using driver = await openTwo();
        const { organizations } = createTestWrites(driver);
        await organizations.remove("o2", 2); // its rows are still there
        const forgetful = `SELECT * FROM ${table} ORDER BY org`;
        const asked = await Promise.all(Array.from({ length: 40 }, () => driver.allOfEvery(forgetful)));
        for (const rows of asked) expect(new Set(rows.map(({ org }) => org))).toEqual(new Set(["o1", "o2"]));
        expect((await Promise.all(asked.map(() => driver.all(forgetful)))).flat()).toEqual([]);
      },
    );

    test.each([
      { enable_nestloop: "off" },
      { enable_hashjoin: "off", enable_mergejoin: "off", enable_material: "off" },
      { plan_cache_mode: "force_generic_plan" },
      { plan_cache_mode: "force_custom_plan" },
    ])("sees all rows of its own, in the requested order, when PostgreSQL plans with %j", async (settings) => {
      await using driver = await openTwo(settings);
      for (const order of ["ASC", "DESC"]) {
        const read = () => driver.allOf<Row>("o1", `SELECT org, id, name FROM "user" ORDER BY id ${order} LIMIT 5`);
        const alice = { org: "o1", id: "alice", name: "alice of o1" };
        const bob = { org: "o1", id: "bob", name: null };
        const expected = order === "ASC" ? [alice, bob] : [bob, alice];
        for (let time = 0; time < 10; time++) expect(await read()).toEqual(expected); // PostgreSQL may change the plan after five runs
      }
    });

    test("sees nothing of another organization by its name, nor by a text that looks like several", async () => {
      await using driver = await openTwo();
      const find = `SELECT name FROM "user" WHERE org = ?`;
      expect(await driver.allOf("o1", find, "o2")).toBeEmpty();
      for (const org of ['o1","o2', '["o1","o2"]', "o1,o2", "*", "%", "o1\u001fo2", "", "o1'--"])
        expect(await driver.allOf(org, `SELECT name FROM "user"`)).toBeEmpty();
    });

    test("writes nothing in a transaction that names no organization, and only there in one that does", async () => {
      await using driver = await openTwo();
      const rename = `UPDATE "user" SET name = 'overwritten'`;
      expect(await driver.transaction((sql) => sql.run(rename))).toBe(0);
      const changed = await driver.transaction(async (sql) => {
        await sql.limitTo(["o2", "nowhere"]);
        return [
          await sql.run(rename),
          await sql.run("DELETE FROM event"),
          await sql.run("DELETE FROM event WHERE org = 'o1'"),
        ];
      });
      expect(changed).toEqual([2, 3, 0]);
      expect((await driver.allOf<Row>("o1", `SELECT name FROM "user" ORDER BY id`)).map(({ name }) => name)).toEqual([
        "alice of o1",
        null,
      ]);
    });

    test.each(ofTheServer)("sees in %s the server's rows, and of organizations those it names", async (table) => {
      await using driver = await openTwo();
      const { audit, batches, conversations, keys, organizations, schedule, webhooks, webhookDeliveries } =
        createTestWrites(driver);
      for (const org of ["o1", "o2", "never made", null]) {
        await audit.append([{ ...entryAt(1), org }]);
        if (org !== "never made") await keys.create(keyOf(org));
      }
      for (const org of ["o3", "o4"]) {
        await organizations.put(org, undefined, 1);
        await schedule.put(org, scheduledOf());
        await conversations.put(org, "c1", { participants: ["u1"] }, 1);
        await webhooks.put(org, { ...webhookOf(), events: ["message.unreached", "users.presence"] });
        await webhookDeliveries.add(webhookDeliveryOf(org));
        await batches.appendAll([messageOf(org)]);
        await webhookDeliveries.restart({ org, webhook: "push", id: "d" }, { now: 1, expiresAt: 2 });
        await organizations.remove(org, 2);
      }
      const read = `SELECT DISTINCT org FROM ${table}`;
      const all = (await driver.all<{ org: string | null }>(read)).map(({ org }) => org);
      expect(all.length).toBeGreaterThanOrEqual(2);
      for (const one of ["o1", "o3"]) {
        const seen = (await driver.allOf<{ org: string | null }>(one, read)).map(({ org }) => org);
        expect(new Set(seen)).toEqual(new Set(all.filter((org) => org === one || org === null)));
      }
      await driver.transaction(async (sql) => {
        await sql.limitTo(["o1"]);
        expect(await sql.run(`DELETE FROM ${table} WHERE org = 'o2' OR org = 'o4'`)).toBe(0);
      });
    });

    test("cannot insert a row into an organization that its transaction does not name, nor move one there", async () => {
      await using driver = await openTwo();
      for (const write of [
        `INSERT INTO "user" (org, id, created_at) VALUES ('o2', 'mallory', 1)`,
        `UPDATE conversation SET org = 'o2', id = 'moved' WHERE org = 'o1'`,
      ]) {
        const attempt = driver.transaction(async (sql) => {
          await sql.limitTo(["o1"]);
          await sql.run(write);
        });
        await expect(attempt).rejects.toMatchObject({ cause: { errno: "42501" } });
      }
    });
  });

  test("every table with an `org` has a policy that applies even to its owner", async () => {
    await using driver = await openTwo();
    const rows = await driver.all<{ name: string; is_walled: number }>(
      `SELECT c.relname AS name, CAST(c.relrowsecurity AND c.relforcerowsecurity
         AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid) AS int) AS is_walled
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org'
       WHERE c.relkind = 'r' AND c.relnamespace = CAST('public' AS regnamespace)`,
    );
    expect(rows.length).toBeGreaterThanOrEqual(tables.length);
    expect(rows.filter(({ is_walled }) => is_walled !== 1)).toBeEmpty();
  });

  test("a node is told if its database user is exempt from the policies", async () => {
    const url = await postgres.createDatabase();
    const plain = await openPostgres(url, () => undefined);
    const superuser = await openPostgres(postgres.asSuperuser(url), () => undefined);
    expect([plain.advice, superuser.advice]).toEqual([undefined, expect.stringContaining("row-level security")]);
    await plain.close();
    await superuser.close();
  });
}
