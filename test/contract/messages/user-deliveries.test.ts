import { describe, expect, test } from "bun:test";
import type { DeliveryItem, Page, Recipient } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { createRandom } from "../../harness/random.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization, readList } from "../../harness/servers/organization.ts";

const herald = useHerald();

type Query = { limit?: number; state?: string };

/** All that was addressed to a user, read in pages of `limit`. */
async function deliveriesOf(
  org: Organization,
  uid: string,
  { limit = 100, state }: Query = {},
): Promise<DeliveryItem[]> {
  const items: DeliveryItem[] = [];
  const query = `?limit=${limit}${state === undefined ? "" : `&state=${state}`}`;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const name = items.length % 2 === 0 ? "after" : "cursor"; // either works
    const rest: string = cursor === "" ? "" : `&${name}=${encodeURIComponent(cursor)}`;
    const path = org.path("users", uid, "deliveries") + query + rest;
    const { status, body, text } = await herald().admin<Page<DeliveryItem>>("GET", path);
    if (status !== 200) throw new Error(`no deliveries of ${uid}: ${text}`);
    expect(body.items.length).toBeLessThanOrEqual(limit);
    items.push(...body.items);
    cursor = body.cursor;
  }
  return items;
}

const told = (items: DeliveryItem[]) => items.map(({ id, state }) => [id, state]);

/** Waits until a user's deliveries have these ids and states, newest first, and returns them. */
async function deliveriesBecome(org: Organization, uid: string, expected: [id: string, state: string][]) {
  let last: DeliveryItem[] = [];
  return await eventually(
    async () => {
      last = await deliveriesOf(org, uid);
      const areTimed = last.every(({ state, delivered_at }) => (state === "missing") === (delivered_at === null));
      return areTimed && Bun.deepEquals(told(last), expected) ? last : undefined;
    },
    () => `${uid}'s deliveries ${JSON.stringify(expected)}; they are ${JSON.stringify(told(last))}`,
  );
}

type Sent = { kind: "message" | "system_message"; id: string; isToEveryone: boolean };

const recipientsPath = (org: Organization, { kind, id }: Sent) =>
  org.path(kind === "message" ? "messages" : "system-messages", id, "recipients");

/** The plain model: for each user, what the lists of recipients say, newest first; times without what differs by list. */
async function byRecipients(org: Organization, sent: readonly Sent[]): Promise<Map<string, unknown[]>> {
  const expected = new Map<string, unknown[]>();
  for (const one of sent.toReversed()) {
    if (one.isToEveryone) continue;
    for (const { uid, ...recipient } of await readList<Recipient>(herald(), recipientsPath(org, one)))
      expected.set(uid, [...(expected.get(uid) ?? []), { kind: one.kind, id: one.id, ...recipient }]);
  }
  return expected;
}

describe("GET …/users/{uid}/deliveries", () => {
  test("lists what the user should have, newest first, with what is known of each", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    await org.user("backend");
    const missed = await org.sent("alice", { cid, body: "missed" });
    using bob = await org.socket("bob");
    const heard = await org.sent("alice", { cid, body: "heard" });
    await bob.next();
    await bob.request("ack", { ids: [heard.server_mid] });
    await org.sentSystem("backend", { id: "s/1", uids: ["carol", "bob"] });
    await org.sentSystem("backend", { id: "not-bob", uids: ["alice"] });
    await org.sentSystem("alice", { id: "room", cid });
    await org.sentSystem("backend", { id: "all", everyone: true });
    for (let events = 0; events < 3; events++) await bob.next();
    await org.hasRead("bob", cid, [missed.server_mid]);
    const items = await deliveriesBecome(org, "bob", [
      ["all", "delivered"],
      ["room", "delivered"],
      ["s/1", "delivered"],
      [heard.server_mid, "acknowledged"],
      [missed.server_mid, "missing"],
    ]);
    const at = expect.stringMatching(ISO_MILLISECONDS);
    const system = { kind: "system_message", t: expect.any(Number), delivered_at: at } as const;
    const unread = { acknowledged_at: null, read_at: null };
    expect(items).toEqual([
      { ...system, id: "all", cid: null, from: "backend", state: "delivered", ...unread },
      { ...system, id: "room", cid, from: "alice", state: "delivered", ...unread },
      { ...system, id: "s/1", cid: null, from: "backend", state: "delivered", ...unread },
      {
        ...{ kind: "message", id: heard.server_mid, cid, from: "alice", t: heard.t, state: "acknowledged" },
        ...{ delivered_at: at, acknowledged_at: at, read_at: null },
      },
      {
        ...{ kind: "message", id: missed.server_mid, cid, from: "alice", t: missed.t, state: "missing" },
        ...{ delivered_at: null, acknowledged_at: null, read_at: at },
      },
    ]);
  });

  test("says exactly what the lists of recipients say, for every message and user, in pages of any size", async () => {
    const random = createRandom();
    const org = await createOrganization(herald());
    const uids = ["alice", "bob", 'c",a', ",", "é\\", "__proto__"];
    for (const uid of uids) await org.user(uid);
    const cids = await Promise.all([0, 1, 2].map(() => org.conversation(uids)));
    const listeners = await Promise.all(["bob", ",", "é\\"].map((uid) => org.socket(uid)));
    const sent: Sent[] = [];
    const [first = ""] = uids;
    for (let round = 0; round < 60; round++) {
      const [cid, uid] = [random.pick(cids), random.pick(uids.slice(1))];
      const named = uids.filter(() => random.next() < 0.5);
      const id = `s${round}`;
      const kept = random.next() < 0.5 ? { keep_days: 1 } : {};
      const steps: (() => Promise<unknown>)[] = [
        async () =>
          sent.push({
            kind: "message",
            id: (await org.sent(first, { cid, body: id })).server_mid,
            isToEveryone: false,
          }),
        async () => {
          await org.sentSystem(first, { id, uids: [...named, "nobody"], ...kept });
          sent.push({ kind: "system_message", id, isToEveryone: false });
        },
        async () => {
          await org.sentSystem(first, { id, cid, ...kept });
          sent.push({ kind: "system_message", id, isToEveryone: false });
        },
        async () => {
          await org.sentSystem(first, { id, everyone: true });
          sent.push({ kind: "system_message", id, isToEveryone: true });
        },
        () => org.join(cid, uid),
        () => herald().admin("DELETE", org.path("conversations", cid, "participants", uid)),
        async () => {
          const last = sent.findLast(({ kind }) => kind === "system_message");
          if (last !== undefined) await org.recallSystem(first, [last.id]);
        },
        async () => {
          const last = sent.findLast(({ kind }) => kind === "message");
          if (last !== undefined) await random.pick(listeners).request("ack", { ids: [last.id] });
        },
      ];
      await random.pick(steps)();
    }
    let differing = "";
    await eventually(
      async () => {
        const expected = await byRecipients(org, sent);
        const common = sent.filter(({ isToEveryone }) => isToEveryone).map(({ id }) => id);
        for (const uid of uids) {
          const all = await deliveriesOf(org, uid, { limit: random.pick([1, 7, 100]) });
          const listed = all.filter(({ id }) => !common.includes(id));
          const actual = listed.map(({ cid: _, from: _from, t: _t, read_at: _read, ...item }) => item);
          differing = `${uid} has ${JSON.stringify(actual)}, not ${JSON.stringify(expected.get(uid) ?? [])}`;
          if (!Bun.deepEquals(actual, expected.get(uid) ?? [])) return undefined;
          expect(all.map(({ id }) => id).filter((id) => common.includes(id))).toEqual(common.toReversed());
        }
        return true;
      },
      () => `equal lists, with TEST_SEED=${random.seed}: ${differing}`,
    );
    for (const uid of uids) {
      for (const state of ["delivered", "acknowledged", "missing"])
        await eventually(async () => {
          const all = await deliveriesOf(org, uid); // a node relies for a second on what it has read
          const expected = all.filter((item) => item.state === state);
          return Bun.deepEquals(await deliveriesOf(org, uid, { state, limit: 2 }), expected) || undefined;
        }, `only what is ${state} of ${uid}'s`);
    }
    for (const listener of listeners) listener.terminate();
  });

  test("has what was addressed to the user while there, of everyone only since the user exists", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const first = await org.sent("alice", { cid, body: "first" });
    await org.leave(cid, "bob");
    await org.sent("alice", { cid, body: "without bob" });
    await org.sentSystem("alice", { id: "before carol", everyone: true });
    await org.join(cid, "carol");
    const last = await org.sent("alice", { cid, body: "last" });
    expect(told(await deliveriesOf(org, "bob"))).toEqual([
      ["before carol", "missing"],
      [first.server_mid, "missing"],
    ]);
    expect(told(await deliveriesOf(org, "carol"))).toEqual([[last.server_mid, "missing"]]);
    await herald().admin("DELETE", org.path("conversations", cid));
    expect(told(await deliveriesOf(org, "bob"))).toEqual([["before carol", "missing"]]);
  });

  test("keeps what was taken back or has expired, as the reports do", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const { server_mid } = await org.sent("alice", { cid, body: "x" });
    await org.sentSystem("alice", { id: "gone", uids: ["bob"] });
    const expires_at = new Date(Date.now() + 3_000).toISOString();
    await org.sentSystem("alice", { id: "short", uids: ["bob"], expires_at });
    await org.recalled("alice", cid, server_mid);
    await org.recalledSystem("alice", "gone");
    await eventually(async () => {
      const { body } = await herald().admin<{ expired_at?: string }>("GET", org.path("system-messages", "short"));
      return body.expired_at;
    }, "the end of the message");
    expect(told(await deliveriesOf(org, "bob"))).toEqual([
      ["short", "missing"],
      ["gone", "missing"],
      [server_mid, "missing"],
    ]);
  });

  test("says when a system message in the inbox was read, and of no other", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    using bob = await org.socket("bob");
    await org.sentSystem("alice", { id: "not kept", uids: ["bob"] });
    await org.sentSystem("alice", { id: "kept", uids: ["bob"], keep_days: 1 });
    await org.sentSystem("alice", { id: "kept, too", everyone: true, keep_days: 1 });
    for (let events = 0; events < 3; events++) await bob.next();
    await bob.request("system_message_read", { ids: ["kept"] });
    await bob.request("system_message_read", { ids: ["kept, too"], seen: true });
    const items = await deliveriesOf(org, "bob");
    expect(items.map(({ id, read_at }) => [id, read_at !== null])).toEqual([
      ["kept, too", false],
      ["kept", true],
      ["not kept", false],
    ]);
  });

  test("is 404 for who is no user, and 422 for an invalid state, limit or cursor", async () => {
    const org = await createOrganization(herald());
    await org.user("alice");
    const get = (uid: string, query = "") => herald().admin("GET", org.path("users", uid, "deliveries") + query);
    expect(await deliveriesOf(org, "alice")).toEqual([]);
    expectProblem(await get("nobody"), 404, "user_not_found");
    const nowhere = "/admin/organizations/nowhere/users/x/deliveries";
    expectProblem(await herald().admin("GET", nowhere), 404, "organization_not_found");
    const cursorOf = (place: unknown) => `?after=${Buffer.from(JSON.stringify(place)).toString("base64url")}`;
    for (const [query, pointer] of [
      ["?state=offline", "/state"],
      ["?limit=0", "/limit"],
      ["?after=x", "/after"],
      ["?cursor=x", "/cursor"],
      ["?cursor=x&after=x", "/after"],
      [cursorOf({ before: 0 }), "/after"],
      [cursorOf({ before: "1" }), "/after"],
    ] as const)
      expectProblem(await get("alice", query), 422, "invalid_request", pointer);
  });
});
