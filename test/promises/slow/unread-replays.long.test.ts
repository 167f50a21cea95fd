import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { OPCODE, openRawSocket } from "../../harness/clients/raw-socket.ts";
import { openUnreadStream } from "../../harness/clients/unread-stream.ts";
import { eventually, within } from "../../harness/deadline.ts";
import { heldBy } from "../../harness/reading/held.ts";
import { readMetrics, sampleOf } from "../../harness/reading/metrics.ts";
import { type Herald, startHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const mebibyte = 1024 * 1024;
const body = "x".repeat(60_000);
const missed = 300; // 18 MB: more than the kernel and the node buffer for one connection
const users = 8;
const streamsPerUser = 20;
const watchedMs = 4_000;
const fillMs = 60_000; // on a slow machine, replays of 160 connections take long
setDefaultTimeout(120_000);

const lifted = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
  HERALD_LIMIT_USER_REQUESTS: "0", // they missed much, on many connections
};

async function residentMebibytes(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

async function slowConsumersCut(herald: Herald): Promise<number> {
  const { text } = await herald.http("GET", "/metrics");
  return sampleOf(readMetrics(text).samples, "herald_slow_consumers_cut_total") ?? 0;
}

/**
 * Creates an organization whose users all missed the same messages; returns the ids of the one before them and of the
 * last.
 */
async function createMissed(herald: Herald): Promise<{ org: Organization; since: string; last: string }> {
  const org = await createOrganization(herald);
  const cid = await org.conversation(["sender", ...Array.from({ length: users }, (_, index) => `u${index}`)]);
  const since = (await org.sent("sender", { cid, body: "the first" })).server_mid;
  let last = since;
  for (let index = 0; index < missed; index++) last = (await org.sent("sender", { cid, body })).server_mid;
  return { org, since, last };
}

const streamHeaders = (token: string, since: string) => ({ Authorization: `Bearer ${token}`, "Last-Event-ID": since });

async function openStream(org: Organization, token: string, since: string): Promise<Disposable> {
  return await openUnreadStream(org.herald.url, "/sse", streamHeaders(token, since));
}

async function openSocket(org: Organization, token: string, since: string): Promise<Disposable> {
  const socket = await openRawSocket(org.herald.url);
  socket.sendText({ request: { connect: { token, since }, id: "c" } });
  socket.pause();
  return socket;
}

/**
 * Opens connections that ask for everything they missed and read nothing. Those refused or cut at once are left out.
 */
async function openReplays(org: Organization, since: string, open: typeof openStream): Promise<Disposable[]> {
  const tokens = await Promise.all(Array.from({ length: users }, (_, index) => org.token(`u${index}`)));
  const asked = tokens.flatMap((token) => Array.from({ length: streamsPerUser }, () => open(org, token, since)));
  const opened = await Promise.allSettled(asked);
  return opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
}

/**
 * Watches the bytes that the node holds for connections and its memory, both as maxima in MiB, until it has held
 * `until` and cut a slow reader, and for a while after that; also returns how many connections are left, and how many
 * slow readers were cut.
 */
async function watch(herald: Herald, { until }: { until: number }) {
  let [waiting, resident] = [0, 0];
  let end: number | undefined;
  await eventually(
    async () => {
      resident = Math.max(resident, await residentMebibytes(herald.pid));
      waiting = Math.max(waiting, ((await heldBy(herald)).waiting_bytes ?? 0) / mebibyte);
      if (waiting > until && (await slowConsumersCut(herald)) > 0) end ??= performance.now() + watchedMs;
      return (end !== undefined && performance.now() > end) || undefined;
    },
    "the node to hold much and to cut the most behind",
    fillMs,
  );
  return { waiting, resident, left: (await heldBy(herald)).connections ?? 0, cut: await slowConsumersCut(herald) };
}

describe("replays that nobody reads", () => {
  test.each([
    ["streams", openStream],
    ["sockets", openSocket],
  ])("count against the node: of %s, those furthest behind are cut, and memory stays bounded", async (_, open) => {
    await using herald = await startHerald({
      env: { ...lifted, HERALD_LIMIT_NODE_BACKLOG_BYTES: String(32 * mebibyte) },
    });
    const { org, since } = await createMissed(herald);
    const before = await residentMebibytes(herald.pid);
    const replays = await openReplays(org, since, open);
    const { waiting, resident, left, cut } = await watch(herald, { until: 16 });
    expect(waiting).toBeLessThan(34);
    // About 440 kB wait for each: 32 MiB have room for 76 of them, and the others are cut.
    expect(left).toBeWithin(30, 100);
    expect(cut).toBeWithin(replays.length - 100, replays.length - 30);
    expect(resident - before).toBeLessThan(300); // 160 × (a page of 3 MB + 2 MB handed to Bun) were 900
    for (const replay of replays) replay[Symbol.dispose]();
  });

  test("of one organization take no room from another's: its slow readers are not cut for them", async () => {
    await using herald = await startHerald({
      env: {
        ...lifted,
        HERALD_LIMIT_ORGANIZATION_BACKLOG_BYTES: String(24 * mebibyte),
        HERALD_LIMIT_NODE_BACKLOG_BYTES: String(16 * mebibyte),
      },
    });
    const { org, since } = await createMissed(herald);
    const other = await createMissed(herald);
    const token = await other.org.token("u0");
    using slow = await openUnreadStream(herald.url, "/sse", streamHeaders(token, other.since));
    const replays = await openReplays(org, since, openStream);
    const { waiting, left, cut } = await watch(herald, { until: 8 });
    expect(waiting).toBeLessThan(18);
    expect(left).toBeWithin(15, 60); // there is room for 38
    expect(cut).toBeWithin(30, replays.length);
    const arrived = new Promise<void>((resolve) => {
      slow.socket.on("data", (data: Buffer) => {
        if (data.includes(other.last)) resolve();
      });
    });
    slow.socket.resume();
    await within(arrived, "the last message on the slow stream of the other organization");
    for (const replay of replays) replay[Symbol.dispose]();
  });

  test("are cut if they take nothing for as long as a ping and its answer may take, even if they answer pings", async () => {
    await using herald = await startHerald({
      env: { ...lifted, HERALD_LIMIT_PING_SECONDS: "1", HERALD_LIMIT_PONG_SECONDS: "1" },
    });
    const { org, since } = await createMissed(herald);
    const token = await org.token("u0");
    const raw = await openRawSocket(herald.url);
    raw.sendText({ request: { connect: { token, since }, id: "c" } });
    raw.pause();
    const ponging = setInterval(() => raw.sendFrame({ opcode: OPCODE.pong }), 200);
    using _stream = await openStream(org, token, since);
    let seen = {};
    await eventually(
      async () => {
        const [cut, held] = [await slowConsumersCut(herald), await heldBy(herald)];
        seen = { cut, ...held };
        return (cut === 2 && held.connections === undefined) || undefined;
      },
      () => `a stream and a socket that take nothing to be cut and given back, not ${JSON.stringify(seen)}`,
    );
    clearInterval(ponging);
    raw.cut();
  });
});
