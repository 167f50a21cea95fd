import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../harness/engines/free-port.ts";
import { startCluster } from "../harness/servers/cluster.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { startLoad } from "../harness/servers/load.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { listenWithSdk } from "./listening.ts";

setDefaultTimeout(120_000);

const LIFTED = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
  HERALD_LIMIT_RECOVERY_MESSAGES: "100000",
};

test("a client survives stopped and killed servers, and hears everything acknowledged, once and in order", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "herald-sdk-restarts-"));
  const env = {
    ...LIFTED,
    HERALD_PORT: String(freePort()),
    HERALD_TOKEN_SECRET: "a secret that outlives the restarts",
  };
  const acknowledged: string[] = [];
  try {
    await using stack = new AsyncDisposableStack();
    let app: ReturnType<typeof listenWithSdk> | undefined;
    for (let round = 0; round < 6; round++) {
      await using herald = await startHerald({ dataDir, env });
      const org = await createOrganization(herald, "org");
      const cid = await org.conversation(["sender", "alice"], "room");
      if (app === undefined) {
        app = stack.use(listenWithSdk(org, "alice", herald.url));
        await app.untilConnected();
      }
      const sends = Array.from({ length: 20 }, async () => (await org.sent("sender", { cid, body: "x" })).server_mid);
      acknowledged.push(...(await Promise.all(sends)));
      // In half of the rounds it hears them live, in the other half only once the next server runs.
      if (round % 2 === 0) {
        for (const id of acknowledged) await app.until(id);
      }
      if (round % 3 === 0) await herald.stop();
      else await herald.kill();
    }
    await using last = await startHerald({ dataDir, env });
    const org = await createOrganization(last, "org");
    const end = await org.sent("sender", { cid: "room", body: "the end" });
    await app?.until(end.server_mid);
    const history = (await org.history("room")).map(({ _id }) => _id).reverse();
    expect(app?.ids).toEqual(history);
    expect(history).toEqual(expect.arrayContaining(acknowledged));
    expect(app?.gaps.all).toEqual([]);
    await last.stop();
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

const cluster = await startCluster({ nodes: 2, env: () => LIFTED });
if (cluster !== undefined) {
  test("clients of every node survive a rolling restart under load without a gap, a duplicate or a change of order", async () => {
    await using running = cluster;
    const [first, second] = [running.node(0), running.node(1)];
    const org = await createOrganization(first.herald);
    const cid = await org.conversation(["sender", "alice", "bob"]);
    const tokens = { alice: await org.token("alice"), bob: await org.token("bob") };
    using alice = listenWithSdk(org, "alice", first.url, { token: () => tokens.alice });
    using bob = listenWithSdk(org, "bob", second.url, { token: () => tokens.bob });
    await Promise.all([alice.untilConnected(), bob.untilConnected()]);
    const start = await org.sent("sender", { cid, body: "the first" });
    await Promise.all([alice, bob].map((app) => app.until(start.server_mid)));
    for (const [restarted, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const load = startLoad(await createOrganization(other.herald, org.id), cid, "sender", 2);
      await restarted.restart();
      await load.stop();
    }
    const last = await (await createOrganization(second.herald, org.id)).sent("sender", { cid, body: "the last" });
    await Promise.all([alice, bob].map((app) => app.until(last.server_mid)));
    expect(alice.ids).toEqual(bob.ids);
    expect(new Set(alice.ids).size).toBe(alice.ids.length);
    const history = await (await createOrganization(second.herald, org.id)).history(cid);
    expect(alice.ids).toEqual(history.map(({ _id }) => _id).reverse());
    expect([...alice.gaps.all, ...bob.gaps.all]).toEqual([]);
  });
}
