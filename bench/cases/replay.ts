import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { SQL } from "bun";
import { startPostgres } from "../../test/harness/engines/postgres.ts";
import { type Checkout, checkoutsOf } from "../harness/checkouts.ts";
import { tokenOf } from "../harness/clients/idle-clients.ts";
import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { startMeter } from "../harness/meter.ts";
import { benchOrg } from "../harness/organization.ts";
import { type Contender, inRounds } from "../harness/report/rounds.ts";
import { renderSideBySide } from "../harness/report/side-by-side.ts";
import { percentile } from "../harness/report/statistics.ts";
import type { Case, Findings } from "./case.ts";
import { type Probe, startProbe } from "./pauses.ts";
import { warmUp } from "./sends.ts";

const sizes = [250, 500, 1_000, 4_000]; // the last one exceeds the limit, which is lifted
const stocks = [
  { conversations: 1, characters: 64 },
  { conversations: 50, characters: 64 },
  { conversations: 50, characters: 8_000 },
];
const noLimit = { HERALD_LIMIT_RECOVERY_MESSAGES: "0" };
const listener = "listener";
const atOnce = 50;

/** A node, and the ids of the messages that its listener missed, in order. */
type Place = { name: string; herald: HeraldPeer; ids: string[] };

const measured = {
  replayMs: ["a replay, from `connect` to its last message", "ms"],
  cpuMs: ["CPU of the node", "ms"],
  cpuMicrosPerMessage: ["… for each message", "µs"],
  worstPauseMs: ["/healthz meanwhile: worst", "ms"],
} as const;

/**
 * Measures the cost of a replay by the number of messages that `since` recovers, from one conversation or from fifty:
 * does it grow with what is sent?
 */
export const replay: Case = async (dataDir, pace, { against, isEmbedded }) => {
  const found: Findings & { tables: string[] } = { series: {}, rows: [], tables: [] };
  const probe = startProbe();
  const postgres = isEmbedded ? undefined : await startPostgres();
  for (const store of postgres === undefined ? ["SQLite"] : ["SQLite", "PostgreSQL"]) {
    for (const stock of stocks) {
      const { conversations, characters } = stock;
      const places: Place[] = [];
      for (const checkout of checkoutsOf(against)) {
        const url = store === "PostgreSQL" ? await postgres?.createDatabase() : undefined;
        const folder = join(dataDir, `${store}-${conversations}-${characters}-${checkout.name}`);
        places.push(await openPlace(folder, checkout, stock, url, pace.warmUpMs * 3));
      }
      for (const size of sizes) {
        const title = `${size.toLocaleString("en-US")} messages of ${characters} characters, ${conversations} conversations, ${store}`;
        const series = await inRounds(
          places.map((place) => replaying(place, size, probe)),
          pace,
        );
        found.series[title] = series;
        found.tables.push(renderSideBySide(title, series, measured));
      }
      for (const { herald } of places) await herald.stop();
    }
  }
  probe.stop();
  postgres?.stop();
  return found;
};

/** Starts a node with a listener who has missed everything. */
async function openPlace(
  folder: string,
  { name, root }: Checkout,
  { conversations, characters }: (typeof stocks)[number],
  databaseUrl: string | undefined,
  warmUpMs: number,
): Promise<Place> {
  const store = databaseUrl === undefined ? {} : { HERALD_DATABASE_URL: databaseUrl };
  const herald = await startHerald(folder, { ...noLimit, ...store }, { root });
  await herald.putConversation(benchOrg.quiet, []);
  await warmUp(herald, warmUpMs);
  const ids = await fill(herald, conversations, "x".repeat(characters));
  if (databaseUrl !== undefined) {
    await using database = new SQL(databaseUrl, { max: 1 });
    await database`ANALYZE`; // PostgreSQL does so itself within a database's first minute
  }
  return { name, herald, ids };
}

/** Sends one message more than is ever missed, in a known order; resolves with their ids. */
async function fill(herald: HeraldPeer, conversations: number, body: string): Promise<string[]> {
  const cids = Array.from({ length: conversations }, (_, index) => `talk-${index}`);
  for (const cid of cids) await herald.putConversation(cid, [listener]);
  const ids: string[] = [];
  for (let count = 0; count <= Math.max(...sizes); count += atOnce) {
    const sends = cids.length === 1 ? Array.from({ length: atOnce }, () => cids[0]) : cids;
    for (const cid of sends) ids.push(await send(herald, cid ?? "", body));
  }
  return ids;
}

async function send({ url }: HeraldPeer, cid: string, body: string): Promise<string> {
  const response = await fetch(`${url}/admin/message`, {
    method: "POST",
    headers: { "Admin-Api-Key": benchOrg.key, "Content-Type": "application/json" },
    body: JSON.stringify({
      organizationId: benchOrg.id,
      senderId: benchOrg.sender,
      message: { id: randomUUID(), cid, body },
    }),
  });
  if (response.status !== 201) throw new Error(`a send was answered ${response.status}`);
  const { ask }: { ask: { server_mid: string } } = await response.json();
  return ask.server_mid;
}

/** Replays repeatedly for the length of a run. */
function replaying({ name, herald, ids }: Place, size: number, probe: Probe): Contender {
  return {
    name,
    async run(ms) {
      const token = await tokenOf(benchOrg.id, listener);
      const since = ids.at(-1 - size) ?? "";
      const probing = probe.ask(herald.url, ms);
      const stopMeter = startMeter(herald.pid);
      const times: number[] = [];
      for (const endsAt = performance.now() + ms; performance.now() < endsAt; ) {
        const begunAt = performance.now();
        await hearMissed(herald, token, since, size);
        times.push(performance.now() - begunAt);
      }
      const { serverCpuMs } = stopMeter();
      const pauses = await probing;
      return {
        replayMs: percentile(times, 0.5),
        cpuMs: serverCpuMs / times.length,
        cpuMicrosPerMessage: (serverCpuMs * 1000) / times.length / size,
        worstPauseMs: percentile(pauses, 1),
        samples: times.length,
      };
    },
  };
}

/** Connects and resolves once `size` messages have come; throws if they are not the expected ones. */
async function hearMissed({ url }: HeraldPeer, token: string, since: string, size: number): Promise<void> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let left = size;
  socket.onopen = () => socket.send(JSON.stringify({ request: { connect: { token, since }, id: 1 } }));
  socket.onmessage = ({ data }) => {
    const text = String(data);
    if (text.startsWith('{"message"')) left--;
    else if (!text.includes('"recovered":true')) reject(new Error(`not recovered: ${text}`));
    if (left === 0) resolve();
  };
  socket.onclose = ({ code }) => reject(new Error(`closed with ${code}`));
  await promise;
  socket.close();
}
