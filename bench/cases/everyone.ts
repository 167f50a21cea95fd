import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { Person } from "../harness/clients/idle-clients.ts";
import { createRequestTemplate, type Lane, openLane } from "../harness/clients/lane.ts";
import { startHelper } from "../harness/helper.ts";
import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { memoryOf, startMeter } from "../harness/meter.ts";
import { benchOrg, everyoneBody, sendBody } from "../harness/organization.ts";
import { compare } from "../harness/report/report.ts";
import { type Contender, inRounds } from "../harness/report/rounds.ts";
import { renderSideBySide } from "../harness/report/side-by-side.ts";
import { spreadOf } from "../harness/report/statistics.ts";
import type { IdleClientsOrder } from "../processes/idle-clients.ts";
import type { Case } from "./case.ts";
import { warmUp } from "./sends.ts";

const hall = "hall";
const reports = 5;
const keepDays = 30;
const pauseMs = 100; // what ten thousand sockets are given takes 50 ms of CPU here, and as much in their process

/** An organization by how many users it has and how many of them are connected. */
const large = { org: "large", users: 1_000_000, connected: 10_000 };
const small = { org: "small", users: 10, connected: 10 };

const measured = {
  p50Ms: ["a send, from its POST to 201: p50", "ms"],
  p99Ms: ["… p99", "ms"],
  cpuMs: ["CPU of the node for a send and its deliveries", "ms"],
  grownKibibytes: ["memory of the node, after less before", "KiB"],
} as const;

/**
 * Measures sends to everyone in an organization of a million users, of whom ten thousand are connected, beside sends to
 * everyone in one of ten, and to a conversation of the ten thousand; and the same for those that inboxes keep. SQLite.
 */
export const everyone: Case = async (dataDir, pace, { size = large.connected }) => {
  const herald = await openPlace(dataDir);
  const people = [small, { ...large, connected: size }].flatMap(({ org, connected }) =>
    Array.from({ length: connected }, (_, index): Person => ({ org, uid: uidOf(index) })),
  );
  await herald.putConversation(
    hall,
    people.filter(({ org }) => org === large.org).map(({ uid }) => uid),
    large.org,
  );
  await herald.putConversation(benchOrg.quiet, []);
  await warmUp(herald, pace.warmUpMs * 5);
  const clients = startHelper<IdleClientsOrder, number>("idle-clients.ts");
  clients.tell({ url: herald.url, people, kind: "socket" });
  await clients.next();
  const system = "/admin/message/system";
  const contenders = [
    sending("herald", herald, system, everyoneBody(large.org)),
    sending("ten-users", herald, system, everyoneBody(small.org)),
    sending("conversation", herald, "/admin/message", sendBody(hall, large.org)),
  ];
  const kept = [
    sending("herald", herald, system, everyoneBody(large.org, keepDays)),
    sending("ten-users", herald, system, everyoneBody(small.org, keepDays)),
    sending("not-kept", herald, system, everyoneBody(large.org)),
  ];
  const longer = { ...pace, runMs: pace.runMs * 3 };
  const series = await inRounds(contenders, longer);
  const keptSeries = await inRounds(kept, longer);
  requireOneRowEach(dataDir);
  const reportMs = await timeReports(herald);
  await clients.stop();
  await herald.stop();

  const figure = `A send to everyone, 1,000,000 users, ${size.toLocaleString("en-US")} connected`;
  const keptFigure = `${figure}, kept for ${keepDays} days`;
  const title = `${figure}; its report takes ${reportMs.toFixed(0)} ms`;
  const ms = { unit: "ms", measure: "p50Ms" };
  return {
    series: { [figure]: series, [keptFigure]: keptSeries },
    rows: [
      compare(series, { figure: `${figure}: p50`, ...ms, floor: "ten-users" }),
      compare(series, { figure: `${figure}: p50`, ...ms, floor: "conversation" }),
      compare(keptSeries, { figure: `${keptFigure}: p50`, ...ms, floor: "ten-users" }),
      compare(keptSeries, { figure: `${keptFigure}: p50`, ...ms, floor: "not-kept" }),
    ],
    tables: [renderSideBySide(title, series, measured), renderSideBySide(keptFigure, keptSeries, measured)],
  };
};

const uidOf = (index: number) => `user-${index}`;

/** Starts a node on a database into which the users were written directly: over HTTP it would take minutes. */
async function openPlace(dataDir: string): Promise<HeraldPeer> {
  const first = await startHerald(dataDir);
  for (const { org } of [large, small]) await first.putConversation(benchOrg.quiet, [], org);
  await first.stop();
  using database = new Database(join(dataDir, "herald", "herald.db"));
  const insert = database.prepare(`INSERT INTO "user" (org, id, created_at) VALUES (?, ?, 1)`);
  const fill = database.transaction(() => {
    for (const { org, users } of [large, small])
      for (let index = 1; index < users; index++) insert.run(org, uidOf(index - 1)); // the sender is one, too
  });
  fill();
  return await startHerald(dataDir);
}

/** Sends one at a time, with pauses in which connections take what they are given. */
function sending(name: string, { url, pid }: HeraldPeer, path: string, body: object): Contender {
  return {
    name,
    async run(ms) {
      const lane = await openLane(createRequestTemplate(url, path, benchOrg.key, body));
      const times: number[] = [];
      const before = memoryOf(pid);
      const stopMeter = startMeter(pid);
      for (const endsAt = performance.now() + ms; performance.now() < endsAt; await Bun.sleep(pauseMs)) {
        const sentAt = performance.now();
        const status = await sendOn(lane);
        if (status !== 201) throw new Error(`a send was answered ${status}`);
        times.push(performance.now() - sentAt);
      }
      const { serverCpuMs } = stopMeter();
      lane.close();
      const grownKibibytes = (memoryOf(pid) - before) / 1024;
      return { ...spreadOf(times), cpuMs: serverCpuMs / times.length, samples: times.length, grownKibibytes };
    },
  };
}

/** Throws unless each message that inboxes keep is one row, whatever the number of users. */
function requireOneRowEach(dataDir: string): void {
  using database = new Database(join(dataDir, "herald", "herald.db"), { readonly: true });
  const find = `SELECT COUNT(*) AS rows, COUNT(DISTINCT org || ' ' || "offset") AS messages FROM inbox`;
  const { rows, messages } = database.query<{ rows: number; messages: number }, []>(find).get() ?? {};
  if (!rows || rows !== messages) throw new Error(`${messages} kept messages have ${rows} rows`);
}

function sendOn(lane: Lane): Promise<number> {
  return new Promise((resolve) => lane.send(resolve));
}

/** The mean time of a report of a system message to everyone, which counts all users. */
async function timeReports({ url }: HeraldPeer): Promise<number> {
  const headers = { "Admin-Api-Key": benchOrg.key, "Content-Type": "application/json" };
  const messageSystem = { id: "counted", everyone: true };
  const body = JSON.stringify({ organizationId: large.org, senderId: benchOrg.sender, messageSystem });
  await fetch(`${url}/admin/message/system`, { method: "POST", headers, body });
  const startedAt = performance.now();
  for (let count = 0; count < reports; count++) {
    const response = await fetch(`${url}/admin/organizations/${large.org}/system-messages/counted`, { headers });
    const { delivery }: { delivery: { recipients: number } } = await response.json();
    if (delivery.recipients !== large.users) throw new Error(`the report counts ${delivery.recipients} users`);
  }
  return (performance.now() - startedAt) / reports;
}
