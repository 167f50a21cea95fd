import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { type FeedQuery, openFeed, requestFeed, type Sse } from "../harness/clients/sse.ts";
import type { Page } from "../harness/clients/wire.ts";
import { eventually, within } from "../harness/deadline.ts";
import { uniqueId } from "../harness/random.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { startHerald, useHerald } from "../harness/servers/herald.ts";
import { callWith, createKey } from "../harness/servers/keys.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

const herald = useHerald();

const watch = (org: Organization, query?: FeedQuery) => openFeed(herald().url, org.id, herald().key, query);

/** What a feed has shown up to a final system message, which this sends. */
async function shownOn(org: Organization, ...feeds: Sse[]): Promise<(string | undefined)[][]> {
  const mark = uniqueId("mark");
  await org.sentSystem("alice", { id: mark, uids: ["alice"] });
  await Promise.all(feeds.map((feed) => feed.next((event) => event.system_message?._id === mark, "the mark")));
  return feeds.map((feed) =>
    feed.events.map(({ message, system_message }) => message?.body ?? system_message?._id).filter((id) => id !== mark),
  );
}

describe("GET …/events", () => {
  test("shows everything delivered, in one order, byte for byte as recipients get it, even what nobody receives", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using feed = await watch(org);
    using socket = await org.socket("alice");
    expect(feed.headers.get("content-type")).toMatch(/^text\/event-stream\b/);
    expect(feed.headers.get("cache-control")).toBe("no-store");
    expect(feed.headers.get("x-request-id") ?? "").not.toBe("");
    const ask = await org.sent("bob", { cid, body: "two\nlines ☃", x: { a: 1 }, attachments: [{ name: "a.pdf" }] });
    await org.sentSystem("bob", { id: "s-1", uids: ["alice"], x: { b: 2 } });
    await org.sentSystem("bob", { id: "to nobody", uids: ["nobody"] });
    for (const _ of [1, 2, 3]) await feed.next();
    for (const _ of [1, 2]) await socket.next();
    expect(feed.raw.slice(0, 2)).toEqual([
      { event: "message", id: `2-${ask.server_mid}`, data: socket.frames.at(-2) ?? "" },
      { event: "system_message", id: feed.raw[1]?.id, data: socket.frames.at(-1) ?? "" },
    ]);
    expect(feed.raw[2]).toMatchObject({ event: "system_message" });
    expect(new Set(feed.raw.map(({ id }) => id)).size).toBe(3);
  });

  test("misses nothing sent once it has answered, and shows nothing older", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    for (let round = 0; round < 15; round++) {
      using feed = await watch(org);
      const ask = await org.sent("alice", { cid, body: String(round) });
      expect((await feed.next()).message?._id).toBe(ask.server_mid);
    }
    using later = await openFeed(herald().url, org.id, herald().key);
    expect(await shownOn(org, later)).toEqual([[]]);
  });

  test("shows system messages to a conversation and to everyone where they concern the filter", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const other = await org.conversation(["carol"]);
    using all = await watch(org);
    using ofConversation = await watch(org, { cid });
    using ofBob = await watch(org, { uid: "bob" });
    using ofCarol = await watch(org, { uid: "carol", kind: "system_message" });
    using messages = await watch(org, { kind: "message" });
    await org.sentSystem("alice", { id: "to c", cid });
    await org.sentSystem("carol", { id: "to other", cid: other });
    await org.sentSystem("alice", { id: "to all", everyone: true });
    await org.leave(cid, "bob");
    await org.sentSystem("alice", { id: "without bob", cid });
    await org.sent("alice", { cid, body: "last" });
    await org.sentSystem("alice", { id: "end", everyone: true });
    const idsOn = (feed: Sse) => feed.events.map(({ message, system_message }) => message?.body ?? system_message?._id);
    for (const feed of [all, ofBob, ofCarol]) await feed.next(({ system_message }) => system_message?._id === "end");
    for (const feed of [ofConversation, messages]) await feed.next(({ message }) => message?.body === "last");
    expect([all, ofConversation, ofBob, ofCarol, messages].map(idsOn)).toEqual([
      ["to c", "to other", "to all", "without bob", "last", "end"],
      ["to c", "without bob", "last"],
      ["to c", "to all", "end"],
      ["to other", "to all", "end"],
      ["last"],
    ]);
  });

  test("keeps the order of the log under concurrent sends, the same on every feed", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using first = await watch(org);
    using second = await watch(org);
    using socket = await org.socket("alice");
    await Promise.all(Array.from({ length: 100 }, (_, index) => org.sent("alice", { cid, body: String(index) })));
    const [one = [], two = []] = await shownOn(org, first, second);
    expect(one).toHaveLength(100);
    expect(two).toEqual(one);
    while (socket.events.length < 101) await socket.next();
    expect(socket.events.map(({ message }) => message?.body).filter(Boolean)).toEqual(one);
  });

  test("shows only what matches all of its filters", async () => {
    const org = await createOrganization(herald());
    const ours = await org.conversation(["alice", "bob"]);
    const theirs = await org.conversation(["bob", "carol"]);
    const filters: FeedQuery[] = [
      {},
      { kind: "message" },
      { kind: "system_message" },
      { cid: theirs },
      { uid: "alice" },
      { uid: "carol" },
      { uid: "alice", kind: "message" },
      { uid: "alice", cid: theirs },
      { uid: "nobody" },
    ];
    const feeds = await Promise.all(filters.map((filter) => watch(org, filter)));
    await org.sent("bob", { cid: ours, body: "to ours" });
    await org.sent("bob", { cid: theirs, body: "to theirs" });
    await org.sentSystem("bob", { id: "to alice", uids: ["carol", "alice"] });
    await org.sentSystem("alice", { id: "by alice", uids: ["bob"] });
    using all = await watch(org);
    await shownOn(org, all); // by now every feed got everything
    const shown = () =>
      feeds.map(({ events }) => events.map((event) => event.message?.body ?? event.system_message?._id));
    const expected = [
      ["to ours", "to theirs", "to alice", "by alice"],
      ["to ours", "to theirs"],
      ["to alice", "by alice"],
      ["to theirs"],
      ["to ours", "to alice", "by alice"],
      ["to theirs", "to alice"],
      ["to ours"],
      [],
      [],
    ];
    const isThere = () => shown().every((bodies, index) => bodies.length >= (expected[index]?.length ?? 0));
    await eventually(async () => isThere() || undefined, "what the feeds show");
    expect(shown().map((bodies) => bodies.filter((body) => !body?.startsWith("mark")))).toEqual(expected);
    for (const feed of feeds) feed.close();
  });

  test("of a user follows the user in and out of conversations, from the event on", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    using feed = await watch(org, { uid: "bob" });
    await org.sent("alice", { cid, body: "before" });
    await org.join(cid, "bob");
    await org.sent("alice", { cid, body: "while" });
    await org.leave(cid, "bob");
    await org.sent("alice", { cid, body: "after" });
    await org.sentSystem("alice", { id: "end", uids: ["bob"] });
    await feed.next((event) => event.system_message?._id === "end", "the end");
    expect(feed.events.map((event) => event.message?.body ?? "end")).toEqual(["while", "end"]);
  });

  test("accepts no other filters, and says what is wrong with them", async () => {
    const org = await createOrganization(herald());
    const path = org.path("events");
    expectProblem(await herald().admin("GET", `${path}?kind=other`), 422, "invalid_request", "/kind");
    expectProblem(await herald().admin("GET", `${path}?cid=`), 422, "invalid_request", "/cid");
    expectProblem(await herald().admin("GET", `${path}?user=alice`), 422, "invalid_request", "/user");
    expectProblem(await herald().admin("GET", `${path}?uid=a&uid=b`), 422, "invalid_request", "/uid");
  });

  test("is refused without `observe`, by a key of another organization, and for a missing organization", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    const refusal = async (key: string, id = org.id) => {
      const answer = await requestFeed(herald().url, id, key);
      if ("sse" in answer) throw new Error("the feed was granted");
      return answer.refused;
    };
    const { key: reader } = await createKey(herald(), { scopes: ["history:read"] });
    const { key: foreign } = await createKey(herald(), { organization: other.id });
    expectProblem(await refusal(reader), 403, "insufficient_scope");
    expectProblem(await refusal(foreign), 403, "organization_forbidden");
    expectProblem(await refusal("nonsense"), 401, "unauthorized");
    expectProblem(await refusal(herald().key, uniqueId("nowhere")), 404, "organization_not_found");
    const method = await herald().admin("POST", org.path("events"), {});
    expectProblem(method, 405, "method_not_allowed");
  });

  test("is recorded in the audit log, as it shows what people write", async () => {
    const org = await createOrganization(herald());
    const { key, id } = await createKey(herald(), { organization: org.id, scopes: ["observe"] });
    using _feed = await openFeed(herald().url, org.id, key, { uid: "alice" });
    const { body } = await callWith<Page<{ operation: string; status: number; target: object }>>(
      herald(),
      key,
      "GET",
      `/admin/audit?key=${id}&operation=streamEvents`,
    );
    expect(body.items).toMatchObject([{ operation: "streamEvents", status: 200, target: { organization: org.id } }]);
  });

  test("requested by HEAD is not begun", async () => {
    const org = await createOrganization(herald());
    const answer = await herald().admin("HEAD", org.path("events"));
    expect([answer.status, answer.text]).toEqual([200, ""]);
  });
});

describe("a feed ends", () => {
  test("within 5 seconds of its key's revocation, and no event comes after that", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { key, id } = await createKey(herald(), { organization: org.id, scopes: ["observe"] });
    using feed = await openFeed(herald().url, org.id, key);
    using other = await watch(org);
    await herald().admin("DELETE", `/admin/keys/${id}`);
    await within(feed.closed, "the end of the feed", 5_000);
    await org.sent("alice", { cid, body: "secret" });
    expect((await other.next()).message?.body).toBe("secret");
    expect(feed.events).toEqual([]);
  });

  test("when its key expires, or the old secret of a rotated key does", async () => {
    const org = await createOrganization(herald());
    const expires_at = new Date(Date.now() + 3_000).toISOString();
    const { key: short } = await createKey(herald(), { organization: org.id, scopes: ["observe"], expires_at });
    const { key: old, id } = await createKey(herald(), { organization: org.id, scopes: ["observe"] });
    using expiring = await openFeed(herald().url, org.id, short);
    using rotated = await openFeed(herald().url, org.id, old);
    await herald().admin("POST", `/admin/keys/${id}/rotate`, { overlap_seconds: 1 });
    await within(Promise.all([expiring.closed, rotated.closed]), "the end of the feeds", 8_000);
  });

  test("with its organization, and no other does", async () => {
    const org = await createOrganization(herald());
    const other = await createOrganization(herald());
    await other.user("alice");
    using feed = await watch(org);
    using untouched = await watch(other);
    await herald().admin("DELETE", org.path());
    await within(feed.closed, "the end of the feed");
    expect(await shownOn(other, untouched)).toEqual([[]]);
  });

  test("but not when only a user of the organization is signed out", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    using feed = await watch(org);
    await herald().admin("DELETE", org.path("users", "alice", "sessions"));
    expect(await shownOn(org, feed)).toEqual([[]]);
  });
});

describe("feeds are bounded", () => {
  test("a reader that does not read is cut, and costs the others nothing", async () => {
    await using server = await startHerald({
      env: { HERALD_LIMIT_CONNECTION_BACKLOG_BYTES: "1048576", HERALD_LIMIT_REQUESTS_PER_SECOND: "0" },
    });
    const org = await createOrganization(server);
    const cid = await org.conversation(["alice"]);
    using neighbour = await openFeed(server.url, org.id, server.key);
    using socket = await org.socket("alice");
    const { hostname, port } = new URL(server.url);
    const slow = connect(Number(port), hostname);
    slow.write(`GET ${org.path("events")} HTTP/1.1\r\nHost: x\r\nAdmin-Api-Key: ${server.key}\r\n\r\n`);
    await new Promise((resolve) => slow.once("data", resolve));
    slow.pause();
    const body = "x".repeat(60_000);
    for (let index = 0; index < 300; index++) await org.sent("alice", { cid, body });
    while (neighbour.events.length < 300 || socket.events.length < 300)
      await Promise.all([neighbour.next(), socket.next()]);
    let received = 0;
    slow.on("data", (data) => {
      received += data.length;
    });
    slow.on("error", () => undefined);
    const ended = new Promise((resolve) => slow.on("close", resolve));
    slow.resume();
    await within(ended, "the slow feed to be cut");
    expect(received).toBeLessThan(300 * body.length);
    await server.stop();
  });

  test("they count as connections of their address", async () => {
    await using server = await startHerald({ env: { HERALD_LIMIT_CONNECTIONS_PER_ADDRESS: "2" } });
    const org = await createOrganization(server);
    using socket = await org.socket("alice");
    using feed = await openFeed(server.url, org.id, server.key);
    const answer = await requestFeed(server.url, org.id, server.key);
    if ("sse" in answer) throw new Error("a third connection was granted");
    expectProblem(answer.refused, 429, "rate_limited");
    expect(answer.refused.headers.get("retry-after")).toBe("5");
    feed.close();
    using again = await eventually(
      () => openFeed(server.url, org.id, server.key).catch(() => undefined),
      "room for another feed",
    );
    expect(await shownOn(org, again)).toEqual([[]]);
    await socket.next();
    await server.stop();
  });

  test("the number per organization and node is limited, without counting another's", async () => {
    await using server = await startHerald({ env: { HERALD_LIMIT_ORGANIZATION_FEEDS: "2" } });
    const [org, other] = [await createOrganization(server), await createOrganization(server)];
    using first = await openFeed(server.url, org.id, server.key);
    using _second = await openFeed(server.url, org.id, server.key, { uid: "alice" });
    const answer = await requestFeed(server.url, org.id, server.key);
    if ("sse" in answer) throw new Error("a third feed was granted");
    expectProblem(answer.refused, 429, "rate_limited");
    expect(answer.refused.headers.get("retry-after")).toBe("5");
    using _others = await openFeed(server.url, other.id, server.key);
    first.close();
    using _third = await eventually(
      () => openFeed(server.url, org.id, server.key).catch(() => undefined),
      "room for another feed",
    );
    await server.stop();
  });

  test("a heartbeat comes at the configured interval, and a stopping node ends them", async () => {
    await using server = await startHerald({ env: { HERALD_LIMIT_PING_SECONDS: "1" } });
    const org = await createOrganization(server);
    using feed = await openFeed(server.url, org.id, server.key);
    for (let beats = 0; beats < 3; beats++) await feed.comments.next();
    await server.stop();
    await within(feed.closed, "the end of the feed");
  });
});
