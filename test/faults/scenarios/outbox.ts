import { eventually } from "../../harness/deadline.ts";
import { type Postgres, startPostgres } from "../../harness/engines/postgres.ts";
import { type Ledger, openLedger } from "../outbox/ledger.ts";
import { defineScenario, type Heal, type Means } from "../scenario.ts";
import { type ClusterStage, onCluster } from "../stages.ts";

/** Nodes with an outbox in a database of its own server. */
type OutboxStage = ClusterStage & { shop: Postgres; ledger: Ledger };

/** How many rows are committed before each fault. A long run reads OUTBOX_ROWS, the rows of 15 rounds. */
const rowsBefore = { short: 200, long: Math.ceil(Number(process.env.OUTBOX_ROWS ?? 30_000) / 15) };
const committedWithinMs = 120_000;

async function onOutbox(): Promise<OutboxStage | undefined> {
  await using starting = new AsyncDisposableStack();
  const shop = await startPostgres();
  if (shop === undefined) return undefined;
  starting.defer(() => shop.stop());
  const shopUrl = await shop.createDatabase();
  const stage = await onCluster({ env: () => ({ HERALD_OUTBOX_URL: shopUrl }) });
  if (stage === undefined) return undefined;
  starting.use(stage);
  const ledger = await openLedger(shopUrl, stage.nodes);
  const all = starting.move();
  return { ...stage, shop, ledger, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Lets writers commit rows until there are enough. They go on meanwhile, until `inspect`. */
async function writeRows({ ledger }: OutboxStage, { org, random, size }: Means): Promise<void> {
  const writers = await ledger.write(org, random.integer(1, 1_000_000_000));
  const areEnough = () => writers.committed() >= rowsBefore[size] || undefined;
  await eventually(areEnough, `${rowsBefore[size]} rows to be committed`, committedWithinMs);
}

async function inspect({ ledger }: OutboxStage): Promise<string> {
  const { rows, unknown } = await ledger.check();
  return `${rows} rows sent once, ${unknown} had an unknown outcome`;
}

const sentOnce =
  "Each row whose COMMIT was answered is one message, in the order of rows; none that was taken back is; if the answer did not come, it is there once or not at all.";

/** Nodes and the caller's database die, while callers commit. */
export const outboxKilled = defineScenario({
  name: "outbox-killed",
  row: "Outbox: `kill -9` of its PostgreSQL (postmaster and backends) and of a node, while transactions commit rows",
  expected: `${sentOnce} Sends by HTTP go on at the other nodes.`,
  rounds: { short: 2, long: 15 },
  holdMs: { short: [0, 400], long: [0, 2_000] },
  allows: ["none"],
  breaksConnections: true,
  stage: onOutbox,
  async break(stage, means): Promise<Heal> {
    await writeRows(stage, means);
    const node = means.random.pick(stage.nodes);
    await Promise.all([stage.shop.kill(), node.kill()]);
    return async () => void (await Promise.all([stage.shop.start(), node.start()]));
  },
  inspect,
});

/** The caller's database is away in every way, and nothing else notices. */
export const outboxAway = defineScenario({
  name: "outbox-away",
  row: "Outbox: its PostgreSQL is restarted, crashes or is frozen (SIGSTOP) while nodes take rows",
  expected: `${sentOnce} Sends by HTTP are all answered 201.`,
  rounds: { short: 3, long: 9 },
  holdMs: { short: [100, 500], long: [0, 5_000] },
  allows: [],
  stage: onOutbox,
  async break(stage, means): Promise<Heal> {
    await writeRows(stage, means);
    const { shop } = stage;
    const way = (["fast", "immediate", "frozen"] as const)[means.round % 3];
    if (way === "frozen" || way === undefined) {
      shop.freeze();
      return shop.resume;
    }
    await shop.shutDown(way);
    return shop.start;
  },
  inspect,
});

/** Herald's own database crashes while rows are sent. */
export const outboxStoreKilled = defineScenario({
  name: "outbox-store-killed",
  row: "Outbox: `kill -9` of Herald's own PostgreSQL while rows are sent",
  expected: `${sentOnce} Sends by HTTP are answered 503, or not at all, until it is back.`,
  rounds: { short: 1, long: 9 },
  holdMs: { short: [0, 400], long: [0, 3_000] },
  allows: ["503", "none"],
  requires: ["503"],
  stage: onOutbox,
  async break(stage, means): Promise<Heal> {
    await writeRows(stage, means);
    await stage.postgres.kill();
    return stage.postgres.start;
  },
  inspect,
});
