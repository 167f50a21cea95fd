import { join } from "node:path";
import { startNats } from "../../test/harness/engines/nats.ts";
import { startPostgres } from "../../test/harness/engines/postgres.ts";
import { createRequestTemplate, openLane } from "../harness/clients/lane.ts";
import { createThrottle, pinTo } from "../harness/cores.ts";
import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { cpuMsOf, startMeter } from "../harness/meter.ts";
import { benchOrg, sendBody } from "../harness/organization.ts";
import { compare } from "../harness/report/report.ts";
import { type Contender, inRounds } from "../harness/report/rounds.ts";
import type { Case } from "./case.ts";
import { startCallers } from "./sends.ts";

const callers = 64;
const smallShare = 0.2;

/**
 * Measures the sends that nodes on one PostgreSQL and one NATS accept together, beside those that one of them accepts
 * alone.
 */
export const nodes: Case = async (dataDir, pace) => {
  const postgres = await startPostgres();
  const nats = await startNats();
  if (postgres === undefined || nats === undefined) throw new Error("this part needs PostgreSQL and NATS");
  const settings = { HERALD_DATABASE_URL: await postgres.createDatabase(), HERALD_BUS_URL: nats.url };
  const first = await startHerald(join(dataDir, "first"), settings);
  const second = await startHerald(join(dataDir, "second"), settings);
  const pair = [first, second];
  for (let index = 0; index < callers; index++) await first.putConversation(benchOrg.quiet, [], orgOf(index));
  await using database = new Bun.SQL(settings.HERALD_DATABASE_URL, { max: 1 });
  await sendsToNodes("warm-up", pair, orgOf, database).run(pace.warmUpMs * 3);
  await database`ANALYZE`; // PostgreSQL does so itself within a database's first minute; until then it uses the wrong index

  const shared = (index: number) => orgOf(Math.floor(index / 2));
  const contenders = (org: typeof orgOf) => [
    sendsToNodes("herald", pair, org, database),
    sendsToNodes("one-node", [first], org, database),
  ];
  const series: Awaited<ReturnType<Case>>["series"] = {};
  series["Sends, two nodes"] = await inRounds(contenders(orgOf), pace);
  for (const [core, { pid }] of pair.entries()) pinTo(core, pid);
  series["Sends, two nodes, each on its core"] = await inRounds(contenders(orgOf), pace);
  const throttle = createThrottle();
  if (throttle !== undefined) {
    for (const { pid } of pair) throttle.limit(pid, smallShare);
    const title = `Sends, two nodes, each with ${smallShare} of its core`;
    series[title] = await inRounds(contenders(orgOf), pace);
    series[`${title}, the same organizations on both`] = await inRounds(contenders(shared), pace);
    throttle.lift();
  }
  for (const peer of pair) await peer.stop();
  await nats.stop();
  postgres.stop();

  const rows = Object.entries(series).flatMap(([figure, runs]) => [
    compare(runs, { figure, unit: "/s", measure: "perSecond", floor: "one-node" }),
    compare(runs, { figure: "… CPU of the nodes", unit: "µs", measure: "nodeCpuMicros", floor: "one-node" }),
    compare(runs, { figure: "… CPU of PostgreSQL", unit: "µs", measure: "databaseCpuMicros", floor: "one-node" }),
    compare(runs, { figure: "… CPU of the callers", unit: "µs", measure: "generatorCpuMicros", floor: "one-node" }),
  ]);
  return { series, rows };
};

/** Sends to these nodes in turn; `orgOf` gives the organization of each caller. */
function sendsToNodes(
  name: string,
  peers: readonly HeraldPeer[],
  organizationOf: (caller: number) => string,
  database: Bun.SQL,
): Contender {
  return {
    name,
    async run(ms) {
      const urls = peers.map(({ url }) => url);
      const lanes = Array.from({ length: callers }, (_, index) => {
        const body = sendBody(benchOrg.quiet, organizationOf(index));
        return openLane(
          createRequestTemplate(urls[index % urls.length] ?? "", "/admin/message", benchOrg.key, body, "rising"),
        );
      });
      const load = startCallers(await Promise.all(lanes));
      const stopMeter = startMeter(process.pid);
      const before = { count: load.count(), nodes: cpuOf(peers), database: await cpuOfDatabase(database) };
      await Bun.sleep(ms);
      const count = load.count() - before.count;
      const nodeMs = cpuOf(peers) - before.nodes;
      const { elapsedMs, serverCpuMs: generatorMs, others } = stopMeter();
      const databaseMs = (await cpuOfDatabase(database)) - before.database;
      await load.stop();
      const micros = (cpuMs: number) => (cpuMs * 1000) / count;
      return {
        perSecond: (count * 1000) / elapsedMs,
        nodeCpuMicros: micros(nodeMs),
        databaseCpuMicros: micros(databaseMs),
        generatorCpuMicros: micros(generatorMs),
        machineBusy: others + generatorMs / elapsedMs,
      };
    },
  };
}

function orgOf(index: number): string {
  return `org-${index}`;
}

function cpuOf(peers: readonly HeraldPeer[]): number {
  return peers.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0);
}

/** The CPU of all processes of the database server except the first, which only starts the others. */
async function cpuOfDatabase(database: Bun.SQL): Promise<number> {
  const rows: { pid: number }[] = await database`SELECT pid FROM pg_stat_activity`;
  return rows.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0);
}
