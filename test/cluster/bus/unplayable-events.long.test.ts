import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { createId } from "../../../src/lib/text/ids.ts";
import { eventually } from "../../harness/deadline.ts";
import { startPostgres } from "../../harness/engines/postgres.ts";
import { readMetrics, sampleOf } from "../../harness/reading/metrics.ts";
import { startCluster } from "../../harness/servers/cluster.ts";
import { errorsLogged } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());

  test("unplayable events are skipped, logged once and counted, and the organization continues", async () => {
    await using cluster = await startCluster({ nodes: 1, postgres, nats: null });
    const { herald } = cluster.node(0);
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"]);
    const bob = await org.socket("bob");
    await org.sent("alice", { cid, body: "before" });
    expect((await bob.next()).message?.body).toBe("before");

    const unplayable = [
      { kind: "membership", payload: "no JSON", uids: null },
      { kind: "membership", payload: '{"added":"bob"}', uids: null },
      { kind: "session", payload: "null", uids: null },
      { kind: "message", payload: "{", uids: null },
      { kind: "message", payload: '{"system_message":{}}', uids: null },
      { kind: "system", payload: '{"system_message":{}}', uids: "no JSON" },
      { kind: "system", payload: "[]", uids: '["bob"]' },
    ];
    const last = await org.sent("alice", { cid, body: "seen" });
    expect((await bob.next()).message?.body).toBe("seen");
    await using sql = new Bun.SQL(postgres.asSuperuser(cluster.databaseUrl), { max: 1 });
    for (const { kind, payload, uids } of unplayable) {
      const id = createId();
      await sql`INSERT INTO event (org, "offset", kind, id, cid, uids, payload, created_at)
        SELECT id, head + 1, ${kind}, ${id}, ${cid}, ${uids}, ${payload}, 0 FROM organization WHERE id = ${org.id}`;
      await sql`UPDATE organization SET head = head + 1, head_id = ${id}, head_id_offset = head + 1 WHERE id = ${org.id}`;
    }
    await org.sent("alice", { cid, body: "after" });
    expect((await bob.next()).message?.body).toBe("after");

    const late = await org.socket("bob");
    const since = await org.socket("bob", { since: last.server_mid });
    expect((await since.next()).message?.body).toBe("after");
    await org.sent("alice", { cid, body: "to all" });
    for (const socket of [bob, late, since]) expect((await socket.next()).message?.body).toBe("to all");
    const said = ["to all", "after", "seen", "before"];
    expect((await org.history(cid)).map(({ body }) => body)).toEqual(said);
    const { messages = [] } = await bob.request("message_list", { cid });
    expect(messages.map(({ body }) => body)).toEqual(said);

    const told = () =>
      errorsLogged(herald).filter((line) => line.includes("cannot be delivered and is skipped")).length;
    await eventually(
      () => told() === unplayable.length || undefined,
      () => `${unplayable.length} lines, not ${told()}`,
    );
    const metrics = async () => readMetrics((await herald.http<string>("GET", "/metrics")).text).samples;
    await eventually(
      async () => sampleOf(await metrics(), "herald_events_passed_over_total") === unplayable.length || undefined,
      "the count of what was skipped",
    );
    // A head check that came between two of the inserts told of a lag; the next one does not.
    await eventually(async () => sampleOf(await metrics(), "herald_sequencer_lag_events") === 0 || undefined, "no lag");
  });
}
