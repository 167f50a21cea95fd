import { describe, expect, test } from "bun:test";
import type { Noun } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { uniqueId } from "../../harness/random.ts";
import { expectProblem } from "../../harness/reading/expectations.ts";
import { type Answer, useHerald } from "../../harness/servers/herald.ts";
import { callWith, createKey } from "../../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "each node counts the requests and messages of an organization by itself",
});

type Amounts = Record<"requests_per_second" | "messages_per_second" | "connections" | "stored_bytes", number | null>;
type Shown = Noun & { limits: Amounts; usage: Amounts };

const none: Amounts = { requests_per_second: null, messages_per_second: null, connections: null, stored_bytes: null };

const put = (org: Organization, limits: Partial<Amounts>) => herald().admin<Noun>("PUT", org.path(), { limits });
const show = async (org: Organization) => (await herald().admin<Shown>("GET", org.path())).body;

/** Creates an organization with these limits, and a conversation with `alice` in it. */
async function limited(limits: Partial<Amounts>): Promise<{ org: Organization; cid: string }> {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice"]);
  expect((await put(org, limits)).status).toBe(200);
  return { org, cid };
}

const secondsSince = (began: number) => (performance.now() - began) / 1_000;

/** Repeats a call until it is refused with 429: on a busy machine, the limit may allow one more meanwhile. */
const untilRefused = <Body>(call: () => Promise<Answer<Body>>) =>
  eventually(
    async () => {
      const answer = await call();
      return answer.status === 429 ? answer : undefined;
    },
    "a refusal",
    undefined,
    0,
  );

describe("the limits of an organization", () => {
  test("are the defaults until set; each is set, kept and reset independently", async () => {
    const org = await createOrganization(herald());
    expect((await show(org)).limits).toEqual(none);
    const answer = await herald().admin<Noun>("PUT", org.path(), {
      name: "Acme",
      limits: { requests_per_second: 70, stored_bytes: 0 },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ id: org.id, name: "Acme", created_at: expect.any(String) });
    await put(org, { connections: 3, requests_per_second: null });
    expect(await show(org)).toEqual({
      ...answer.body,
      limits: { ...none, connections: 3, stored_bytes: 0 },
      usage: expect.any(Object),
    });
    await herald().admin("PUT", org.path(), {});
    expect((await show(org)).limits).toEqual({ ...none, connections: 3, stored_bytes: 0 });
  });

  test("may be given when the organization is created", async () => {
    const id = uniqueId("org");
    const path = `/admin/organizations/${id}`;
    expect((await herald().admin("PUT", path, { limits: { messages_per_second: 9 } })).status).toBe(201);
    expect((await herald().admin<Shown>("GET", path)).body.limits).toEqual({ ...none, messages_per_second: 9 });
  });

  test("are whole numbers, and have no other names", async () => {
    const org = await createOrganization(herald());
    for (const value of [-1, 1.5, "5", true, [], 2 ** 53])
      expectProblem(
        await herald().admin("PUT", org.path(), { limits: { connections: value } }),
        422,
        "invalid_request",
        "/limits/connections",
      );
    for (const limits of [null, 5, [], { requests: 5 }])
      expectProblem(await herald().admin("PUT", org.path(), { limits }), 422, "invalid_request");
    expect((await show(org)).limits).toEqual(none);
  });

  test("cannot be changed by keys of that organization, nor seen by others", async () => {
    const [org, other] = [await createOrganization(herald()), await createOrganization(herald())];
    await put(org, { requests_per_second: 90 });
    const { key } = await createKey(herald(), { organization: org.id });
    for (const limits of [{ requests_per_second: 1_000 }, { requests_per_second: null }, {}])
      expectProblem(await callWith(herald(), key, "PUT", org.path(), { limits }), 403, "insufficient_scope");
    expect((await callWith(herald(), key, "PUT", org.path(), { name: "Mine" })).status).toBe(200);
    expect((await callWith<Shown>(herald(), key, "GET", org.path())).body.limits.requests_per_second).toBe(90);
    expectProblem(await callWith(herald(), key, "GET", other.path()), 403, "organization_forbidden");
    const unbound = await createKey(herald(), { scopes: ["directory:write"], organization: null });
    expect((await callWith(herald(), unbound.key, "PUT", org.path(), { limits: {} })).status).toBe(200);
    expect(await show(org)).toMatchObject({ name: "Mine", limits: { requests_per_second: 90 } });
  });

  test("survive the organization, so that nobody lifts them by deleting it", async () => {
    const { org, cid } = await limited({ stored_bytes: 9_000 });
    await org.sent("alice", { cid, body: "x".repeat(1_000) });
    await herald().admin("DELETE", org.path());
    await createOrganization(herald(), org.id);
    const { limits, usage } = await show(org);
    expect(limits.stored_bytes).toBe(9_000);
    expect(usage.stored_bytes).toBeLessThan(200);
  });
});

describe("requests", () => {
  test("of one organization share one limit over all its keys, even those created by one of them; others are served", async () => {
    const { org } = await limited({ requests_per_second: 10 });
    const manager = await createKey(herald(), { organization: org.id });
    const keys = [manager.key];
    for (let count = 0; count < 4; count++) {
      const made = await callWith<{ key: string }>(herald(), manager.key, "POST", "/admin/keys", {
        name: "one more",
        scopes: ["directory:read"],
      });
      expect(made.status).toBe(201);
      keys.push(made.body.key);
    }
    const calls = keys.flatMap((key) =>
      Array.from({ length: 30 }, () => callWith<Shown>(herald(), key, "GET", org.path())),
    );
    const began = performance.now();
    const answers = await Promise.all(calls);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(answers.length - refused.length).toBeLessThanOrEqual(40 + 10 * secondsSince(began));
    expect(refused.length).toBeGreaterThan(100);
    for (const answer of refused) expectProblem(answer, 429, "rate_limited");
    const [{ headers } = new Response()] = refused;
    expect(headers.get("ratelimit-policy")).toBe('"organization-requests";q=10;w=1');
    expect(headers.get("ratelimit")).toMatch(/^"organization-requests";r=0;t=\d+$/);
    expect(headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    const other = await createOrganization(herald());
    const { key } = await createKey(herald(), { organization: other.id });
    expect((await callWith(herald(), key, "GET", other.path())).status).toBe(200);
  });

  test("with a key of no organization count for the one that they name, in the path or in the body", async () => {
    const { org, cid } = await limited({ requests_per_second: 1 });
    expect((await herald().admin("GET", org.path())).status).toBe(200);
    await untilRefused(() => herald().admin("GET", org.path()));
    const answer = await untilRefused(() => org.send<never>("alice", { cid, body: "x" }));
    expectProblem(answer, 429, "rate_limited");
    expect(answer.headers.get("ratelimit-policy")).toBe('"organization-requests";q=1;w=1');
  });

  test("cost more with a large body or response, and exactly one without", async () => {
    const { org, cid } = await limited({ requests_per_second: 20 });
    const { key } = await createKey(herald(), { organization: org.id });
    const large = { organizationId: org.id, senderId: "alice", message: { cid, body: "x" }, pad: "x".repeat(600_000) };
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => callWith(herald(), key, "POST", "/admin/message", large)),
    );
    // 10 units each: 40 are available at once, 20 more each second, and the last one may go into debt.
    expect(answers.filter(({ status }) => status === 422).length).toBeWithin(3, 7 + 2 * secondsSince(began));
    const { org: small } = await limited({ requests_per_second: 20 });
    const cheap = await Promise.all(Array.from({ length: 36 }, () => herald().admin("GET", small.path())));
    expect(cheap.filter(({ status }) => status === 200)).toHaveLength(36);
    const { org: listed, cid: room } = await limited({ requests_per_second: 2 });
    for (let count = 0; count < 3; count++) await listed.sent("alice", { cid: room, body: "x".repeat(65_000) });
    expect((await herald().admin("GET", listed.path("conversations", room, "messages"))).status).toBe(200);
    const inDebt = await herald().admin("GET", listed.path());
    expectProblem(inDebt, 429, "rate_limited");
    expect(Number(inDebt.headers.get("retry-after"))).toBeWithin(1, 11);
  });
});

describe("messages", () => {
  test("are limited per second; more get 429, and retries and dry runs count for nothing", async () => {
    const { org, cid } = await limited({ messages_per_second: 2 });
    await org.sent("alice", { id: "m1", cid, body: "x" });
    for (let count = 0; count < 10; count++) {
      const retried = await org.send("alice", { id: "m1", cid, body: "x" });
      expect([retried.status, retried.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
      const body = { organizationId: org.id, senderId: "alice", message: { cid, body: "x" } };
      expect((await herald().admin("POST", "/admin/message?dry_run=true", body)).status).toBe(200);
    }
    const began = performance.now();
    const answers = await Promise.all(Array.from({ length: 20 }, () => org.send("alice", { cid, body: "x" })));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(answers.length - refused.length).toBeWithin(1, 7 + 2 * secondsSince(began));
    for (const answer of refused) {
      expectProblem(answer, 429, "rate_limited");
      expect(answer.headers.get("ratelimit-policy")).toBe('"organization-messages";q=2;w=1');
    }
    const system = await untilRefused(() => org.sendSystem<never>("alice", { uids: ["alice"] }));
    expectProblem(system, 429, "rate_limited");
    await put(org, { messages_per_second: null });
    expect((await org.send("alice", { cid, body: "x" })).status).toBe(201);
  });

  test("count once each if they go to a conversation or to everyone, however many hear them", async () => {
    const { org, cid } = await limited({ messages_per_second: 3 });
    const uids = Array.from({ length: 20 }, (_, index) => `user ${index}`);
    for (const uid of uids) await org.join(cid, uid);
    const ways = [{ everyone: true }, { cid }, { everyone: true }];
    for (const way of ways) await org.sentSystem("alice", way);
    const more = Array.from({ length: 20 }, (_, index) => org.sendSystem("alice", ways[index % 2] ?? {}));
    const refused = (await Promise.all(more)).filter(({ status }) => status !== 201);
    expect(refused.length).toBeGreaterThan(10);
    for (const answer of refused) expectProblem(answer, 429, "rate_limited");
  });
});

describe("stored bytes", () => {
  test("are counted with each event; over their limit nothing is stored, but retries are answered as before", async () => {
    const { org, cid } = await limited({ stored_bytes: 20_000 });
    const before = (await show(org)).usage.stored_bytes ?? 0;
    const first = await org.sent("alice", { id: "m1", cid, body: "x".repeat(10_000) });
    const used = (await show(org)).usage.stored_bytes ?? 0;
    expect(used - before).toBeWithin(10_000, 10_600);
    const more = { id: "m2", cid, body: "x".repeat(10_000) };
    expectProblem(await org.send("alice", more), 422, "invalid_request");
    expectProblem(
      await herald().admin("POST", "/admin/message?dry_run=true", {
        organizationId: org.id,
        senderId: "alice",
        message: more,
      }),
      422,
      "invalid_request",
    );
    expect((await show(org)).usage.stored_bytes).toBe(used);
    expect((await org.send("alice", { cid, body: "small" })).status).toBe(201);
    await put(org, { stored_bytes: 10 });
    expectProblem(await org.sendSystem("alice", { uids: ["alice"] }), 422, "invalid_request");
    const members = { participants: ["alice", "bob"] };
    expectProblem(await herald().admin("PUT", org.path("conversations", cid), members), 422, "invalid_request");
    expectProblem(
      await herald().admin("PUT", org.path("conversations", cid, "participants", "bob")),
      422,
      "invalid_request",
    );
    const retried = await org.send("alice", { id: "m1", cid, body: "x".repeat(10_000) });
    expect([retried.status, retried.body]).toEqual([201, { ask: first }]);
    await put(org, { stored_bytes: 0 });
    expect((await org.send("alice", more)).status).toBe(201);
  });
});

test("many concurrent sends store no more than there is room for", async () => {
  const { org, cid } = await limited({ stored_bytes: 100_000 });
  const sends = Array.from({ length: 50 }, () => org.send("alice", { cid, body: "x".repeat(10_000) }));
  const statuses = (await Promise.all(sends)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(9);
  expect(statuses.filter((status) => status === 422)).toHaveLength(41);
});

describe("the usage of an organization", () => {
  test("shows requests and messages of the last second, connections, bytes", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using _socket = await org.socket("alice");
    const usage = await eventually(async () => {
      await org.sent("alice", { cid, body: "x" });
      const { usage: told } = await show(org);
      return told.messages_per_second !== 0 && told.requests_per_second !== 0 ? told : undefined;
    }, "a second in which messages were sent");
    expect(usage.connections).toBe(1);
    expect(usage.messages_per_second).toBeWithin(1, 1_000);
    expect(usage.requests_per_second).toBeWithin(usage.messages_per_second ?? 1, 2_000);
    expect(usage.stored_bytes).toBeWithin(100, 1_000_000);
  });
});
