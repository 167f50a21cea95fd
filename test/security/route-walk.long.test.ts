import { describe, expect, test } from "bun:test";
import { frameRequests } from "../../src/contract/connections/frames.ts";
import { defaultPayloadLimits } from "../../src/contract/limits.ts";
import { createOperations } from "../../src/contract/operations/all.ts";
import type { Operation } from "../../src/contract/operations/operation.ts";
import { callTool, connectMcp } from "../harness/clients/mcp.ts";
import { openSocket } from "../harness/clients/socket.ts";
import { openFeed, requestSse } from "../harness/clients/sse.ts";
import type { Problem } from "../harness/clients/wire.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { type Answer, TEST_TOKEN_SECRET, useHerald } from "../harness/servers/herald.ts";
import { goodClaims, signToken } from "../harness/servers/tokens.ts";
import { servedRoutes } from "./served.ts";
import { canary, contentsOf, createTenant, type Ids, idsOfNothing, type Tenant } from "./tenants.ts";
import { argumentsOf, type Call, callsOf, frames } from "./walk-calls.ts";

const herald = useHerald({
  env: {
    HERALD_TOKEN_SECRET: TEST_TOKEN_SECRET,
    HERALD_LIMIT_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0",
    HERALD_LIMIT_REQUESTS_BURST: "0",
  },
});

const operations = Object.values<Operation>(createOperations(defaultPayloadLimits));
const withKey = operations.filter(({ scope }) => scope !== undefined);
/** Calls that name only the organization itself cannot name another's things in it. */
const isAboutItself = ({ path, method }: Operation) => path === "/admin/organizations/{org}" && method !== "get";
/** Operations on what one organization has. */
const withinOne = withKey.filter(({ limitsItself, path }) => limitsItself === true || path.includes("{org}"));
const isAboutOne = ({ path, lines }: Operation) =>
  path.includes("{org}") || (path.startsWith("/admin/message") && lines === undefined); // each line of a batch is refused alone

/** Routes served without a key, and those for users, not for keys. A route that is in no table fails the walk. */
const openRoutes = [
  "/",
  "/healthz",
  "/readyz",
  "/metrics",
  "/openapi.json",
  "/asyncapi.json",
  ...["/docs", "/docs/guides", "/docs/realtime", "/docs/errors"].flatMap((path) => [path, `${path}.md`]),
  "/docs/search.js",
  "/docs/search.json",
  "/docs/api/{feature}",
  "/docs/errors/{code}",
  "/docs/close-codes/{code}",
  "/docs/tutorial/{page}",
  "/docs/how-to/{page}",
  "/docs/reference/{page}",
  "/docs/explanation/{page}",
  "/llms.txt",
  "/console",
  "/console/demo",
  "/console/assets/{file}",
];
const userRoutes = ["/ws", "/sse"];
/** Tools are calls of operations. */
const toolRoute = "POST /mcp";

/** What is open, without what differs between calls and nodes: the samples of a scrape, and the address of the node. */
const lasting = (text: string) =>
  text
    .replaceAll(/^\w+(\{.*\})? \S+$/gm, "")
    .replaceAll(/\n+/g, "\n")
    .replaceAll(/127\.0\.0\.1:\d+/g, "");

const walked = new Map<string, number>();

/** Of these, the calls that name an organization: for operations that limit themselves, some or none. */
function callsAboutOne(operation: Operation, ids: Ids): Call[] {
  const calls = callsOf(operation, ids);
  if (isAboutOne(operation) || operation.limitsItself !== true || operation.operationId === "createKey") return calls;
  return calls.filter(([, target]) => target.includes("?organization="));
}

/** A text without the ids that the caller named. */
function withoutIds(text: string, ids: Ids): string {
  let shown = text;
  for (const id of Object.values(ids).sort((left, right) => right.length - left.length))
    shown = shown.replaceAll(JSON.stringify(id).slice(1, -1), "<id>");
  return shown;
}

/** A response without what differs between any two calls: ids named by the caller, secrets, times, rates of the last second. */
function comparable({ status, text }: Answer<unknown>, ids: Ids): string {
  const shown = withoutIds(text, ids).replaceAll(
    /"(request_id|created_at|expires_at|token|key|id|file_id|mid|server_mid|secret|cursor)":"[^"]*"/g,
    '"$1":"…"',
  );
  const timeless = shown.replaceAll(/"(t|last_used_at|old_secret_expires_at)":("[^"]*"|\d+|null)/g, '"$1":"…"');
  return `${status} ${timeless.replaceAll(/"usage":\{"requests_per_second":\d+,"messages_per_second":\d+/g, '"usage":{"…"')}`;
}

function expectNothingOf(other: Tenant, answer: { text: string; headers?: Headers }, ids: Ids): void {
  const own = new Set(Object.values(ids));
  const seen = answer.text + JSON.stringify([...(answer.headers ?? [])]);
  const leaked = [
    other.shared.messageId,
    other.own.messageId,
    other.own.systemMid,
    other.own.keyId,
    other.own.fileId,
    other.key,
    other.own.org,
    other.own.uid,
    other.own.cid,
  ];
  for (const secret of leaked.filter((text) => !own.has(text))) expect(seen).not.toContain(secret);
  let withoutOwn = seen;
  for (const id of own) withoutOwn = withoutOwn.replaceAll(id, "");
  expect(withoutOwn).not.toContain(canary);
}

async function createTwo(): Promise<{ mine: Tenant; other: Tenant }> {
  return { mine: await createTenant(herald(), "mine"), other: await createTenant(herald(), canary) };
}

const call = (key: string, operation: Operation, [method, target, body]: Call) => {
  const route = `${operation.method.toUpperCase()} ${operation.path}`;
  walked.set(route, (walked.get(route) ?? 0) + 1);
  const headers = { "Admin-Api-Key": key };
  if (typeof body !== "string") return herald().admin<Problem>(method, target, body, headers);
  return herald().http<Problem>(method, target, {
    body,
    headers: { ...headers, "Content-Type": "application/x-ndjson" },
  });
};

describe("promise 6: the key of one organization, on every route", () => {
  test("gets one refusal for whatever it names of another organization, the same as for a missing one", async () => {
    const { mine, other } = await createTwo();
    const before = await contentsOf(other);
    using listener = await other.org.socket("alice");
    for (const operation of withKey) {
      const nothing = idsOfNothing();
      for (const ids of [
        other.own,
        other.shared,
        nothing,
        { ...nothing, org: other.own.org },
        { ...mine.own, org: other.own.org },
      ]) {
        for (const one of callsAboutOne(operation, ids)) {
          const answer = await call(mine.key, operation, one);
          expect({ operation: operation.operationId, status: answer.status }).toMatchObject({ status: 403 });
          expectProblem(answer, 403, "organization_forbidden");
          expect(comparable(answer, ids)).toBe(
            comparable(await call(mine.key, operation, callsAboutOne(operation, nothing)[0] ?? one), nothing),
          );
          expectNothingOf(other, answer, ids);
        }
      }
    }
    expect(await contentsOf(other)).toBe(before);
    await other.org.expectNothingElse(listener);
  });

  // Each operation begins with two new organizations, as some calls delete.
  test.each(withinOne.filter((operation) => !isAboutItself(operation)))(
    "cannot distinguish in $operationId ids that another organization has from ids that nobody has",
    async (operation) => {
      const { mine, other } = await createTwo();
      const before = await contentsOf(other);
      const nothing = { ...idsOfNothing(), org: mine.own.org };
      const theirs = { ...other.own, org: mine.own.org };
      const asked = callsOf(operation, theirs);
      for (const [index, one] of callsOf(operation, nothing).entries()) {
        const ofNothing = await call(mine.key, operation, one);
        const ofTheirs = await call(mine.key, operation, asked[index] ?? one);
        const { operationId } = operation;
        expect({ operationId, answer: comparable(ofTheirs, theirs) }).toEqual({
          operationId,
          answer: comparable(ofNothing, nothing),
        });
        expectNothingOf(other, ofTheirs, theirs);
      }
      expect(await contentsOf(other)).toBe(before);
    },
  );

  test.each(withinOne)(
    "affects by $operationId its own organization if another has the same ids, and nothing of the other's",
    async (operation) => {
      const { mine, other } = await createTwo();
      const before = await contentsOf(other);
      using listener = await other.org.socket("alice");
      for (const one of callsOf(operation, mine.shared)) {
        const answer = await call(mine.key, operation, one);
        expect({ operationId: operation.operationId, isFine: answer.status < 500 }).toMatchObject({ isFine: true });
        expectNothingOf(other, answer, mine.shared);
      }
      expect(await contentsOf(other)).toBe(before);
      await other.org.expectNothingElse(listener);
    },
  );

  test("watches its own organization's events, and none of another with the same users and conversations", async () => {
    const { mine, other } = await createTwo();
    for (const query of [{}, { cid: "room" }, { uid: "alice" }, { kind: "message" }]) {
      using feed = await openFeed(herald().url, mine.own.org, mine.key, query);
      await other.org.sent("alice", { cid: "room", body: "not yours" });
      await other.org.sentSystem("alice", { uids: ["alice"], x: { not: "yours" } });
      await mine.org.sent("bob", { cid: "room", body: "yours" });
      expect((await feed.next()).message?.body).toBe("yours");
      for (const { data } of feed.raw) expectNothingOf(other, { text: data }, idsOfNothing());
    }
  });

  test("is not a user's token, nor a user's token a key", async () => {
    const { mine } = await createTwo();
    for (const operation of withKey)
      for (const one of callsOf(operation, mine.own))
        expectProblem(await call(mine.token, operation, one), 401, "unauthorized");
    const stream = await requestSse(herald().url, { Authorization: `Bearer ${mine.key}` });
    if ("sse" in stream) throw new Error("a stream was granted to a key");
    expectProblem(stream.refused, 401, "unauthorized");
    using socket = await openSocket(herald().url, { headers: { Authorization: `Bearer ${mine.key}` } });
    expect((await socket.closed).code).toBe(4401);
  });

  test("gets by tools the refusals that it gets by requests, whatever it names of another organization", async () => {
    const { mine, other } = await createTwo();
    const before = await contentsOf(other);
    await using mcp = await connectMcp({ url: herald().url, key: mine.key });
    const { tools } = await mcp.client.listTools();
    const names = new Set(tools.map(({ name }) => name));
    const called = withKey.filter(({ operationId }) => names.has(operationId));
    expect(called.length).toBeGreaterThan(50);
    for (const operation of called) {
      for (const ids of [other.own, other.shared, { ...mine.own, org: other.own.org }]) {
        for (const one of callsAboutOne(operation, ids)) {
          const { isError, text } = await callTool(mcp.client, operation.operationId, argumentsOf(operation, one));
          expect({ operation: operation.operationId, isError }).toMatchObject({ isError: true });
          expect(text).toStartWith("403 organization_forbidden");
          expectNothingOf(other, { text }, ids);
        }
      }
    }
    walked.set(toolRoute, called.length);
    const uri = `herald://organizations/${other.own.org}/conversations/${other.own.cid}/messages`;
    await expect(mcp.client.readResource({ uri })).rejects.toThrow("403 organization_forbidden");
    expect(await contentsOf(other)).toBe(before);
  });

  test("sees on open routes what everyone sees", async () => {
    const { mine, other } = await createTwo();
    for (const path of openRoutes) {
      const id = { "X-Request-Id": "the-same" };
      const plain = await herald().http<unknown>("GET", path, { headers: id });
      const headers = { ...id, "Admin-Api-Key": mine.key, Authorization: `Bearer ${mine.token}` };
      const answer = await herald().http<unknown>("GET", path, { headers });
      walked.set(`GET ${path}`, 2);
      expect(lasting(answer.text)).toBe(lasting(plain.text));
      expectNothingOf(other, answer, idsOfNothing());
    }
  });
});

describe("promise 6: the token of one organization's user, in every request over a socket and a stream", () => {
  test("hears its own organization's messages if another has the same users and conversations", async () => {
    const { mine, other } = await createTwo();
    walked.set("ALL /ws", 1).set("ALL /sse", 1);
    using socket = await mine.org.socket("alice");
    using stream = await mine.org.sse("alice");
    await other.org.sent("alice", { cid: "room", body: "not yours" });
    await other.org.sentSystem("alice", { uids: ["alice"], x: { not: "yours" } });
    await other.org.leave("room", "alice");
    await herald().admin("DELETE", other.org.path("users", "alice", "sessions"));
    await mine.org.sent("bob", { cid: "room", body: "yours" });
    for (const listener of [socket, stream]) expect((await listener.next()).message?.body).toBe("yours");
    await mine.org.expectNothingElse(socket, stream);
  });

  test("cannot distinguish ids that another organization has from ids that nobody has", async () => {
    expect(Object.keys(frames)).toEqual(Object.keys(frameRequests));
    const { mine, other } = await createTwo();
    const before = await contentsOf(other);
    using socket = await mine.org.socket("alice");
    for (const [operation, payloads] of Object.entries(frames)) {
      for (const payload of payloads) {
        const nothing = idsOfNothing();
        for (const ids of [other.own, other.shared]) {
          const theirs = { ...ids, cid: other.own.cid, uid: other.own.uid };
          const ofTheirs = JSON.stringify(await socket.request(operation, payload(theirs), "same"));
          const ofNothing = JSON.stringify(await socket.request(operation, payload(nothing), "same"));
          expect({ operation, answer: withoutIds(ofTheirs, theirs) }).toEqual({
            operation,
            answer: withoutIds(ofNothing, nothing),
          });
          expectNothingOf(other, { text: ofTheirs }, theirs);
        }
      }
      walked.set(`frame ${operation}`, payloads.length * 2);
    }
    expect(await contentsOf(other)).toBe(before);
    const own = await socket.request("message_list", { cid: "room" });
    expect(own.messages?.map(({ body }) => body)).toEqual(["body mine"]);
    expectNothingOf(other, { text: JSON.stringify(own) }, idsOfNothing());
    for (const event of socket.events) expectNothingOf(other, { text: JSON.stringify(event) }, idsOfNothing());
  });

  test("gets the same answer for another organization's message as `since` as for a missing one", async () => {
    const { mine, other } = await createTwo();
    for (const since of [other.own.messageId, other.shared.messageId, Bun.randomUUIDv7()]) {
      const { socket, response } = await mine.org.connect("alice", { since });
      expect(response.recovered).toBe(false);
      await mine.org.expectNothingElse(socket);
      socket.terminate();
      using stream = await mine.org.sse("alice", { lastEventId: since });
      await mine.org.expectNothingElse(stream);
      for (const text of socket.frames) expectNothingOf(other, { text }, idsOfNothing());
    }
  });

  test("does not carry a connection into another organization, even if the user has the same id there", async () => {
    const { mine, other } = await createTwo();
    const socket = await mine.org.socket("alice");
    const response = await socket.request("connect", { token: other.token });
    walked.set("frame connect", 1);
    expect(response.error?.code).toBe("bad_request");
    expect((await socket.closed).code).toBe(4400);
    expectNothingOf(other, { text: socket.frames.join("") }, idsOfNothing());
  });

  test("opens nothing if its organization does not exist, and creates none", async () => {
    const token = await signToken(goodClaims(idsOfNothing().org, "alice"));
    using socket = await openSocket(herald().url);
    expect((await socket.request("connect", { token })).error?.code).toBe("unauthorized");
    const stream = await requestSse(herald().url, { Authorization: `Bearer ${token}` });
    expect("refused" in stream && stream.refused.status).toBe(401);
  });
});

test("the walk has covered everything that a node serves, and there is nothing else", async () => {
  const served = (await servedRoutes()).filter((route) => !/^HEAD /.test(route));
  const known = [
    ...operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`),
    ...openRoutes.map((path) => `GET ${path}`),
    ...userRoutes.map((path) => `ALL ${path}`),
    toolRoute,
  ];
  expect([...new Set(served)].sort()).toEqual([...new Set(known)].sort());
  const everywhere = [...known, ...Object.keys(frameRequests).map((operation) => `frame ${operation}`)];
  expect([...walked.keys()].sort()).toEqual([...new Set(everywhere)].sort());
  console.log([...walked].map(([route, calls]) => `walked ${route}: ${calls}`).join("\n"));
});
