import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { eventually } from "../harness/deadline.ts";
import type { Postgres } from "../harness/engines/postgres.ts";
import { useEngines } from "../harness/engines.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { type Herald, runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

setDefaultTimeout(240_000);

/** The caller's database, with an outbox. */
type Shop = { url: string; sql: SQL };

async function openShop(postgres: Postgres): Promise<Shop> {
  const url = await postgres.createDatabase();
  const { code, stdout } = await runHerald(["outbox", "sql"]);
  expect(code).toBe(0);
  const sql = new SQL(url, { max: 2 });
  await sql.unsafe(stdout);
  await sql.unsafe(stdout); // again, which changes nothing
  return { url, sql };
}

const messageOf = (org: Organization, cid: string, body: string, id?: string) => ({
  organizationId: org.id,
  senderId: "alice",
  message: { cid, body, ...(id !== undefined && { id }) },
});

/** Sends in a transaction that ends as told; returns the id of the send. */
async function send(sql: SQL, request: object): Promise<string> {
  const [row] = await sql`SELECT herald.send(${JSON.stringify(request)}::text::jsonb) AS id`;
  return row.id;
}

/** Commits many sends in one statement, bodies `0` to `count - 1`. */
async function sendMany(sql: SQL, org: Organization, cid: string, count: number): Promise<void> {
  const template = JSON.stringify(messageOf(org, cid, ""));
  await sql`
    SELECT count(herald.send(jsonb_set(${template}::text::jsonb, '{message,body}', to_jsonb(number::text))))
    FROM generate_series(0, ${count - 1}) AS number`;
}

async function waitingIn(sql: SQL): Promise<number> {
  const [row] = await sql`SELECT count(*)::int AS count FROM herald.outbox`;
  return row.count;
}

/** The bodies of a conversation, oldest first, however many. */
async function bodiesOf(herald: Herald, org: Organization, cid: string): Promise<string[]> {
  const bodies: string[] = [];
  for (let cursor = ""; ; ) {
    const path = `${org.path("conversations", cid, "messages")}?limit=1000${cursor && `&cursor=${cursor}`}`;
    const { body } = await herald.admin<{ items: { body: string }[]; cursor: string | null }>("GET", path);
    bodies.push(...body.items.map((item) => item.body));
    if (body.cursor === null) return bodies.reverse();
    cursor = encodeURIComponent(body.cursor);
  }
}

/** Resolves once every row was sent or refused. */
const untilSent = (sql: SQL, ms = 20_000) =>
  eventually(async () => ((await waitingIn(sql)) === 0 ? true : undefined), "the outbox to be empty", ms);

/** Rows that nodes send while they are killed; OUTBOX_ROWS sets another number. */
const rows = Number(process.env.OUTBOX_ROWS ?? 9_000);
const mostKills = 60;
const numbers = (count: number) => Array.from({ length: count }, (_, number) => String(number));
const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  describe("the outbox of a node with an embedded database", () => {
    let shop: Shop;
    let herald: Herald;
    beforeAll(async () => {
      shop = await openShop(postgres);
      herald = await startHerald({ env: { HERALD_OUTBOX_URL: shop.url } });
    });
    afterAll(async () => {
      await herald.stop();
      await herald[Symbol.asyncDispose]();
      await shop.sql.close();
    });

    test("sends what a transaction commits, once, and nothing that it takes back", async () => {
      const org = await createOrganization(herald);
      const cid = await org.conversation(["alice", "bob"]);
      using bob = await org.socket("bob");
      const taken = shop.sql.begin(async (transaction) => {
        await send(transaction, messageOf(org, cid, "never"));
        throw new Error("rolled back");
      });
      await expect(taken).rejects.toThrow("rolled back");
      const id = await send(shop.sql, messageOf(org, cid, "paid"));
      expect((await bob.next()).message?.body).toBe("paid");
      await untilSent(shop.sql);
      const retry = await org.send("alice", { id, cid, body: "paid" }); // the row's id is the send's
      expect([retry.status, retry.headers.get("Idempotent-Replayed")]).toEqual([201, "true"]);
      await org.expectNothingElse(bob);
    });

    test("keeps the id of a request, and sends system messages", async () => {
      const org = await createOrganization(herald);
      const cid = await org.conversation(["alice", "bob"]);
      using bob = await org.socket("bob");
      expect(await send(shop.sql, messageOf(org, cid, "shipped", "order-shipped:7"))).toBe("order-shipped:7");
      expect((await bob.next()).message?.body).toBe("shipped");
      const system = {
        organizationId: org.id,
        senderId: "alice",
        messageSystem: { uids: ["bob"], x: { status: "shipped" } },
      };
      const mid = await send(shop.sql, system);
      expect((await bob.next()).system_message).toMatchObject({ _id: mid, x: { status: "shipped" } });
    });

    test("refuses a request without an operation in the caller's transaction", async () => {
      for (const request of [{}, { organizationId: "o" }, { organizationId: "o", message: {}, messageSystem: {} }, []])
        await expect(send(shop.sql, request)).rejects.toThrow("herald.send: the request needs");
      await untilSent(shop.sql); // what was sent before
    });

    test("keeps what is refused with its problem, and goes on", async () => {
      const org = await createOrganization(herald);
      const cid = await org.conversation(["alice", "bob"]);
      using bob = await org.socket("bob");
      await shop.sql.begin(async (transaction) => {
        await send(transaction, { ...messageOf(org, cid, "of a stranger"), senderId: "mallory" });
        await send(transaction, messageOf(org, cid, "x", "twice"));
        await send(transaction, messageOf(org, cid, "y", "twice"));
        await send(transaction, { ...messageOf(org, cid, "odd"), surprise: true });
        await send(transaction, messageOf(org, cid, "good"));
      });
      expect((await bob.next()).message?.body).toBe("x");
      expect((await bob.next()).message?.body).toBe("good");
      await untilSent(shop.sql);
      const refused = await shop.sql`
        SELECT problem->>'code' AS code, problem->>'detail' AS detail, request->'message'->>'body' AS body
        FROM herald.outbox_refused WHERE organization = ${org.id} ORDER BY position`;
      expect([...refused]).toEqual([
        { code: "sender_not_participant", detail: expect.stringContaining(`\`${cid}\``), body: "of a stranger" },
        { code: "message_id_conflict", detail: expect.stringContaining("`twice`"), body: "y" },
        { code: "invalid_request", detail: expect.any(String), body: "odd" },
      ]);
      const told = herald.logLines().filter(({ row }) => row !== undefined);
      expect(told.map(({ level, code, org: of }) => [level, code, of])).toEqual(
        refused.map(({ code }: { code: string }) => [40, code, org.id]),
      );
    });

    test("sends an organization's rows in their order, while others have their turns", async () => {
      const many = await createOrganization(herald);
      const single = await createOrganization(herald);
      const [hall, room] = [await many.conversation(["alice"]), await single.conversation(["alice", "bob"])];
      using bob = await single.socket("bob");
      await sendMany(shop.sql, many, hall, 5_000);
      await send(shop.sql, messageOf(single, room, "beside many"));
      expect((await bob.next()).message?.body).toBe("beside many");
      expect(await waitingIn(shop.sql)).toBeGreaterThan(0); // it did not wait for all others
      await untilSent(shop.sql, 30_000);
      expect(await bodiesOf(herald, many, hall)).toEqual(numbers(5_000));
    });

    test("says how long rows wait, and what became of them", async () => {
      const metrics = await (await fetch(`${herald.url}/metrics`)).text();
      expect(metrics).toMatch(/herald_outbox_sends_total\{result="sent"\} [1-9]/);
      expect(metrics).toMatch(/herald_outbox_sends_total\{result="refused"\} 3/);
      expect(metrics).toMatch(/herald_outbox_lag_seconds \d/);
    });
  });

  test("an outbox whose database is away, or not set up, disturbs nobody, and is read once it is there", async () => {
    const url = await postgres.createDatabase();
    await using herald = await startHerald({ env: { HERALD_OUTBOX_URL: url } });
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    await eventually(() => herald.logs().includes("herald outbox sql") || undefined, "the log to say what to run");
    await org.sent("alice", { cid, body: "meanwhile" });
    expect((await bob.next()).message?.body).toBe("meanwhile");
    const sql = new SQL(url, { max: 1 });
    await sql.unsafe((await runHerald(["outbox", "sql"])).stdout);
    await send(sql, messageOf(org, cid, "after the setup"));
    expect((await bob.next()).message?.body).toBe("after the setup");
    await postgres.restart(async () => {
      await org.sent("alice", { cid, body: "while it restarts" });
      expect((await bob.next()).message?.body).toBe("while it restarts");
    });
    const again = new SQL(url, { max: 1 });
    await send(again, messageOf(org, cid, "after the restart"));
    expect((await bob.next()).message?.body).toBe("after the restart");
    await Promise.all([sql.close(), again.close()]);
  });

  test("an outbox of three nodes that are killed again and again is sent once and in order", async () => {
    const shop = await openShop(postgres);
    await using cluster = await startCluster({
      nodes: 3,
      postgres,
      nats,
      env: () => ({ HERALD_OUTBOX_URL: shop.url }),
    });
    const orgs = await Promise.all(Array.from({ length: 3 }, () => createOrganization(cluster.node(0).herald)));
    const cids = await Promise.all(orgs.map((org) => org.conversation(["alice"])));
    const count = Math.floor(rows / orgs.length);
    await Promise.all(orgs.map((org, index) => sendMany(shop.sql, org, cids[index] ?? "", count)));
    let kills = 0;
    for (; kills < mostKills && (kills < 5 || (await waitingIn(shop.sql)) > 0); kills++) {
      await Bun.sleep(150);
      await cluster.node(kills % 3).kill();
      await cluster.node(kills % 3).start();
    }
    await untilSent(shop.sql, 100_000);
    for (const [index, org] of orgs.entries())
      expect(await bodiesOf(cluster.node(2).herald, org, cids[index] ?? "")).toEqual(numbers(count));
    console.log(`${rows} rows, ${kills} kills: each was sent once, in order`);
    await shop.sql.close();
  });
}
