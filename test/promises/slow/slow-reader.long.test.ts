import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { openRawSocket } from "../../harness/clients/raw-socket.ts";
import { createResilientClient } from "../../harness/clients/resilient-client.ts";
import { eventually, within } from "../../harness/deadline.ts";
import { expectNothingHeld, heldBy } from "../../harness/reading/held.ts";
import { readMetrics, sampleOf } from "../../harness/reading/metrics.ts";
import { startHerald, useHerald } from "../../harness/servers/herald.ts";
import { createOrganization } from "../../harness/servers/organization.ts";

const LIFTED = {
  HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
  HERALD_LIMIT_REQUESTS_BURST: "0",
  HERALD_LIMIT_RECOVERY_MESSAGES: "5000",
  HERALD_LIMIT_CONNECTIONS_PER_USER: "50", // slow ones, of one user
};
const herald = useHerald({ env: { ...LIFTED, HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: "1048576" } });

// More than the kernel buffers for one connection, plus the server's backlog.
const BODY = "x".repeat(60_000);
const MESSAGES = 400;

async function memoryOf(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

describe("promise 5: a slow reader costs the others nothing", () => {
  test("it is cut without a close frame, its neighbours hear everything in order, and since recovers the rest", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["sender", "alice", "slow"]);
    const [token, slowToken] = [await org.token("alice"), await org.token("slow")];
    const neighbours = Array.from({ length: 5 }, () => createResilientClient(org, "alice", token));
    await Promise.all(neighbours.map((client) => client.connect()));
    const slow = createResilientClient(org, "slow", slowToken);
    await slow.connect();
    const first = await org.sent("sender", { cid, body: "the first" });
    await slow.waitFor(first.server_mid);
    slow.pause();

    const sent = [first.server_mid];
    for (let index = 0; index < MESSAGES; index += 1)
      sent.push((await org.sent("sender", { cid, body: BODY })).server_mid);
    await within(
      Promise.all(neighbours.map((client) => client.waitFor(sent.at(-1) ?? ""))),
      "the last message at the neighbours",
    );
    for (const { ledger } of neighbours) {
      expect(ledger.seen).toEqual(sent);
      expect(ledger.connections).toBe(1);
    }

    slow.resume();
    const ended = await within(slow.ended(), "the slow reader to be cut");
    // 1006 is what a client reports if no close frame came.
    expect(ended.closeCode).toBeUndefined();
    // The first message, and of the others what the kernel buffers for a connection, 10 MB at most, but not the backlog
    // of 1 MiB.
    expect(slow.ledger.seen.length).toBeWithin(2, 180);
    expect(slow.ledger.seen).toEqual(sent.slice(0, slow.ledger.seen.length));
    await slow.connect();
    await within(slow.waitFor(sent.at(-1) ?? ""), "what the slow reader missed");
    expect(slow.ledger.gapsAdmitted).toBe(0);
    expect(slow.ledger.seen).toEqual(sent);
    for (const client of [...neighbours, slow]) client.cut();
  });

  test("many that never read leave memory bounded", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["sender", "alice", "slow"]);
    const [token, slowToken] = [await org.token("alice"), await org.token("slow")];
    const neighbour = createResilientClient(org, "alice", token);
    await neighbour.connect();
    const before = await memoryOf(herald().pid);
    const stalled = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const raw = await openRawSocket(herald().url, { token: slowToken });
        raw.sendText({ request: { ping: {}, id: "p" } });
        await raw.frames.next((frame) => frame.opcode === 1, "the pong");
        raw.pause();
        return raw;
      }),
    );
    let last = "";
    for (let index = 0; index < MESSAGES; index += 1) last = (await org.sent("sender", { cid, body: BODY })).server_mid;
    await within(neighbour.waitFor(last), "the last message at the neighbour");
    expect(neighbour.ledger.connections).toBe(1);
    // 40 readers × 24 MB would be a gigabyte; the setting allows 40 × 1 MiB of backlog.
    expect((await memoryOf(herald().pid)) - before).toBeLessThan(400);
    for (const raw of stalled) raw.resume();
    const ends = await Promise.all(stalled.map((raw) => within(raw.ended, "a slow reader to be cut")));
    expect(ends.map(({ closeCode }) => closeCode)).toEqual(stalled.map(() => undefined));
    neighbour.cut();
  });

  test("many that never read share the node's backlog: those furthest behind are cut, and memory stays bounded", async () => {
    await using server = await startHerald({
      env: {
        ...LIFTED,
        HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: "67108864",
        HERALD_LIMIT_NODE_BACKLOG_BYTES: "16777216",
      },
    });
    const org = await createOrganization(server);
    const cid = await org.conversation(["sender", "alice", "slow"]);
    const neighbour = createResilientClient(org, "alice", await org.token("alice"));
    await neighbour.connect();
    const slowToken = await org.token("slow");
    const slow = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const client = createResilientClient(org, "slow", slowToken);
        await client.connect();
        client.pause();
        return client;
      }),
    );
    const before = await memoryOf(server.pid);
    const sent: string[] = [];
    // The node may check the sum of its backlogs only from time to time, so there are pauses between the bursts.
    for (let burst = 0; burst < 5; burst += 1) {
      for (let index = 0; index < MESSAGES / 5; index += 1)
        sent.push((await org.sent("sender", { cid, body: BODY })).server_mid);
      await Bun.sleep(1_200);
    }
    await within(neighbour.waitFor(sent.at(-1) ?? ""), "the last message at the neighbour");
    expect(neighbour.ledger.seen).toEqual(sent);
    expect(neighbour.ledger.connections).toBe(1);
    // 30 readers × 24 MB would be 700 MB; each alone may have 64 MiB.
    expect((await memoryOf(server.pid)) - before).toBeLessThan(400);
    for (const client of slow) client.resume();
    const last = sent.at(-1) ?? "";
    const ends = await Promise.all(
      slow.map((client) =>
        Promise.race([
          within(client.ended(), "a slow reader to be cut").then(({ closeCode }) => ({ closeCode })),
          client.waitFor(last).then(() => "heard everything" as const),
        ]),
      ),
    );
    const cut = ends.filter((end) => end !== "heard everything");
    expect(cut).toEqual(cut.map(() => ({ closeCode: undefined })));
    // The kernel buffers at most 10 MB per connection, so more than 8 MiB wait for each: there is room for one.
    expect(cut.length).toBeGreaterThanOrEqual(slow.length - 1);
    for (const client of [neighbour, ...slow]) client.cut();
    await server.stop();
  });

  test("an unread stream is ended or waits, and costs the others nothing", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["sender", "alice", "slow"]);
    const neighbour = createResilientClient(org, "alice", await org.token("alice"));
    await neighbour.connect();
    const before = await memoryOf(herald().pid);
    const { hostname, port, host } = new URL(herald().url);
    const slowToken = await org.token("slow");
    const slow = connect(Number(port), hostname);
    slow.on("error", () => undefined);
    const answered = Promise.withResolvers<void>();
    slow.once("data", () => {
      slow.pause();
      answered.resolve();
    });
    slow.write(`GET /sse HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${slowToken}\r\n\r\n`);
    await within(answered.promise, "the head of the stream");
    const sent: string[] = [];
    for (let index = 0; index < MESSAGES; index += 1)
      sent.push((await org.sent("sender", { cid, body: BODY })).server_mid);
    await within(neighbour.waitFor(sent.at(-1) ?? ""), "the last message at the neighbour");
    expect(neighbour.ledger.seen).toEqual(sent);
    expect((await memoryOf(herald().pid)) - before).toBeLessThan(400);
    slow.destroy();
    using stream = await org.sse("slow", { lastEventId: sent.at(-3) ?? "" });
    expect((await stream.next()).message?._id).toBe(sent.at(-2) ?? "");
    expect((await stream.next()).message?._id).toBe(sent.at(-1) ?? "");
    neighbour.cut();
  });

  test("a stream that ends or is cut while nobody reads it does not linger", async () => {
    // Waiting bytes may show up a second late, and until then the streams must not be cut for them.
    await using server = await startHerald({ env: { ...LIFTED, HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: "0" } });
    const org = await createOrganization(server);
    const cid = await org.conversation(["sender", "slow"]);
    const openFiles = async () =>
      sampleOf(readMetrics((await server.http("GET", "/metrics")).text).samples, "process_open_fds") ?? 0;
    const before = await openFiles();
    const { hostname, port, host } = new URL(server.url);
    const token = await org.token("slow", 15);
    const streams = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const stream = connect(Number(port), hostname);
        stream.on("error", () => undefined);
        stream.write(`GET /sse HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
        await within(new Promise((resolve) => stream.once("readable", resolve)), "the head of the stream");
        return stream; // nothing of it is read
      }),
    );
    while ((await heldBy(server)).waiting_bytes === undefined)
      for (let count = 0; count < 20; count++) await org.sent("sender", { cid, body: BODY });
    await expectNothingHeld(server); // the token has expired, and all of them were ended
    await eventually(
      async () => (await openFiles()) < before + streams.length / 2 || undefined,
      "the sockets of streams that nobody reads to be closed",
    );
    for (const stream of streams) stream.destroy();
  });
});
