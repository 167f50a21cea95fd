import { expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "@nats-io/transport-node";
import { createSigner } from "../../../src/bus/signatures.ts";
import { logSubject } from "../../../src/bus/subjects.ts";
import { eventually } from "../../harness/deadline.ts";
import { useEngines } from "../../harness/engines.ts";
import { startCluster } from "../../harness/servers/cluster.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

setDefaultTimeout(120_000);

const soonMs = 3_000; // sooner than a head check
const takenWithinMs = 60_000;

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  test("nodes that start together share one secret, and an added one replaces it without a hint being dropped", async () => {
    await using cluster = await startCluster({ nodes: 2, postgres, nats });
    await using sql = new Bun.SQL(postgres.asSuperuser(cluster.databaseUrl), { max: 1 });
    const org = await createOrganization(cluster.node(0).herald);
    const cid = await org.conversation(["alice", "bob"]);
    const views = await Promise.all(cluster.nodes.map(({ herald }) => createOrganization(herald, org.id)));
    const bobs = await Promise.all(views.map((view) => view.socket("bob")));

    const overhearing = await connect({ servers: nats.url });
    const texts: string[] = [];
    overhearing.subscribe(logSubject(org.id), { callback: (_, message) => void texts.push(message.string()) });
    await overhearing.flush();

    /** The index of the secret that each node signs with. Everybody soon hears what is sent to each node. */
    async function signedWith(secrets: string[]): Promise<number[]> {
      texts.length = 0;
      for (const view of views) {
        await view.sent("alice", { cid, body: "who signs?" });
        for (const bob of bobs) await bob.next(undefined, "a message", soonMs);
      }
      await eventually(() => texts.length === views.length || undefined, "the hints");
      return texts.map((text) => secrets.findIndex((secret) => verdictOf(secret, org.id, text) === "signed"));
    }

    const rows = await sql<{ secret: string }[]>`SELECT secret FROM bus_secret ORDER BY id`;
    const old = rows.map(({ secret }) => secret);
    expect(old).toHaveLength(1);
    expect(await signedWith(old)).toEqual([0, 0]);

    // As in docs/how-to/run-a-cluster.md.
    await sql.unsafe(`INSERT INTO bus_secret (id, secret, created_at)
      SELECT max(id) + 1, replace(concat(gen_random_uuid(), gen_random_uuid()), '-', ''), extract(epoch FROM now()) * 1000 FROM bus_secret`);
    const both = (await sql<{ secret: string }[]>`SELECT secret FROM bus_secret ORDER BY id`).map(
      ({ secret }) => secret,
    );
    expect(both).toHaveLength(2);
    expect(await signedWith(both)).toEqual([0, 0]);
    const isTaken = async () => Bun.deepEquals(await signedWith(both), [1, 1]) || undefined;
    await eventually(isTaken, "both nodes to sign with the new secret", takenWithinMs);
    await sql.unsafe("DELETE FROM bus_secret WHERE id < (SELECT max(id) FROM bus_secret)");
    expect(await signedWith(both)).toEqual([1, 1]);
    for (const { herald } of cluster.nodes) {
      const { text } = await herald.http<string>("GET", "/metrics");
      expect(text).toContain('herald_bus_hints_dropped_total{reason="forged"} 0');
      expect(text).toContain('herald_bus_hints_dropped_total{reason="unsigned"} 0');
    }
    await overhearing.close();
  });
}

function verdictOf(secret: string, org: string, text: string): string {
  const signer = createSigner({ now: () => 0 });
  signer.take([secret]);
  return signer.verify("hint", logSubject(org), text);
}
