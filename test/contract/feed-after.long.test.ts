import { describe, expect, test } from "bun:test";
import { type FeedQuery, openFeed, openStream, requestFeed, type Sse } from "../harness/clients/sse.ts";
import { eventually } from "../harness/deadline.ts";
import { createRandom } from "../harness/random.ts";
import { expectProblem } from "../harness/reading/expectations.ts";
import { startHerald, useHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";

const herald = useHerald();

const watch = (org: Organization, query?: FeedQuery) => openFeed(herald().url, org.id, herald().key, query);
const bodiesOn = (feed: Sse) => feed.events.map(({ message }) => message?.body);

/** The cursor of an event that a feed has shown. */
function cursorOf(feed: Sse, index: number): string {
  return feed.raw[index]?.id ?? "none";
}

/** An organization whose conversation has messages with these bodies, and a feed that has shown them. */
async function withMessages(...bodies: string[]) {
  const org = await createOrganization(herald());
  const cid = await org.conversation(["alice", "bob"]);
  const feed = await watch(org);
  const ids: string[] = [];
  for (const body of bodies) {
    ids.push((await org.sent("alice", { cid, body })).server_mid);
    await feed.next();
  }
  return { org, cid, feed, ids };
}

describe("GET …/events after a cursor", () => {
  test("shows everything after it, then what comes, each once, whichever way the cursor is given", async () => {
    const { org, cid, feed } = await withMessages("1", "2", "3");
    feed.close();
    const [first, second] = [cursorOf(feed, 0), cursorOf(feed, 1)];
    const address = `${herald().url}${org.path("events")}`;
    const headers = { "Admin-Api-Key": herald().key };
    using byQuery = await watch(org, { after: first });
    using byHeader = await openStream(`${address}?after=${first}`, { ...headers, "Last-Event-ID": second }, "header");
    using byPolyfill = await openStream(`${address}?after=${first}&lastEventId=${second}`, headers, "polyfill");
    await org.sent("bob", { cid, body: "4" });
    for (const one of [byQuery, byHeader, byPolyfill]) await one.next(({ message }) => message?.body === "4");
    expect([byQuery, byHeader, byPolyfill].map(bodiesOn)).toEqual([
      ["2", "3", "4"],
      ["3", "4"],
      ["3", "4"],
    ]);
    expect(byQuery.raw.slice(0, 2)).toEqual(feed.raw.slice(1));
  });

  test("goes on from where a feed began, if nothing had come by then", async () => {
    const { org, cid, feed } = await withMessages();
    const cursor = await eventually(async () => feed.lastId, "the place where the feed begins");
    feed.close();
    await org.sent("alice", { cid, body: "meanwhile" });
    using resumed = await watch(org, { after: cursor });
    expect((await resumed.next()).message?.body).toBe("meanwhile");
  });

  test("shows what was recalled, has expired, or lost its conversation without its text, and edits as they are now", async () => {
    const { org, cid, feed, ids } = await withMessages("start", "to be recalled", "to be edited");
    const [, recalled = "", edited = ""] = ids;
    const expires_at = new Date(Date.now() + 6_000).toISOString(); // after all that follows here
    await org.sent("alice", { cid, body: "to expire", x: { secret: "to expire" }, expires_at });
    await org.sentSystem("alice", { id: "gone", uids: ["bob"], keep_days: 1, x: { secret: "recalled" } });
    const other = await org.conversation(["alice"]);
    await org.sent("alice", { cid: other, body: "to be deleted" });
    await org.edited("alice", { id: edited, body: "edited once" });
    await org.edited("alice", { id: edited, body: "edited twice" });
    await org.recalled("alice", cid, recalled);
    await org.recalledSystem("alice", "gone");
    await herald().admin("DELETE", org.path("conversations", other));
    await feed.next(
      (event) => event.message_delete !== undefined && event.message_delete.ids[0] !== recalled,
      "the end",
    );
    using resumed = await watch(org, { after: cursorOf(feed, 0) });
    await resumed.next(
      (event) => event.message_delete !== undefined && event.message_delete.ids[0] !== recalled,
      "the end",
    );
    const shown = resumed.events.map(({ message, system_message, ...event }) => {
      if (message !== undefined) return [message.body, message.x, message.from];
      return system_message === undefined ? Object.keys(event)[0] : [system_message._id, system_message.x];
    });
    expect(shown.slice(0, 5)).toEqual([
      ["", {}, "alice"],
      ["edited twice", {}, "alice"],
      ["", {}, "alice"],
      ["gone", {}],
      ["", {}, "alice"],
    ]);
    expect(shown.slice(5)).toEqual(["message_edit", "message_delete", "system_message_delete", "message_delete"]);
    const text = resumed.raw.map(({ data }) => data).join("");
    expect(text).not.toMatch(/to be|to expire|secret|once/);
  });

  test("shows only the chosen types, and moves the cursor over the others", async () => {
    await using server = await startHerald({ env: { HERALD_LIMIT_PING_SECONDS: "1" } });
    const org = await createOrganization(server);
    const cid = await org.conversation(["alice", "bob"]);
    using feed = await openFeed(server.url, org.id, server.key, { types: "system_message,message_read" });
    await org.sent("alice", { cid, body: "1" });
    await org.sentSystem("alice", { id: "s", uids: ["bob"] });
    await org.hasRead("bob", cid);
    await feed.next();
    await feed.next();
    await org.sent("alice", { cid, body: "2" });
    const cursor = await eventually(
      async () => (feed.lastId === cursorOf(feed, 1) ? undefined : feed.lastId),
      "a beat",
    );
    expect(feed.raw.map(({ event }) => event)).toEqual(["system_message", "message_read"]);
    await org.sent("alice", { cid, body: "3" });
    using resumed = await openFeed(server.url, org.id, server.key, { after: cursor });
    expect((await resumed.next()).message?.body).toBe("3");
    using replayed = await openFeed(server.url, org.id, server.key, {
      after: cursorOf(feed, 0),
      types: "system_message",
    });
    await eventually(
      async () => replayed.lastId?.startsWith("6-") || undefined,
      "a cursor beyond all that is left out",
    );
    expect(replayed.events).toEqual([]);
    await server.stop();
  });

  test("refuses a cursor that is none, one that the log does not reach back to, and one together with a user", async () => {
    const { org, feed } = await withMessages("1", "2");
    feed.close();
    const cursor = cursorOf(feed, 0);
    const refusalOf = async (query: FeedQuery) => {
      const answer = await requestFeed(herald().url, org.id, herald().key, query);
      if ("sse" in answer) throw new Error("the feed was granted");
      return answer.refused;
    };
    for (const after of ["", "nonsense", `0${cursor}`, cursor.replace("2-", "2.")])
      expectProblem(await refusalOf({ after }), 422, "invalid_request", "/after");
    expectProblem(await refusalOf({ after: cursor, uid: "alice" }), 422, "invalid_request", "/uid");
    expectProblem(await refusalOf({ after: cursor.replace("2-", "3-") }), 410, "cursor_too_old");
    expectProblem(await refusalOf({ after: cursor.replace("2-", "9-") }), 410, "cursor_too_old");
    const headers = { "Last-Event-ID": feed.raw[0]?.data ?? "" };
    expectProblem(await herald().admin("GET", org.path("events"), undefined, headers), 422, "invalid_request");
  });

  test("whoever stops at any time and goes on after the last cursor has what an export has, in order, each once", async () => {
    const { org, cid, feed } = await withMessages("start");
    feed.close();
    const random = createRandom();
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let index = 0; index < 100; index++) await org.sent("alice", { cid, body: `${writer}/${index}` });
    });
    let isOver = false;
    const sent = Promise.all(writers).then(() => {
      isOver = true;
    });
    const got: (string | undefined)[] = ["start"];
    let cursor = cursorOf(feed, 0);
    let stops = 0;
    while (!isOver || got.length < 401) {
      using one = await watch(org, { after: cursor });
      const wanted = random.integer(1, 30);
      await eventually(
        async () => one.events.length >= wanted || got.length + one.events.length >= 401 || undefined,
        "some events",
      );
      got.push(...bodiesOn(one).slice(0, wanted)); // whoever stops has not worked off what else has arrived
      cursor = one.raw.slice(0, wanted).at(-1)?.id ?? cursor;
      stops++;
    }
    await sent;
    expect(stops).toBeGreaterThan(10);
    const exported = await herald().admin("GET", org.path("export"));
    const bodies = exported.text.split("\n").flatMap((line) => {
      const { message } = line === "" ? {} : JSON.parse(line);
      return message === undefined ? [] : [message.body];
    });
    expect(got).toEqual(bodies);
  });
});

describe("pages of events", () => {
  type Page = {
    specversion: string;
    id: string;
    source: string;
    type: string;
    time: string;
    data: Sse["events"][number];
  };

  async function pageOf(path: string): Promise<{ events: Page[]; next: string; answer: Response }> {
    const headers = { "Admin-Api-Key": herald().key, Accept: "application/cloudevents-batch+json" };
    const answer = await fetch(`${herald().url}${path}`, { headers });
    expect(answer.status).toBe(200);
    const [, next = ""] = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get("link") ?? "") ?? [];
    return { events: (await answer.json()) as Page[], next, answer };
  }

  test("are CloudEvents 1.0, from the oldest on, and each says where the next is", async () => {
    const { org, cid, feed } = await withMessages("1", "2", "3", "4", "5");
    const first = await pageOf(`${org.path("events")}?limit=2`);
    expect(first.answer.headers.get("content-type")).toBe("application/cloudevents-batch+json");
    const [event] = first.events;
    expect(event).toEqual({
      specversion: "1.0",
      id: cursorOf(feed, 0),
      source: org.path("events"),
      type: "message",
      time: event?.time ?? "",
      datacontenttype: "application/json",
      data: feed.events[0] ?? {},
    } as Page);
    // The time of the id, which is later than that of the send if ids were made in the same millisecond.
    const laterMs = Date.parse(event?.time ?? "") - Date.parse(event?.data.message?.created_at ?? "");
    expect(laterMs).toBeWithin(0, 100);
    const got = [...first.events];
    let { next } = first;
    for (let page = first; page.events.length > 0; ) {
      page = await pageOf(next);
      ({ next } = page);
      got.push(...page.events);
    }
    expect(got.map(({ id, data }) => [id, data])).toEqual(feed.raw.map(({ id, data }) => [id, JSON.parse(data)]));
    expect((await pageOf(next)).events).toEqual([]);
    await org.sent("alice", { cid, body: "6" });
    expect((await pageOf(next)).events.map(({ data }) => data.message?.body)).toEqual(["6"]);
  });

  test("keep their filter, and go on where it selects nothing", async () => {
    const { org } = await withMessages("1", "2");
    await org.sentSystem("alice", { id: "s", uids: ["bob"] });
    const { events, next } = await pageOf(`${org.path("events")}?types=system_message&limit=1`);
    expect(events.map(({ type }) => type)).toEqual(["system_message"]);
    expect(next).toContain("types=system_message");
    const none = await pageOf(`${org.path("events")}?types=message_read`);
    expect(none.events).toEqual([]);
    expect((await pageOf(none.next)).events).toEqual([]);
  });

  test("select no user, and need an organization", async () => {
    const org = await createOrganization(herald());
    const headers = { Accept: "application/cloudevents-batch+json" };
    const ofUser = await herald().admin("GET", `${org.path("events")}?uid=alice`, undefined, headers);
    expectProblem(ofUser, 422, "invalid_request", "/uid");
    const nowhere = await herald().admin("GET", "/admin/organizations/nowhere/events", undefined, headers);
    expectProblem(nowhere, 404, "organization_not_found");
    expect((await pageOf(org.path("events"))).events).toEqual([]);
  });
});
