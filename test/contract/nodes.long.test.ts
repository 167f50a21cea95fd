import { expect, test } from "bun:test";
import { connect } from "node:net";
import packageJson from "../../package.json" with { type: "json" };
import type { NodeHistory } from "../../src/contract/nodes.ts";
import { openRawSocket } from "../harness/clients/raw-socket.ts";
import { expectClosed, openSocket } from "../harness/clients/socket.ts";
import type { Node } from "../harness/clients/wire.ts";
import { eventually, within } from "../harness/deadline.ts";
import { expectProblem, ISO_MILLISECONDS, UUID_V7 } from "../harness/reading/expectations.ts";
import { type Herald, startHerald, useHerald } from "../harness/servers/herald.ts";
import { isOnNats } from "../harness/servers/on-cluster.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "the list of several is looked at in test/cluster/presence.long.test.ts",
  env: { HERALD_NODE_NAME: "the only one" },
});

/** What a node reports of itself; others may share its database. */
async function figuresOf(node: Herald) {
  const { body } = await node.admin<{ items: Node[] }>("GET", "/admin/nodes");
  return body.items.find(({ url }) => url === node.url)?.figures;
}

/** Opens a stream that nobody reads after its head. */
async function openUnreadStream(url: string, token: string) {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname).on("error", () => undefined);
  const answered = Promise.withResolvers<void>();
  socket.once("data", () => {
    socket.pause();
    answered.resolve();
  });
  socket.write(`GET /sse HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await within(answered.promise, "the head of the stream");
  return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() });
}

const list = async () => (await herald().admin<{ items: Node[] }>("GET", "/admin/nodes")).body.items;

test("a single node is listed with its identity and activity, as it reports every few seconds", async () => {
  const [atFirst, ...others] = await list();
  expect(others).toEqual([]);
  expect(atFirst).toMatchObject({
    name: "the only one",
    version: packageJson.version,
    url: herald().url,
    state: "live",
  });
  expect(atFirst?.id).toMatch(UUID_V7);
  expect(
    herald()
      .logLines()
      .find(({ msg }) => msg === "listening")?.node,
  ).toBe(atFirst?.id);
  const [one, two] = [await createOrganization(herald()), await createOrganization(herald())];
  using _socket = await one.socket("alice");
  using _again = await one.socket("alice");
  using _stream = await two.sse("bob");
  const later = await eventually(async () => {
    const [node] = await list();
    return node?.connections === 3 && node.lag_checked_at !== null ? node : undefined;
  }, "a report of three connections and of a look at the heads");
  expect(later).toEqual({
    ...(atFirst as Node),
    connections: 3,
    organizations: 2,
    lag_events: 0,
    reported_at: expect.stringMatching(ISO_MILLISECONDS),
    lag_checked_at: expect.stringMatching(ISO_MILLISECONDS),
    figures: expect.any(Object),
  });
  expect(Date.parse(later.reported_at)).toBeGreaterThan(Date.parse(later.started_at));
});

test("a node counts what it stored and delivered, how fast, and what it could not accept", async () => {
  await using node = await startHerald();
  const figures = () => figuresOf(node);
  expect(await figures()).toEqual({
    sends: 0,
    send_errors: 0,
    deliveries: 0,
    slow_consumers_cut: 0,
    repairs: 0,
    latency_ms: { p50: null, p99: null },
    event_loop_delay_ms: { p50: expect.any(Number), p99: expect.any(Number) },
    bus: isOnNats ? "up" : "none",
  });
  const org = await createOrganization(node);
  const cid = await org.conversation(["alice", "bob"]);
  using alice = await org.socket("alice");
  using bob = await org.sse("bob");
  using again = await org.socket("bob");
  const { mid } = await org.sent("alice", { cid, body: "to three connections", id: "once" });
  expect(mid).toBe("once");
  expect((await org.send("alice", { cid, body: "to three connections", id: "once" })).status).toBe(201);
  expect((await org.send("alice", { cid, body: "another", id: "once" })).status).toBe(409);
  await org.sentSystem("alice", { uids: ["bob", "nobody"], x: {} }); // to two
  for (const listener of [alice, bob, again])
    expect((await listener.next()).message?.body).toBe("to three connections");
  const counted = await eventually(async () => {
    const now = await figures();
    return now?.deliveries === 5 ? now : undefined;
  }, "a report of five deliveries");
  expect(counted).toMatchObject({ sends: 2, send_errors: 0, slow_consumers_cut: 0, repairs: 0 });
  const { p50, p99 } = counted.latency_ms;
  expect(p50).toBeWithin(0.1, 5_000);
  expect(p99).toBeWithin(p50 ?? 0, 5_000);
});

test("a reader that does not take what is waiting is counted when it is cut, whatever its transport", async () => {
  await using node = await startHerald({
    env: {
      HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
      HERALD_LIMIT_REQUESTS_BURST: "0",
      HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: "1048576",
    },
  });
  const org = await createOrganization(node);
  const cid = await org.conversation(["alice", "bob"]);
  const raw = await openRawSocket(node.url, { token: await org.token("bob") });
  raw.sendText({ request: { ping: {}, id: "p" } });
  await raw.frames.next((frame) => frame.opcode === 1, "the pong");
  raw.pause();
  using stream = await openUnreadStream(node.url, await org.token("bob"));
  const cut = async () => {
    for (let burst = 0; burst < 20; burst++) await org.sent("alice", { cid, body: "x".repeat(60_000) });
    return (await figuresOf(node))?.slow_consumers_cut;
  };
  await eventually(async () => (await cut()) === 2 || undefined, "two slow readers to be counted");
  raw.cut();
  expect(stream.isPaused()).toBe(true);
});

test("refused keys and tokens, and calls over a limit, are counted, and the history of all nodes comes if it is asked for", async () => {
  await using node = await startHerald();
  const read = async (query: string) =>
    (await node.admin<{ items: Node[]; history?: NodeHistory }>("GET", `/admin/nodes${query}`)).body;
  const [before] = (await read("")).items;
  expect(before).toMatchObject({ problems: [], refusals: { keys: 0, tokens: 0, rate_limited: 0 } });
  expect((await fetch(`${node.url}/admin/nodes`, { headers: { "Admin-Api-Key": "wrong" } })).status).toBe(401);
  using refused = await openSocket(node.url, { headers: { Authorization: "Bearer wrong" } });
  await expectClosed(refused, 4401);
  const org = await createOrganization(node);
  await node.admin("PUT", `/admin/organizations/${org.id}`, { limits: { requests_per_second: 1 } });
  const statuses = Array.from({ length: 20 }, async () => (await node.admin("GET", org.path("users"))).status);
  const limited = (await Promise.all(statuses)).filter((status) => status === 429).length;
  expect(limited).toBeGreaterThan(0);
  await eventually(async () => {
    const own = (await read("")).items.find(({ url }) => url === node.url);
    const { keys, tokens, rate_limited } = own?.refusals ?? {};
    return (keys === 1 && tokens === 1 && rate_limited === limited) || undefined;
  }, "a report of a refused key, a refused token, and the calls over a limit");
  expect((await read("?history=false")).history).toBeUndefined();
  const { history } = await read("?history=true");
  expect(history?.read_at).toMatch(ISO_MILLISECONDS);
  const [first] = history?.samples ?? [];
  expect(first).toMatchObject({
    at: expect.stringMatching(ISO_MILLISECONDS),
    connections: expect.any(Number),
    sends: null,
  });
});

test("the list of nodes takes no other parameters, and requires a key", async () => {
  expectProblem(await herald().admin("GET", "/admin/nodes?limit=1"), 422, "invalid_request", "/limit");
  expectProblem(await herald().http("GET", "/admin/nodes"), 401, "unauthorized");
});
