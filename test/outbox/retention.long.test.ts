import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { eventually } from "../harness/deadline.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { createSteppedClock } from "../harness/engines/stepped-clock.ts";
import { startNode } from "../harness/servers/cluster.ts";
import { runHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const secondsOfDay = 86_400;
const postgres = await startPostgres();
const clock = createSteppedClock();

describe.skipIf(postgres === undefined || clock === undefined)("ids that are kept for a day", () => {
  if (postgres === undefined || clock === undefined) return;

  test("are kept for longer while the outbox has a row that may have been sent", async () => {
    await using starting = new AsyncDisposableStack();
    starting.use(clock);
    starting.defer(() => postgres.stop());
    const url = await postgres.createDatabase();
    const sql = new SQL(url, { max: 1 });
    starting.defer(() => sql.close());
    await sql.unsafe((await runHerald(["outbox", "sql"])).stdout);
    await sql.unsafe(`
      CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
      CREATE TRIGGER keep BEFORE DELETE ON herald.outbox EXECUTE FUNCTION keep()`);
    const env = {
      ...clock.env,
      HERALD_OUTBOX_URL: url,
      HERALD_RETENTION_IDS_DAYS: "1",
      HERALD_PORT: String(freePort()),
    };
    const node = starting.use(await startNode({ env }));
    const org = await createOrganization(node.herald);
    const cid = await org.conversation(["alice"]);
    const bodies = async () => (await org.history(cid)).map(({ body }) => body).reverse();
    const isThere = (count: number) => async () => (await bodies()).length >= count || undefined;
    const sendOld = () => org.sent("alice", { id: "old", cid, body: "old" });

    const { server_mid: before } = await sendOld();
    clock.set(5 * secondsOfDay);
    const row = { organizationId: org.id, senderId: "alice", message: { cid, body: "row" } };
    await sql`SELECT herald.send(${JSON.stringify(row)}::text::jsonb)`;
    await eventually(isThere(2), "the row to be sent");

    await node.stop();
    clock.set(8 * secondsOfDay);
    await sql`UPDATE herald.outbox SET created_at = created_at - interval '3 days'`;
    await node.start(); // which forgets ids
    await eventually(async () => (await sendOld()).server_mid !== before || undefined, "older ids to be forgotten");
    await sql.unsafe("DROP TRIGGER keep ON herald.outbox");
    const isEmpty = async () => (await sql`SELECT FROM herald.outbox`).length === 0 || undefined;
    await eventually(isEmpty, "the row to be removed");
    expect(await bodies()).toEqual(["old", "row", "old"]);
  });
});
