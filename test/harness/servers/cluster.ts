import { freePort } from "../engines/free-port.ts";
import { type Nats, startNats } from "../engines/nats.ts";
import { type Postgres, plannedOnce, startPostgres } from "../engines/postgres.ts";
import { type Herald, type HeraldOptions, startHerald, TEST_KEY, TEST_TOKEN_SECRET } from "./herald.ts";

/** One node of a cluster. Its `url`, and anything created through its `herald`, stays valid across restarts. */
export type ClusterNode = {
  readonly url: string;
  readonly key: string;
  readonly pid: number;
  /** The process that is running, or ran last. */
  readonly herald: Herald;
  isRunning(): boolean;
  /**
   * Starts it again after `stop` or `kill`, on the same port and data folder. Resolves once it listens. With
   * `revision`, it runs the revision in that folder from then on; with `null`, ours.
   */
  start(revision?: string | null): Promise<void>;
  /** SIGTERM; waits for the end and expects exit code 0. */
  stop(): Promise<void>;
  /** SIGKILL; waits for the end. */
  kill(): Promise<void>;
  /** `stop` and `start`. */
  restart(): Promise<void>;
  /** SIGSTOP: it keeps its connections and does nothing. */
  freeze(): void;
  /** SIGCONT. */
  resume(): void;
};

/** Nodes on one database and one bus. */
export type Cluster = {
  readonly nodes: readonly ClusterNode[];
  readonly postgres: Postgres;
  readonly nats: Nats | undefined;
  readonly databaseUrl: string;
  /** Returns a node; throws if there is none. */
  node(index: number): ClusterNode;
  /** Kills the nodes, and stops the servers that it started itself. */
  [Symbol.asyncDispose](): Promise<void>;
};

type Options = {
  nodes: number;
  /** Servers to use; by default it starts its own. `nats: null` makes a cluster without a bus. */
  postgres?: Postgres;
  nats?: Nats | null;
  /** Settings of one node, which override those of the cluster. */
  env?: (index: number, databaseUrl: string) => Record<string, string>;
  /** The folder of another revision of Herald to start with. */
  revision?: string;
};

/** Starts nodes on a new database; `undefined` if PostgreSQL or NATS is not installed, which is a failure under CI. */
export async function startCluster(options: Options & { postgres: Postgres; nats: Nats | null }): Promise<Cluster>;
export async function startCluster(options: Options): Promise<Cluster | undefined>;
export async function startCluster({ nodes: count, env, revision, ...given }: Options): Promise<Cluster | undefined> {
  await using starting = new AsyncDisposableStack();
  const postgres = given.postgres ?? (await startPostgres({ settings: plannedOnce }));
  if (postgres === undefined) return undefined;
  if (given.postgres === undefined) starting.defer(() => postgres.stop());
  const nats = given.nats === undefined ? await startNats() : given.nats;
  if (nats === undefined) return undefined;
  if (nats !== null && given.nats === undefined) starting.defer(() => nats.stop());

  const databaseUrl = await postgres.createDatabase();
  const settings = (index: number) => ({
    HERALD_DATABASE_URL: databaseUrl,
    ...(nats !== null && { HERALD_BUS_URL: nats.url }),
    HERALD_ADMIN_API_KEY: TEST_KEY,
    HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
    HERALD_PORT: String(freePort()),
    ...env?.(index, databaseUrl),
  });
  const begun = Array.from({ length: count }, (_, index) =>
    startNode({ env: settings(index), ...(revision !== undefined && { revision }) }),
  );
  // All are awaited before any failure is reported, so that none is left behind.
  for (const result of await Promise.allSettled(begun)) {
    if (result.status === "fulfilled") starting.use(result.value);
  }
  const nodes = await Promise.all(begun);
  const engines = starting.move();
  return {
    nodes,
    postgres,
    nats: nats ?? undefined,
    databaseUrl,
    node(index) {
      const node = nodes[index];
      if (node === undefined) throw new Error(`there is no node ${index} of ${count}`);
      return node;
    },
    [Symbol.asyncDispose]: () => engines.disposeAsync(),
  };
}

/** Starts a node that can be killed and restarted; the settings must include `HERALD_PORT`. */
export async function startNode({
  revision: firstRevision,
  ...options
}: HeraldOptions): Promise<ClusterNode & AsyncDisposable> {
  let build: Pick<HeraldOptions, "revision"> = firstRevision === undefined ? {} : { revision: firstRevision };
  const first = await startHerald({ ...options, ...build });
  let herald = first;
  let isRunning = true;
  const node: ClusterNode & AsyncDisposable = {
    url: first.url,
    key: first.key,
    get pid() {
      return herald.pid;
    },
    get herald() {
      return herald;
    },
    isRunning: () => isRunning,
    async start(revision) {
      if (revision !== undefined) build = revision === null ? {} : { revision };
      herald = await startHerald({ ...options, ...build, dataDir: first.dataDir });
      isRunning = true;
    },
    async stop() {
      isRunning = false;
      await herald.stop();
    },
    async kill() {
      isRunning = false;
      await herald.kill();
    },
    async restart() {
      await node.stop();
      await node.start();
    },
    freeze: () => herald.signal("SIGSTOP"),
    resume: () => herald.signal("SIGCONT"),
    async [Symbol.asyncDispose]() {
      await herald.kill();
      await first[Symbol.asyncDispose](); // removes the folder
    },
  };
  return node;
}
