import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { freePort } from "../../harness/engines/free-port.ts";
import { useEngines } from "../../harness/engines.ts";
import { createRandom } from "../../harness/random.ts";
import { type ClusterNode, startCluster, startNode } from "../../harness/servers/cluster.ts";
import { TEST_TOKEN_SECRET } from "../../harness/servers/herald.ts";
import { openLedger } from "./ledger.ts";

setDefaultTimeout(3_600_000);

/** `HERALD_WEBHOOK_SENDS=100000` runs it at full size; `--test-name-pattern SQLite` only on that engine. */
const sendsOn = (engine: string) => Number(process.env.HERALD_WEBHOOK_SENDS ?? (engine === "SQLite" ? 400 : 1_200));
const sendsAtOnce = 100;
const mostKills = 5;
const batchesBetweenKills = 4;
const awayMs = 2_000;
const env = { HERALD_WEBHOOK_ALLOW_PRIVATE: "1" };
const engines = await useEngines();

/** Sends to nodes that are killed one after another, then compares what a receiver was told with the reports. */
async function runLedger(engine: string, nodes: readonly ClusterNode[]): Promise<void> {
  const random = createRandom();
  const startedAt = performance.now();
  const sends = sendsOn(engine);
  console.log(`webhooks under faults, ${engine}: ${sends} sends, TEST_SEED=${random.seed}`);
  using ledger = await openLedger({ nodes, waitSeconds: 3, webhooks: ["push"] });
  const push = ledger.end("push");
  const stopListening = await ledger.listen();
  const batches = Math.ceil(sends / sendsAtOnce);
  const kills = Math.min(mostKills, Math.ceil(batches / batchesBetweenKills));
  const killAt = new Set(Array.from({ length: kills }, (_, index) => Math.floor(((index + 0.5) * batches) / kills)));
  let coming = Promise.resolve();
  for (let batch = 0; batch < batches; batch++) {
    await ledger.send(Math.min(sendsAtOnce, sends - batch * sendsAtOnce), random);
    await Bun.sleep(random.integer(0, 400)); // spreads sends over time, so that some are due at each moment
    if (!killAt.has(batch)) continue;
    await coming;
    const node = random.pick(nodes);
    await node.kill();
    coming = Bun.sleep(random.integer(200, 2_000)).then(() => node.start());
  }
  // The receiver is away for a moment while much is due.
  const comeBack = push.leave();
  await Bun.sleep(awayMs);
  comeBack();
  await coming;
  const { unreached, reached } = await ledger.check(60_000 + sends * 10);
  stopListening();
  const { posts, again, refused } = push.figures();
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(
    `webhooks under faults, ${engine}: ${unreached} unreached, ${reached} reached, ${posts} posts, ${again} of them again, ${refused} refused, ${kills} kills, ${seconds} s`,
  );
  expect(unreached).toBeGreaterThan(sends);
  expect(reached).toBeGreaterThan(sends / 2);
}

describe("every unreached user is told of as the reports say, and none who had it, though a receiver is away and", () => {
  test.concurrent("the node is killed, on SQLite", async () => {
    const own = { HERALD_PORT: String(freePort()), HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET };
    await using node = await startNode({ env: { ...env, ...own } });
    await runLedger("SQLite", [node]);
  });

  test.concurrent.skipIf(engines === undefined)("nodes are killed, on PostgreSQL", async () => {
    if (engines === undefined) return;
    await using cluster = await startCluster({ nodes: 3, ...engines, env: () => env });
    await runLedger("PostgreSQL", cluster.nodes);
  });
});
