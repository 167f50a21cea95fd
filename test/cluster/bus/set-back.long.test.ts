import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { expectClosed } from "../../harness/clients/socket.ts";
import { startPostgres } from "../../harness/engines/postgres.ts";
import { startCluster } from "../../harness/servers/cluster.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const foundWithinMs = 20_000; // a head check every 5 s, and slack for a busy machine

/** Removes the last events of an organization's log, as if a lagging standby had taken over. */
async function loseLast(url: string, org: string, count: number): Promise<void> {
  await using sql = new SQL(url, { max: 1 });
  await sql.begin(async (transaction) => {
    await transaction.unsafe("SELECT set_config('herald.orgs', $1, true)", [JSON.stringify([org])]);
    await transaction.unsafe("UPDATE organization SET head = head - $2 WHERE id = $1", [org, count]);
    await transaction.unsafe(
      `DELETE FROM event USING organization o WHERE o.id = $1 AND event.org = o.id AND event."offset" > o.head`,
      [org],
    );
    await transaction.unsafe(
      `UPDATE organization o SET head_id = e.id, head_id_offset = e."offset" FROM event e
       WHERE o.id = $1 AND e.org = o.id AND e."offset" = o.head`,
      [org],
    );
  });
}

const postgres = await startPostgres();
if (postgres !== undefined) {
  afterAll(() => postgres.stop());

  describe("a database that lost its last commits", () => {
    for (const sentSince of [0, 3, 10, 15])
      test(`leaves nobody in silence: with ${sentSince} messages after 10 were lost, connections rejoin and hear them all`, async () => {
        await using cluster = await startCluster({ nodes: 1, postgres, nats: null });
        const node = cluster.node(0).herald;
        const [org, other] = [await createOrganization(node), await createOrganization(node)];
        const cid = await org.conversation(["alice", "bob"]);
        const [bob, bystander] = [await org.socket("bob"), await other.socket("carol")];
        const ids: string[] = [];
        for (let index = 0; index < 20; index++) {
          await org.sent("alice", { cid, body: `before ${index}` });
          const event = await bob.next();
          ids.push("message" in event ? event.message._id : "");
        }
        await loseLast(cluster.databaseUrl, org.id, 10);
        const bodies = Array.from({ length: sentSince }, (_, index) => `after ${index}`);
        for (const body of bodies) await org.sent("alice", { cid, body });
        await expectClosed(bob, 1012, foundWithinMs);

        const { response: gone } = await org.connect("bob", { since: ids[19] ?? "" });
        expect(gone.recovered).toBe(false);
        const { socket, response } = await org.connect("bob", { since: ids[9] ?? "" });
        expect(response.recovered).toBe(true);
        await org.sent("alice", { cid, body: "the last" });
        const heard: string[] = [];
        while (heard.at(-1) !== "the last") {
          const event = await socket.next();
          if ("message" in event) heard.push(event.message.body ?? "");
        }
        expect(heard).toEqual([...bodies, "the last"]);
        await bystander.expectSilence(); // it lost nothing, and stays
        expect(await (await fetch(`${node.url}/metrics`)).text()).toContain("herald_log_breaks_total 1\n");
        await node.stop();
      });
  });
}
