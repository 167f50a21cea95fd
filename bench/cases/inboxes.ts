import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type HeraldPeer, startHerald } from "../harness/herald.ts";
import { startMeter } from "../harness/meter.ts";
import { benchOrg } from "../harness/organization.ts";
import { compare } from "../harness/report/report.ts";
import { type Contender, inRounds } from "../harness/report/rounds.ts";
import { renderSideBySide } from "../harness/report/side-by-side.ts";
import { spreadOf } from "../harness/report/statistics.ts";
import type { Case } from "./case.ts";
import { warmUp } from "./sends.ts";

const reader = "reader";
const cids = Array.from({ length: 100 }, (_, index) => `c${index}`);
const keptMessages = 10_000;

/** Organizations that differ in how many messages are in the inbox of their reader; the last has no inboxes at all. */
const kept = { org: "kept", messages: keptMessages, mark: 0 };
const read = { org: "read", messages: keptMessages, mark: keptMessages };
const none = { org: "none", messages: 0, mark: 0 };

const measured = {
  p50Ms: ["p50", "ms"],
  p99Ms: ["p99", "ms"],
  cpuMs: ["CPU of the node", "ms"],
} as const;

/**
 * Measures a connect, which counts what is unread in the inbox, of a user with ten thousand kept messages to everyone and to a
 * hundred conversations, unread and read, beside one without an inbox; and the first page of that inbox. SQLite.
 */
export const inboxes: Case = async (dataDir, pace) => {
  const herald = await openPlace(dataDir);
  await warmUp(herald, pace.warmUpMs * 5);
  const connects = await inRounds(
    await Promise.all([
      connecting("herald", herald, kept.org, "100 or more"),
      connecting("all-read", herald, read.org, 0),
      connecting("no-inbox", herald, none.org, undefined),
    ]),
    pace,
  );
  const pages = await inRounds(
    [await listing("herald", herald, kept.org), await listing("all-read", herald, read.org)],
    pace,
  );
  await herald.stop();
  const figure = `A connect of a user with ${keptMessages.toLocaleString("en-US")} kept messages`;
  const page = `The first page of the inbox, ${keptMessages.toLocaleString("en-US")} kept messages`;
  const ms = { unit: "ms", measure: "p50Ms" };
  return {
    series: { [figure]: connects, [page]: pages },
    rows: [
      compare(connects, { figure: `${figure}: p50`, ...ms, floor: "no-inbox" }),
      compare(connects, { figure: `${figure}: p50`, ...ms, floor: "all-read" }),
    ],
    tables: [renderSideBySide(figure, connects, measured), renderSideBySide(page, pages, measured)],
  };
};

/** Starts a node on a database into which the messages were written directly: over HTTP it would take minutes. */
async function openPlace(dataDir: string): Promise<HeraldPeer> {
  const first = await startHerald(dataDir);
  await first.putConversation(benchOrg.quiet, []);
  for (const { org } of [kept, read, none]) for (const cid of cids) await first.putConversation(cid, [reader], org);
  await first.stop();
  using database = new Database(join(dataDir, "herald", "herald.db"));
  database.transaction(() => {
    for (const one of [kept, read]) fill(database, one);
  })();
  return await startHerald(dataDir);
}

function fill(database: Database, { org, messages, mark }: typeof kept): void {
  const find = database.query<{ head: number }, [string]>("SELECT head FROM organization WHERE id = ?");
  const head = find.get(org)?.head ?? 0;
  const insertEvent =
    database.prepare(`INSERT INTO event (org, "offset", kind, id, cid, sender, mid, payload, uids, created_at)
    VALUES (?, ?, 'system', ?, ?, ?, ?, ?, '[]', ?)`);
  const insertPlace = database.prepare(
    `INSERT INTO inbox (org, place, "offset", mid, silent, kept_until) VALUES (?, ?, ?, ?, 0, ?)`,
  );
  const now = Date.now();
  for (let number = 1; number <= messages; number++) {
    const offset = head + number;
    const cid = number % 2 === 0 ? (cids[(number / 2) % cids.length] ?? null) : null;
    const mid = `m${number}`;
    const message = { _id: mid, t: Math.floor(now / 1_000), from: benchOrg.sender, x: { kind: "note" } };
    const payload = JSON.stringify({ system_message: { ...message, created_at: new Date(now).toISOString() } });
    insertEvent.run(org, offset, Bun.randomUUIDv7(), cid, benchOrg.sender, mid, payload, now);
    insertPlace.run(org, cid === null ? "e" : `c${cid}`, offset, mid, now + 86_400_000);
  }
  database.run("UPDATE organization SET head = ?, head_id = NULL WHERE id = ?", [head + messages, org]);
  const ranges = mark === 0 ? [] : [[1, head + mark, now]];
  const marks = JSON.stringify({ seen: ranges, read: ranges });
  database.run("INSERT INTO inbox_mark (org, uid, marks) VALUES (?, ?, ?)", [org, reader, marks]);
}

type Response = { unread_system_messages_count?: number; system_messages?: unknown[]; error?: unknown };

/** Opens a socket, and returns the function that sends a request over it and resolves with its response. */
async function openSocket(url: string) {
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  return {
    request(request: object): Promise<Response> {
      const { promise, resolve } = Promise.withResolvers<Response>();
      socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)).response);
      socket.send(JSON.stringify({ request: { ...request, id: 1 } }));
      return promise;
    },
    close: () => socket.close(),
  };
}

/** Connects again and again, and times from the request to its response. */
async function connecting(name: string, herald: HeraldPeer, org: string, count: unknown): Promise<Contender> {
  const [token = ""] = await herald.tokensOf([reader], org);
  return {
    name,
    run: (ms) =>
      timing(herald, ms, async () => {
        const socket = await openSocket(herald.url);
        const startedAt = performance.now();
        const { error, unread_system_messages_count: found } = await socket.request({ connect: { token } });
        const tookMs = performance.now() - startedAt;
        socket.close();
        const isExpected = typeof count === "string" ? (found ?? 0) >= 100 : found === count;
        if (error !== undefined || !isExpected) throw new Error(`${org}: ${found} unread, ${JSON.stringify(error)}`);
        return tookMs;
      }),
  };
}

/** Asks for the first page again and again. */
async function listing(name: string, herald: HeraldPeer, org: string): Promise<Contender> {
  const [token = ""] = await herald.tokensOf([reader], org);
  return {
    name,
    async run(ms) {
      const socket = await openSocket(herald.url);
      await socket.request({ connect: { token } });
      const measures = await timing(herald, ms, async () => {
        const startedAt = performance.now();
        const { system_messages: items = [] } = await socket.request({ system_message_list: { limit: 50 } });
        if (items.length !== 50) throw new Error(`${org}: ${items.length} items`);
        return performance.now() - startedAt;
      });
      socket.close();
      return measures;
    },
  };
}

async function timing({ pid }: HeraldPeer, ms: number, work: () => Promise<number>) {
  const times: number[] = [];
  const stopMeter = startMeter(pid);
  for (const endsAt = performance.now() + ms; performance.now() < endsAt; ) times.push(await work());
  const { serverCpuMs } = stopMeter();
  return { ...spreadOf(times), cpuMs: serverCpuMs / times.length, samples: times.length };
}
