// Measures Herald beside other servers that deliver messages: `npm run bench:peers`. See bench/README.md.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildGenerator, generate, type Load, type Seen } from "./comparison/generator.ts";
import type { Compared, StartCompared } from "./comparison/peer.ts";
import { servers } from "./comparison/peers/all.ts";
import type { PeerResults } from "./comparison/report/figures.ts";
import { writePage } from "./comparison/report/page.ts";
import { pinTo, processTreeOf } from "./harness/cores.ts";
import { cpuMsOf, peakMemoryOf } from "./harness/meter.ts";
import { saveRuns } from "./harness/report/results.ts";
import { type Contender, inRounds, type Measures, type Pace, type Series, valuesOf } from "./harness/report/rounds.ts";
import { describeSetting } from "./harness/report/setting.ts";
import { type Measured, renderSideBySide } from "./harness/report/side-by-side.ts";
import { median } from "./harness/report/statistics.ts";
import { createDataDir } from "./harness/servers.ts";

const usage = `npm run bench:peers -- [--only herald,nchan] [--listeners 1000] [--rounds 3] [--seconds 3] [--save] [--write]
  --only       these servers, of ${Object.keys(servers).join(", ")}; all that are installed by default
  --listeners  sockets that hear each message
  --rounds     how often; what counts is the median
  --seconds    how long a run is measured
  --save       writes the runs to bench/results/<date>-<revision>-peers.json
  --write      writes the tables and the chart of the newest results to docs/explanation/performance.md; alone, it runs nothing
BENCH_CENTRIFUGO and BENCH_SYNAPSE name the programs of a Centrifugo 6 and of Synapse to measure as well, BENCH_NATS that of
a newer NATS.`;

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    listeners: { type: "string", default: "1000" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
    save: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const [serverCore, generatorCore] = [0, 1];
const callers = 64;
const openingAtOnce = 64;
const shareOfSaturation = 0.5;
const leastShareOfFastest = 0.05; // a slower server is not measured at the fixed rate, which it would lower for all
const latencyFigures = ["P50Ms", "P99Ms", "P999Ms", "MaxMs"] as const;

const deliveriesMeasured: Measured = {
  deliveries: ["deliveries", "/s"],
  cpuMicros: ["CPU of a delivery", "µs"],
  lastP50Ms: ["p50 until the last has it", "ms"],
  lastP99Ms: ["p99 until the last has it", "ms"],
  peakMebibytes: ["peak memory", "MiB"],
  generatorIdle: ["the generator idle", ""],
};

const sendsMeasured: Measured = {
  sends: ["sends", "/s"],
  cpuMicrosOfSend: ["CPU of a send", "µs"],
  answerP50Ms: ["p50", "ms"],
  answerP99Ms: ["p99", "ms"],
  generatorIdle: ["the generator idle", ""],
};

type Part = Pick<Load, "listeners" | "inFlight" | "perSecond"> & { publishers: number };

/** Measures one load on one server. */
function contenderOf(program: string, { name, port, pids, publisher }: Compared, part: Part): Contender {
  return {
    name,
    async run(ms): Promise<Measures> {
      let cpuMs = 0;
      const cpuNow = () => pids.flatMap(processTreeOf).reduce((sum, pid) => sum + cpuMsOf(pid), 0);
      const publishers = Array.from({ length: part.publishers }, () => publisher);
      const load = { ...part, port, publishers, warmUpMs: ms / 2, runMs: ms, openingAtOnce };
      const seen = await generate(program, load, generatorCore, (phase) => {
        if (phase === "begin") cpuMs = -cpuNow();
        if (phase === "end") cpuMs += cpuNow();
      });
      return measuresOf(seen, cpuMs, pids);
    },
  };
}

function measuresOf(seen: Seen, cpuMs: number, pids: readonly number[]): Measures {
  const { seconds, deliveries, answered, busy, openedIn, eachUs, lastUs, answerUs } = seen;
  const times = Object.entries({ each: eachUs, last: lastUs, answer: answerUs }).flatMap(([name, latency]) =>
    latencyFigures.map((figure, index) => [`${name}${figure}`, (latency[index] ?? Number.NaN) / 1000] as const),
  );
  return {
    deliveries: deliveries / seconds,
    sends: answered / seconds,
    cpuMicros: (cpuMs * 1000) / deliveries,
    cpuMicrosOfSend: (cpuMs * 1000) / answered,
    peakMebibytes: pids.flatMap(processTreeOf).reduce((sum, pid) => sum + peakMemoryOf(pid), 0) / 2 ** 20,
    generatorIdle: 1 - busy,
    openedIn,
    ...Object.fromEntries(times),
  };
}

async function startAll(chosen: readonly StartCompared[], folder: string): Promise<Compared[]> {
  const started: Compared[] = [];
  for (const [index, start] of chosen.entries()) {
    const own = join(folder, String(index));
    mkdirSync(own);
    const server = await start(own);
    if (server === undefined) continue;
    for (const pid of server.pids.flatMap(processTreeOf)) pinTo(serverCore, pid);
    started.push(server);
  }
  return started;
}

async function measure(chosen: readonly StartCompared[], folder: string, count: number, pace: Pace) {
  const program = buildGenerator(join(folder, "generator"));
  const running = await startAll(chosen, folder);
  const heard = running.filter(({ listeners }) => listeners !== undefined);
  const found: Record<string, { measured: Measured; series: Series }> = {};
  const listenersOf = new Map<string, Load["listeners"]>();
  const compare = async (
    title: string,
    measured: Measured,
    part: Omit<Part, "listeners">,
    compared: readonly Compared[],
  ) => {
    console.error(`  ${title}`);
    const contenders = compared.map((server) => {
      const listeners = measured === sendsMeasured ? [] : (listenersOf.get(server.name) ?? []);
      return contenderOf(program, server, { ...part, listeners });
    });
    const series = await inRounds(contenders, pace);
    found[title] = { measured, series };
    console.log(`${renderSideBySide(title, series, measured)}\n`);
    return series;
  };

  for (const server of running)
    if (server.listeners !== undefined) listenersOf.set(server.name, await server.listeners(count));
  await compare(
    `${count} listeners, 1 in flight`,
    deliveriesMeasured,
    { publishers: 1, inFlight: 1, perSecond: 0 },
    heard,
  );
  const saturated = await compare(
    `${count} listeners, 16 in flight`,
    deliveriesMeasured,
    { publishers: 16, inFlight: 16, perSecond: 0 },
    heard,
  );
  const saturationOf = ({ name }: Compared) => median(valuesOf(saturated, name, "deliveries"));
  const fastest = Math.max(...heard.map(saturationOf));
  const able = heard.filter((server) => saturationOf(server) >= fastest * leastShareOfFastest);
  const perSecond = Math.max(1, Math.floor((Math.min(...able.map(saturationOf)) / count) * shareOfSaturation));
  const title = `${count} listeners, ${perSecond} messages a second (half of what the slowest of them can)`;
  await compare(title, deliveriesMeasured, { publishers: callers, inFlight: 0, perSecond }, able);
  await compare(
    `${callers} callers, nobody listens`,
    sendsMeasured,
    { publishers: callers, inFlight: callers, perSecond: 0 },
    running,
  );
  for (const server of running) await server.stop();
  return { found, running };
}

async function main(): Promise<void> {
  if (options.help) {
    console.log(usage);
    return;
  }
  if (process.argv.slice(2).join() === "--write") {
    console.error(`written: ${writePage().join(", ")}`);
    return;
  }
  const names = options.only?.split(",") ?? Object.keys(servers);
  const chosen = names.map((name) => {
    const start = servers[name];
    if (start === undefined) throw new Error(`there is no server ${name}\n${usage}`);
    return start;
  });
  const [rounds, runMs, count] = [Number(options.rounds), Number(options.seconds) * 1000, Number(options.listeners)];
  const dataDir = createDataDir();
  try {
    const setting = describeSetting(dataDir.path);
    const pace = { rounds, runMs, warmUpMs: runMs, patience: { ms: 0 } };
    const { found, running } = await measure(chosen, dataDir.path, count, pace);
    const peers = running.map(({ name, version, durability, settings }) => ({ name, version, durability, settings }));
    for (const { name, version, durability, settings } of peers)
      console.log(`- ${name} ${version}: ${durability} before the answer; ${settings}.`);
    const results: PeerResults = { setting, pace: { rounds, runMs }, peers, found };
    if (options.save) console.error(`written: ${saveRuns(setting, "peers", results)}`);
  } finally {
    dataDir.remove();
  }
  if (options.write) console.error(`written: ${writePage().join(", ")}`);
}

await main();
