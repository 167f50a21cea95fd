import { join } from "node:path";
import { type Checkout, checkoutsOf } from "../harness/checkouts.ts";
import type { Person } from "../harness/clients/idle-clients.ts";
import { createRequestTemplate, openLane } from "../harness/clients/lane.ts";
import { openReader, type Reader } from "../harness/clients/slow-reader.ts";
import { startHelper } from "../harness/helper.ts";
import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { exactCpuMsOf, startMeter } from "../harness/meter.ts";
import { benchOrg, sendBody } from "../harness/organization.ts";
import { type Contender, inRounds } from "../harness/report/rounds.ts";
import { renderSideBySide } from "../harness/report/side-by-side.ts";
import { percentile } from "../harness/report/statistics.ts";
import type { IdleClientsOrder } from "../processes/idle-clients.ts";
import type { Case, Findings } from "./case.ts";
import { type Probe, startProbe } from "./pauses.ts";
import { warmUp } from "./sends.ts";

const defaultSize = 10_000;
const warmUpMs = 1_000;
const sendEveryMs = 50;
const burdenBytes = 8_000_000; // more than the kernel buffers for a reader that has stopped
const hall = "hall";
const slowHall = "slow-hall";
const slowUser: Person = { org: benchOrg.id, uid: "slow" };

/**
 * `watchFor`: how many run lengths to watch the CPU before the probe asks. Each connection is pinged once in 25
 * seconds, so a shorter time would not show the cost of pings. A stopped reader answers no ping, and would be cut.
 */
const groups = [
  { what: "sockets, no pings", kind: "socket", pings: {}, hasReader: true, watchFor: [5, 1], roundsAtMost: 5 },
  { what: "streams, no heartbeat", kind: "stream", pings: {}, hasReader: true, watchFor: [5, 1], roundsAtMost: 5 },
  {
    what: "sockets, pinged every 25 s",
    kind: "socket",
    pings: { HERALD_LIMIT_PING_SECONDS: "25" },
    hasReader: false,
    watchFor: [25, 25],
    roundsAtMost: 2,
  },
] as const;

type Group = (typeof groups)[number];

const measured = {
  cpuMsPerSecond: ["CPU of the node", "ms/s"],
  mainThreadMsPerSecond: ["… of its main thread", "ms/s"],
  healthzP50Ms: ["/healthz: p50", "ms"],
  healthzP99Ms: ["/healthz: p99", "ms"],
  healthzMaxMs: ["/healthz: worst", "ms"],
  othersBusy: ["other programs, in cores", ""],
} as const;

/** A node with idle connections, and one more connection that may stop reading. */
type Place = { name: string; herald: HeraldPeer; reader: Reader | undefined; leave(): Promise<void> };

/**
 * Measures what 10,000 idle connections cost a node: alone, while another connection is sent messages, and while that
 * one does not read.
 */
export const idle: Case = async (dataDir, pace, { against, size = defaultSize }) => {
  const found: Findings & { tables: string[] } = { series: {}, rows: [], tables: [] };
  const probe = startProbe();
  for (const [index, group] of groups.entries()) {
    const folder = join(dataDir, String(index));
    const places: Place[] = [];
    for (const checkout of checkoutsOf(against)) places.push(await openPlace(folder, checkout, group, size));
    const watch = async (what: string, everyMs: number | undefined) => {
      const title = `${size.toLocaleString("en-US")} ${group.what}, ${what}`;
      console.error(`  ${title}`);
      const series = await inRounds(
        places.map((place) => watching(place, probe, group, everyMs)),
        { ...pace, rounds: Math.min(pace.rounds, group.roundsAtMost), warmUpMs: warmUpMs / group.watchFor[0] },
      );
      found.series[title] = series;
      found.tables.push(renderSideBySide(title, series, measured));
    };
    await watch("idle", undefined);
    if (group.hasReader) {
      await watch("20 sends a second to one more", sendEveryMs);
      for (const place of places) await burden(place);
      await watch("20 sends a second to one more, who does not read", sendEveryMs);
    }
    for (const place of places) await place.leave();
  }
  probe.stop();
  return found;
};

async function openPlace(
  dataDir: string,
  { name, root }: Checkout,
  { kind, pings, hasReader }: Group,
  size: number,
): Promise<Place> {
  const backlog = { HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: String(burdenBytes * 8) };
  const herald = await startHerald(join(dataDir, name), { ...pings, ...backlog }, { root });
  const people = Array.from({ length: size }, (_, index): Person => ({ org: benchOrg.id, uid: `idle-${index}` }));
  await herald.putConversation(
    hall,
    people.map(({ uid }) => uid),
  );
  await herald.putConversation(slowHall, [slowUser.uid]);
  await herald.putConversation(benchOrg.quiet, []);
  await warmUp(herald, 2_000);
  const clients = startHelper<IdleClientsOrder, number>("idle-clients.ts");
  clients.tell({ url: herald.url, people, kind });
  await clients.next();
  const reader = hasReader ? await openReader(herald, slowUser, kind) : undefined;
  return {
    name,
    herald,
    reader,
    async leave() {
      reader?.close();
      await clients.stop();
      await herald.stop();
    },
  };
}

/** Sends the reader more than the kernel buffers, so that Herald has to hold some of it. */
async function burden({ herald, reader }: Place): Promise<void> {
  reader?.pause();
  const body = "🐌".repeat(30_000);
  const bytes = Buffer.byteLength(body);
  for (let sent = 0; sent < burdenBytes; sent += bytes) {
    const response = await fetch(`${herald.url}/admin/message`, {
      method: "POST",
      headers: { "Admin-Api-Key": benchOrg.key, "Content-Type": "application/json" },
      body: JSON.stringify({
        organizationId: benchOrg.id,
        senderId: benchOrg.sender,
        message: { body, cid: slowHall },
      }),
    });
    if (response.status !== 201) throw new Error(`a send was answered ${response.status}`);
  }
  const held = reader?.heldByKernel() ?? 0;
  if (held === 0 || held > burdenBytes * 0.9) throw new Error(`of ${burdenBytes} bytes the kernel holds ${held}`);
}

/** Watches the node's CPU, and then its response times; meanwhile sends to the reader at a steady interval. */
function watching({ name, herald }: Place, probe: Probe, { watchFor }: Group, everyMs: number | undefined): Contender {
  const [watch, ask] = watchFor;
  return {
    name,
    async run(ms) {
      const endSends = everyMs === undefined ? undefined : await startSends(herald, everyMs);
      const stopMeter = startMeter(herald.pid);
      const before = exactCpuMsOf(herald.pid);
      await Bun.sleep(ms * watch);
      const mainThreadMs = exactCpuMsOf(herald.pid) - before;
      const { elapsedMs, server, others } = stopMeter();
      const times = await probe.ask(herald.url, ms * ask);
      await endSends?.();
      return {
        cpuMsPerSecond: server * 1000,
        mainThreadMsPerSecond: (mainThreadMs * 1000) / elapsedMs,
        healthzP50Ms: percentile(times, 0.5),
        healthzP99Ms: percentile(times, 0.99),
        healthzMaxMs: percentile(times, 1),
        othersBusy: others,
      };
    },
  };
}

/** Sends to the reader at a steady interval, one message at a time, until stopped. */
async function startSends({ url }: HeraldPeer, everyMs: number): Promise<() => Promise<void>> {
  const lane = await openLane(createRequestTemplate(url, "/admin/message", benchOrg.key, sendBody(slowHall)));
  let sending = Promise.resolve();
  const timer = setInterval(() => {
    sending = sending.then(() => new Promise((answered) => lane.send(() => answered())));
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await sending;
    lane.close();
  };
}
