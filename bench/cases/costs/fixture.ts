import { join } from "node:path";
import { SQL } from "bun";
import { startNats } from "../../../test/harness/engines/nats.ts";
import { startPostgres } from "../../../test/harness/engines/postgres.ts";
import type { Person } from "../../harness/clients/idle-clients.ts";
import { type HeraldPeer, startHerald } from "../../harness/herald.ts";
import { cpuMsOf, exactCpuMsOf, memoryOf } from "../../harness/meter.ts";
import { benchOrg } from "../../harness/organization.ts";

/** How many of each to count. Large enough that the kernel's CPU accounting in steps of 10 ms does not matter. */
export const sizes = {
  warmUp: 500,
  few: 2_000,
  many: 6_000,
  subscribers: 2_000,
  conversationsOfEach: 20,
  fewOrganizations: 200,
  organizations: 2_000,
} as const;

/** What all rounds share: PostgreSQL, NATS, and a directory of users and organizations. */
export type Fixture = {
  /** Starts a node on the shared servers, without connections or requests so far. */
  startNode(settings?: Record<string, string>): Promise<HeraldPeer>;
  /** Starts a single node on SQLite in a folder of its own. */
  startEmbedded(): Promise<HeraldPeer & { folder: string }>;
  database: SQL;
  databaseUrl: string;
  busUrl: string;
  natsPid: number;
  /** CPU of all PostgreSQL processes, in milliseconds. */
  databaseCpuMs(): Promise<number>;
  stop(): Promise<void>;
};

/** The CPU that a node and PostgreSQL used in a period. */
export type Spent = { nodeMicros: number; databaseMicros: number; seconds: number };

const hall = "hall";

/** Users who each take part in a single conversation. */
export const inHall: readonly Person[] = people(sizes.many + sizes.warmUp, (index) => `h${index}`);
/** Users who each take part in `conversationsOfEach` conversations. */
export const inMany: readonly Person[] = people(sizes.subscribers, (index) => `m${index}`);
/** One user of each of many organizations. */
export const strangers: readonly Person[] = Array.from({ length: sizes.organizations }, (_, index) => ({
  org: `org-${index}`,
  uid: "alone",
}));

/** Starts the servers and fills the directory. */
export async function openFixture(dataDir: string): Promise<Fixture> {
  const postgres = await startPostgres();
  const nats = await startNats();
  if (postgres === undefined || nats === undefined) throw new Error("this part needs PostgreSQL and NATS");
  const url = await postgres.createDatabase();
  const settings = { HERALD_DATABASE_URL: url, HERALD_BUS_URL: nats.url };
  const database = new SQL(postgres.asSuperuser(url), { max: 1 }); // row-level security hides the events from all others
  let started = 0;
  const nextFolder = () => join(dataDir, `node-${++started}`);

  const fixture: Fixture = {
    startNode: (more = {}) => startHerald(nextFolder(), { ...settings, ...more }),
    async startEmbedded() {
      const folder = nextFolder();
      return { ...(await startHerald(folder)), folder: join(folder, "herald") };
    },
    database,
    databaseUrl: url,
    busUrl: nats.url,
    natsPid: nats.pid,
    async databaseCpuMs() {
      const rows: { pid: number }[] = await database`SELECT pid FROM pg_stat_activity`;
      return rows.reduce((sum, { pid }) => sum + exactCpuMsOf(pid), 0);
    },
    async stop() {
      await database.close();
      await nats.stop();
      postgres.stop();
    },
  };
  const first = await fixture.startNode();
  await fill(first);
  await database`ANALYZE`;
  await first.stop();
  return fixture;
}

/** Creates the conversation of everyone in `inHall`. */
export async function fillHall(herald: HeraldPeer): Promise<void> {
  await herald.putConversation(benchOrg.quiet, []);
  await herald.putConversation(
    hall,
    inHall.map(({ uid }) => uid),
  );
}

/** Runs `work` and returns the CPU that the node and PostgreSQL used for it. */
export async function spend(fixture: Fixture, { pid }: { pid: number }, work: () => Promise<unknown>): Promise<Spent> {
  const databaseBefore = await fixture.databaseCpuMs();
  const [nodeBefore, startedAt] = [cpuMsOf(pid), performance.now()];
  await work();
  const [nodeMs, seconds] = [cpuMsOf(pid) - nodeBefore, (performance.now() - startedAt) / 1000];
  const databaseMs = (await fixture.databaseCpuMs()) - databaseBefore;
  return { nodeMicros: nodeMs * 1000, databaseMicros: databaseMs * 1000, seconds };
}

/** The lowest memory of the process during a few seconds of rest, in which garbage is collected. */
export async function memoryAtRest(pid: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let sample = 0; sample < 20; sample++) {
    await Bun.sleep(200);
    least = Math.min(least, memoryOf(pid));
  }
  return least;
}

async function fill(herald: HeraldPeer): Promise<void> {
  await fillHall(herald);
  // Rooms of fifty: users m0 … m49 share their rooms, m50 … m99 the next ones.
  const ofRoom = 50;
  for (let from = 0; from < inMany.length; from += ofRoom) {
    const uids = inMany.slice(from, from + ofRoom).map(({ uid }) => uid);
    const rooms = Array.from({ length: sizes.conversationsOfEach }, (_, index) => `room-${from}-${index}`);
    await Promise.all(rooms.map((cid) => herald.putConversation(cid, uids)));
  }
  const atOnce = 50;
  for (let from = 0; from < strangers.length; from += atOnce) {
    const some = strangers.slice(from, from + atOnce);
    await Promise.all(some.map(({ org, uid }) => herald.putConversation(benchOrg.quiet, [uid], org)));
  }
}

function people(count: number, uidOf: (index: number) => string): Person[] {
  return Array.from({ length: count }, (_, index) => ({ org: benchOrg.id, uid: uidOf(index) }));
}
