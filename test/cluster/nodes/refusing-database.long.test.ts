import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { eventually } from "../../harness/deadline.ts";
import { plannedOnce, startPostgres } from "../../harness/engines/postgres.ts";
import { errorsLogged, type Herald, startHerald, TEST_TOKEN_SECRET } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const postgres = await startPostgres({ settings: plannedOnce });
if (postgres !== undefined) {
  afterAll(postgres.stop);

  /** A node on a database of its own, and a connection of the superuser to that database. */
  const startOn = async (prepare: (admin: SQL, name: string) => Promise<unknown> = async () => undefined) => {
    await using starting = new AsyncDisposableStack();
    const url = await postgres.createDatabase();
    const name = new URL(url).pathname.slice(1);
    const admin = starting.adopt(new SQL(postgres.asSuperuser(url), { max: 1 }), (sql) => sql.close());
    await prepare(admin, name);
    const env = { HERALD_DATABASE_URL: url, HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET };
    const node = starting.use(await startHerald({ env }));
    const org = await createOrganization(node);
    const cid = await org.conversation(["alice"]);
    const all = starting.move();
    return { node, org, cid, admin, name, [Symbol.asyncDispose]: () => all.disposeAsync() };
  };

  const sendAll = async (org: Organization, cid: string, count: number) => {
    const sends = Array.from({ length: count }, (_, index) => org.send("alice", { cid, body: `message ${index}` }));
    return (await Promise.all(sends)).map(({ status, headers, body }) => ({ status, headers, body }));
  };

  type Health = { checks: Record<string, string> };
  const readiness = async (node: Herald) => {
    const { status, body } = await node.http<Health>("GET", "/readyz");
    return { status, store: body.checks.store };
  };
  const untilReady = (node: Herald) =>
    eventually(async () => ((await readiness(node)).status === 200 ? true : undefined), "the node to be ready");
  const untilUnready = (node: Herald, reason: RegExp) =>
    eventually(async () => {
      const { status, store = "" } = await readiness(node);
      return (status === 503 && reason.test(store)) || undefined;
    }, `the node not to be ready, as ${reason} says`);
  /** What the log says about the database: the levels and texts of its lines. */
  const toldOfDatabase = (node: Herald) =>
    node.logLines().flatMap(({ dependency, level }) => (dependency === "database" ? [level] : []));

  describe("a database that refuses", () => {
    test("to write: sends are 503, the node is not ready and says why, and one line tells of each end", async () => {
      await using stage = await startOn();
      const { node, org, cid, admin, name } = stage;
      await admin.unsafe(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      await endSessions(admin);
      const answers: Awaited<ReturnType<typeof sendAll>> = [];
      for (let round = 0; round < 20; round++) answers.push(...(await sendAll(org, cid, 5)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      for (const { headers } of answers) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      await untilUnready(node, /read-only/);
      await admin.unsafe(`ALTER DATABASE ${name} RESET default_transaction_read_only`); // sessions keep what they have
      await untilReady(node);
      expect((await sendAll(org, cid, 20)).map(({ status }) => status)).toEqual(Array(20).fill(201));
      await node.stop();
      expect(toldOfDatabase(node)).toEqual([40, 30]);
      expect(errorsLogged(node)).toEqual([]);
    });

    test("for a moment: canceled statements are 503 and never 500", async () => {
      await using stage = await startOn();
      const { node, org, cid, admin } = stage;
      const statuses = new Set<number>();
      let isOver = false;
      const cancelling = (async () => {
        while (!isOver) await admin.unsafe(cancelOften);
      })();
      const change = async (index: number) => {
        const { status } = await node.admin("PUT", org.path("users", `user ${index}`), { name: String(index) });
        statuses.add(status === 200 ? 201 : status);
      };
      for (let round = 0; round < 400 && !(round > 60 && statuses.has(503)); round++) {
        const changing = Promise.all(Array.from({ length: 10 }, (_, index) => change(index)));
        for (const { status } of await sendAll(org, cid, 10)) statuses.add(status);
        await changing;
      }
      isOver = true;
      await cancelling;
      expect(statuses.has(503)).toBe(true);
      expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([]);
      await untilReady(node);
      expect(errorsLogged(node)).toEqual([]);
    });

    test.each([
      ["0", "wait"],
      ["500ms", "are 503"],
    ])("to unlock a table, with a lock_timeout of %s: sends %s, and never are 500 or lost", async (timeout, what) => {
      await using stage = await startOn((admin, name) =>
        admin.unsafe(`ALTER DATABASE ${name} SET lock_timeout = '${timeout}'`),
      );
      const { node, org, cid, admin } = stage;
      const acknowledged: string[] = [];
      const others: Awaited<ReturnType<typeof sendAll>> = [];
      const waiting: Promise<void>[] = [];
      const send = async () => {
        const { status, headers, body } = await org.send("alice", { cid, body: "behind a lock" });
        if (status === 201) acknowledged.push(body.ask.server_mid);
        else others.push({ status, headers, body });
      };
      await admin.begin(async (sql) => {
        await sql.unsafe("LOCK TABLE event IN ACCESS EXCLUSIVE MODE");
        for (let index = 0; index < 20; index++) waiting.push(send());
        await untilUnready(node, /locks hold them up|sends have been waiting/);
        for (let index = 0; index < 20; index++) waiting.push(send()); // some outlive the lock
        if (what === "are 503") await eventually(() => others[0], "a send to be refused");
      });
      await Promise.all(waiting);
      await untilReady(node);
      expect(others.filter(({ status }) => status !== 503)).toEqual([]);
      for (const { headers } of others) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      await send();
      expect(acknowledged.length + others.length).toBe(41);
      const { body } = await node.admin<{ items: { _id: string }[] }>(
        "GET",
        `${org.path("conversations", cid, "messages")}?limit=100`,
      );
      const stored = body.items.map(({ _id }) => _id);
      expect(stored).toContainAllValues(acknowledged);
      expect(errorsLogged(node)).toEqual([]);
    });

    test("its usual isolation level changes nothing: transactions say which they need", async () => {
      await using stage = await startOn((admin, name) =>
        admin.unsafe(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`),
      );
      const { org, cid } = stage;
      for (let round = 0; round < 20; round++) {
        const changing = Promise.all(Array.from({ length: 10 }, (_, index) => org.user(`user ${round} ${index}`)));
        expect((await sendAll(org, cid, 20)).map(({ status }) => status)).toEqual(Array(20).fill(201));
        await changing;
      }
    });

    test("a table: sends are 503 with a cause, and the node is not ready until it may write again", async () => {
      await using stage = await startOn();
      const { node, org, cid, admin } = stage;
      await admin`REVOKE INSERT ON event FROM herald`;
      expect((await sendAll(org, cid, 1)).map(({ status }) => status)).toEqual([503]);
      await untilUnready(node, /permission/);
      await admin`GRANT INSERT ON event TO herald`;
      await untilReady(node);
      expect((await sendAll(org, cid, 1)).map(({ status }) => status)).toEqual([201]);
      expect(errorsLogged(node)).toEqual([]);
    });
  });

  const cancelOften = `DO $$ BEGIN FOR i IN 1..200 LOOP
    PERFORM pg_cancel_backend(pid) FROM pg_stat_get_activity(NULL) WHERE application_name = 'herald';
  END LOOP; END $$`;

  async function endSessions(admin: SQL): Promise<void> {
    await admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'herald'`;
  }
}
