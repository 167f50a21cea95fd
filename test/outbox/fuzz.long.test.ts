import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { spoil } from "../fuzz/json.ts";
import { eventually } from "../harness/deadline.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { createRandom } from "../harness/random.ts";
import { errorsLogged, runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const cases = Number(process.env.OUTBOX_CASES ?? 1_500);
const postgres = await startPostgres();

describe.skipIf(postgres === undefined)("the outbox", () => {
  test("sends or refuses any JSON that herald.send takes, and goes on", async () => {
    if (postgres === undefined) return;
    await using starting = new AsyncDisposableStack();
    starting.defer(() => postgres.stop());
    const url = await postgres.createDatabase();
    const sql = new SQL(url, { max: 1 });
    starting.defer(() => sql.close());
    await sql.unsafe((await runHerald(["outbox", "sql"])).stdout);
    const herald = starting.use(await startHerald({ env: { HERALD_OUTBOX_URL: url } }));
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    const system = { uids: ["bob"], x: { a: 1 } };
    const requests = [
      { organizationId: org.id, senderId: "alice", message: { cid, body: "a", x: { a: [1] }, id: "1" } },
      { organizationId: org.id, senderId: "alice", message: { cid, attachments: [{ name: "a" }] } },
      { organizationId: org.id, senderId: "alice", messageSystem: system },
    ];

    const random = createRandom();
    let taken = 0;
    for (let number = 0; number < cases; number++) {
      const request =
        random.integer(0, 9) === 0 ? JSON.stringify(random.pick(requests)) : spoil(random, random.pick(requests));
      try {
        await sql`SELECT herald.send(${request}::text::jsonb)`;
        taken++;
      } catch (error) {
        expect({ seed: random.seed, number, error }).toMatchObject({ error: { code: "ERR_POSTGRES_SERVER_ERROR" } });
      }
    }
    const large = { ...requests[2], messageSystem: { ...system, x: { a: "x".repeat(8 * 1024 * 1024) } } };
    await sql`SELECT herald.send(${JSON.stringify(large)}::text::jsonb)`;
    taken++;
    const countIn = async (table: string) =>
      (await sql.unsafe(`SELECT count(*)::int AS count FROM herald.${table}`))[0].count;
    const isEmpty = async () => (await countIn("outbox")) === 0 || undefined;
    try {
      await eventually(isEmpty, "the outbox to be empty", 30_000);
    } catch (cause) {
      const stuck = await sql`SELECT left(request::text, 300) AS request FROM herald.outbox ORDER BY position LIMIT 3`;
      throw new Error(`seed ${random.seed}: ${JSON.stringify(stuck)} ${errorsLogged(herald).join("\n")}`, { cause });
    }
    const metrics = await (await fetch(`${herald.url}/metrics`)).text();
    const [, sent = ""] = /herald_outbox_sends_total\{result="sent"\} (\d+)/.exec(metrics) ?? [];
    const refused = await countIn("outbox_refused");
    const [last] = await sql`SELECT problem->>'code' AS code FROM herald.outbox_refused ORDER BY position DESC LIMIT 1`;
    expect(last.code).toBe("payload_too_large");
    expect({ seed: random.seed, total: Number(sent) + refused }).toEqual({ seed: random.seed, total: taken });
    expect({ seed: random.seed, errors: errorsLogged(herald) }).toEqual({ seed: random.seed, errors: [] });
    expect(Math.min(refused, Number(sent))).toBeGreaterThan(cases / 50);

    const good = { organizationId: org.id, senderId: "alice", message: { cid, body: "and goes on" } };
    await sql`SELECT herald.send(${JSON.stringify(good)}::text::jsonb)`;
    await eventually(async () => (await bob.next()).message?.body === "and goes on" || undefined, "the last message");
  });
});
