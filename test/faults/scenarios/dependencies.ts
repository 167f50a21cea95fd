import { eventually } from "../../harness/deadline.ts";
import { type Postgres, startPostgres } from "../../harness/engines/postgres.ts";
import { s3Settings } from "../../harness/engines/s3.ts";
import type { ClusterNode } from "../../harness/servers/cluster.ts";
import { filesOf } from "../../harness/servers/files.ts";
import { errorsLogged } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";
import { openLedger } from "../outbox/ledger.ts";
import { defineScenario, type Heal } from "../scenario.ts";
import { type ClusterStage, onCluster } from "../stages.ts";

/** A bucket that accepts everything, or refuses it. */
type Bucket = { url: string; isAway: boolean; stop(): void };
type DependencyStage = ClusterStage & {
  shop: Postgres;
  bucket: Bucket;
  outages: Record<Dependency, number>;
  untilSetUp: readonly number[];
};

const dependencies = ["database", "bus", "outbox", "files"] as const;
type Dependency = (typeof dependencies)[number];
const [warn, info] = [40, 30];

function openBucket(): Bucket {
  const bucket = { url: "", isAway: false, stop: () => void server.stop(true) };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      await request.arrayBuffer();
      return new Response(null, bucket.isAway ? { status: 503 } : { headers: { ETag: '"a"' } });
    },
  });
  bucket.url = `http://127.0.0.1:${server.port}`;
  return bucket;
}

async function onDependencies(): Promise<DependencyStage | undefined> {
  await using starting = new AsyncDisposableStack();
  const shop = await startPostgres();
  if (shop === undefined) return undefined;
  starting.defer(() => shop.stop());
  const shopUrl = await shop.createDatabase();
  const bucket = openBucket();
  starting.defer(() => bucket.stop());
  const stage = await onCluster({ env: () => ({ HERALD_OUTBOX_URL: shopUrl, ...s3Settings(bucket.url) }) });
  if (stage === undefined) return undefined;
  starting.use(stage);
  await openLedger(shopUrl, stage.nodes); // sets the outbox up, whose absence is told until then
  const outages = { database: 0, bus: 0, outbox: 0, files: 0 };
  await eventually(
    () => stage.nodes.every((node) => levelsOf(node, "outbox").at(-1) !== warn) || undefined,
    "the outbox",
  );
  const untilSetUp = stage.nodes.map((node) => levelsOf(node, "outbox").length);
  const all = starting.move();
  return { ...stage, shop, bucket, outages, untilSetUp, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** The levels of what a node has told of a dependency. */
function levelsOf({ herald }: ClusterNode, dependency: Dependency): unknown[] {
  return herald.logLines().flatMap((line) => (line.dependency === dependency ? [line.level] : []));
}

/** Waits until all nodes have told that something is away, or back. */
async function untilTold({ nodes }: DependencyStage, dependency: Dependency, level: number): Promise<void> {
  for (const node of nodes)
    await eventually(
      () => levelsOf(node, dependency).at(-1) === level || undefined,
      `a line of ${node.url} about ${dependency}`,
    );
}

/** Uploads a file to each node, as a node learns of its bucket only then. */
async function upload({ nodes }: DependencyStage): Promise<void> {
  for (const { herald } of nodes) await filesOf(await createOrganization(herald)).upload("a", "text");
}

async function take(stage: DependencyStage, dependency: Dependency): Promise<Heal> {
  const { postgres, nats, shop, bucket } = stage;
  if (dependency === "bus") {
    await nats.kill();
    return nats.start;
  }
  if (dependency !== "files") {
    const server = dependency === "database" ? postgres : shop;
    await server.shutDown("fast");
    return server.start;
  }
  bucket.isAway = true;
  await upload(stage);
  return async () => {
    bucket.isAway = false;
    await upload(stage);
  };
}

/** Everything that a node depends on goes and comes back. */
export const dependenciesAway = defineScenario({
  name: "dependencies-away",
  row: "The database, the bus, the outbox's database and the bucket go and come back, one after the other",
  expected:
    "Each node has one warning when it goes, with its address and the cause, and one line when it is back, with how long; nothing is logged as an error.",
  rounds: { short: 4, long: 12 },
  holdMs: { short: [1_100, 1_400], long: [0, 5_000] }, // failures go on, each second, which must not be told again
  allows: ["503", "none"],
  stage: onDependencies,
  async break(stage, { round }) {
    const dependency = dependencies[round % dependencies.length] ?? "database";
    stage.outages[dependency]++;
    const giveBack = await take(stage, dependency);
    await untilTold(stage, dependency, warn);
    return async () => {
      await giveBack();
      await untilTold(stage, dependency, info);
    };
  },
  async inspect({ nodes, outages, untilSetUp }) {
    const wrong = nodes.flatMap((node, index) => [
      ...errorsLogged(node.herald),
      ...dependencies.flatMap((dependency) => {
        const told = levelsOf(node, dependency).slice(dependency === "outbox" ? untilSetUp[index] : 0);
        const expected = Array.from({ length: outages[dependency] }, () => [warn, info]).flat();
        return `${told}` === `${expected}`
          ? []
          : [`${dependency} went ${outages[dependency]} times, but the levels told are ${told}`];
      }),
    ]);
    if (wrong.length > 0) throw new Error(wrong.join("; "));
    return undefined;
  },
});
