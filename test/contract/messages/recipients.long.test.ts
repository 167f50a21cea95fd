import { describe, expect, test } from "bun:test";
import type { Page, Problem, Recipient } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import { expectProblem, ISO_MILLISECONDS } from "../../harness/reading/expectations.ts";
import { messageBecomes, reportOf } from "../../harness/reading/reports.ts";
import { useHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";

const herald = useHerald();

type Kind = "messages" | "system-messages";

async function pageOf(org: Organization, kind: Kind, id: string, query = ""): Promise<Page<Recipient>> {
  const { status, body, text } = await herald().admin<Page<Recipient>>("GET", org.path(kind, id, "recipients") + query);
  if (status !== 200) throw new Error(`no recipients of ${id}: ${text}`);
  return body;
}

/** All recipients, read in pages of `limit`. */
async function recipientsOf(
  org: Organization,
  id: string,
  { kind = "messages", limit = 100, state }: { kind?: Kind; limit?: number; state?: string } = {},
): Promise<Recipient[]> {
  const items: Recipient[] = [];
  const filter = state === undefined ? "" : `&state=${state}`;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const rest: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await pageOf(org, kind, id, `?limit=${limit}${filter}${rest}`);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    cursor = page.cursor;
  }
  return items;
}

const statesOf = (items: Recipient[]) => Object.fromEntries(items.map(({ uid, state }) => [uid, state]));

/** Waits until the recipients have these states, and returns them. */
async function recipientsBecome(
  org: Organization,
  id: string,
  states: Record<string, string>,
  kind: Kind = "messages",
): Promise<Recipient[]> {
  let last: Recipient[] = [];
  return await eventually(
    async () => {
      last = await recipientsOf(org, id, { kind });
      // An acknowledgement may be known a moment before the delivery.
      const areTimed = last.every(({ state, delivered_at }) => (state === "missing") === (delivered_at === null));
      return areTimed && Bun.deepEquals(statesOf(last), states) ? last : undefined;
    },
    () => `the recipients ${JSON.stringify(states)}; they are ${JSON.stringify(last)}`,
  );
}

/** Waits until a list is as expected: each node relies on what it read for up to a second. */
async function listBecomes(expected: Recipient[], read: () => Promise<Recipient[]>): Promise<void> {
  let last: Recipient[] = [];
  await eventually(
    async () => {
      last = await read();
      return Bun.deepEquals(last, expected) ? last : undefined;
    },
    () => `the list ${JSON.stringify(expected)}; it is ${JSON.stringify(last)}`,
  );
}

describe("GET …/messages/{server_mid}/recipients", () => {
  test("lists each recipient once, by id, with one state and the times", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["carol", "alice", "bob"]);
    using alice = await org.socket("alice");
    using bob = await org.socket("bob");
    using bobsOther = await org.socket("bob");
    const { server_mid } = await org.sent("alice", { cid, body: "x" });
    for (const socket of [alice, bob, bobsOther]) await socket.next();
    await bob.request("ack", { ids: [server_mid] });
    const states = { alice: "delivered", bob: "acknowledged", carol: "missing" };
    const items = await recipientsBecome(org, server_mid, states);
    const at = expect.stringMatching(ISO_MILLISECONDS);
    expect(items).toEqual([
      { uid: "alice", state: "delivered", delivered_at: at, acknowledged_at: null },
      { uid: "bob", state: "acknowledged", delivered_at: at, acknowledged_at: at },
      { uid: "carol", state: "missing", delivered_at: null, acknowledged_at: null },
    ]);
    const { message, delivery } = await messageBecomes(org, server_mid, { delivered_users: 2, acknowledged_users: 1 });
    const times = items.flatMap(({ delivered_at }) => delivered_at ?? []).sort();
    expect(times[0]).toBe(String(delivery.first_delivered_at));
    const isInOrder = [message.created_at, items[1]?.delivered_at ?? "", items[1]?.acknowledged_at ?? ""];
    expect(isInOrder.toSorted()).toEqual(isInOrder);
  });

  test("keeps to those who took part when it was stored, whoever joined, left, came back or was deleted since", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "back", "deleted", "gone", "heard"]);
    using heard = await org.socket("heard");
    const before = await org.sent("alice", { cid, body: "before" });
    await heard.next();
    const states = { alice: "missing", back: "missing", deleted: "missing", gone: "missing", heard: "delivered" };
    await recipientsBecome(org, before.server_mid, states);
    for (const uid of ["heard", "gone", "back"]) await org.leave(cid, uid);
    await herald().admin("DELETE", org.path("users", "deleted"));
    const between = await org.sent("alice", { cid, body: "between" });
    await org.join(cid, "back");
    await org.join(cid, "late");
    const after = await org.sent("alice", { cid, body: "after" });
    await org.conversation(["late"], cid);
    await recipientsBecome(org, before.server_mid, states);
    expect(statesOf(await recipientsOf(org, between.server_mid))).toEqual({ alice: "missing" });
    expect(statesOf(await recipientsOf(org, after.server_mid))).toEqual({
      ...{ alice: "missing", back: "missing", late: "missing" },
    });
    for (const [{ server_mid }, recipients] of [
      [before, 5],
      [between, 1],
      [after, 3],
    ] as const)
      expect((await reportOf(org, server_mid)).delivery.recipients).toBe(recipients);
  });

  test("gives the same list in pages of any size, and the same parts by state", async () => {
    const org = await createOrganization(herald());
    const uids = Array.from({ length: 25 }, (_, index) => `user ${index}`);
    const cid = await org.conversation([...uids, "😀", "\uffee", "__proto__", "a/b"]);
    await org.leave(cid, "user 3");
    await org.join(cid, "user 3");
    const sockets = await Promise.all(["user 1", "user 3", "user 24", "😀", "__proto__"].map((uid) => org.socket(uid)));
    const { server_mid } = await org.sent("user 0", { cid, body: "x" });
    await Promise.all(sockets.map((socket) => socket.next()));
    for (const socket of sockets.slice(0, 2)) await socket.request("ack", { ids: [server_mid] });
    await messageBecomes(org, server_mid, { recipients: 29, delivered_users: 5, acknowledged_users: 2 });
    const all = await eventually(
      async () => {
        const items = await recipientsOf(org, server_mid);
        return items.filter(({ state }) => state === "missing").length === 24 ? items : undefined;
      },
      () => "five deliveries",
    );
    expect(all.map(({ uid }) => uid)).toEqual([...new Set(all.map(({ uid }) => uid))]);
    for (const limit of [1, 2, 7, 28, 29, 1_000])
      await listBecomes(all, () => recipientsOf(org, server_mid, { limit }));
    for (const state of ["delivered", "acknowledged", "missing"])
      for (const limit of [1, 3, 24, 1_000])
        await listBecomes(
          all.filter((one) => one.state === state),
          () => recipientsOf(org, server_mid, { state, limit }),
        );
    expect((await pageOf(org, "messages", server_mid, "?limit=1000")).cursor).toBeNull();
    expect((await pageOf(org, "messages", server_mid, "?limit=28")).cursor).not.toBeNull();
    for (const socket of sockets) socket.terminate();
  });

  test("counts who recovered it with since, at the time of the first delivery", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    const first = await org.sent("alice", { cid, body: "first" });
    const second = await org.sent("alice", { cid, body: "second" });
    using bob = await org.socket("bob", { since: first.server_mid });
    await bob.next();
    const states = { alice: "missing", bob: "delivered" };
    const [, before] = await recipientsBecome(org, second.server_mid, states);
    using again = await org.socket("bob", { since: first.server_mid });
    await again.next();
    await messageBecomes(org, second.server_mid, { delivered_connections: 2 });
    const [, after] = await recipientsBecome(org, second.server_mid, states);
    expect(after).toEqual(before as Recipient);
  });

  test("shows an acknowledgement as soon as it is answered", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob"]);
    using bob = await org.socket("bob");
    for (let round = 0; round < 3; round++) {
      const { server_mid } = await org.sent("alice", { cid, body: "x" });
      expect(statesOf(await recipientsOf(org, server_mid, { state: "acknowledged" }))).toEqual({});
      await bob.request("ack", { ids: [server_mid] });
      expect(statesOf(await recipientsOf(org, server_mid, { state: "acknowledged" }))).toEqual({ bob: "acknowledged" });
    }
  });

  test("is 404 for anything but a message, and 422 for an invalid state, limit or cursor", async () => {
    const [org, other] = [await createOrganization(herald()), await createOrganization(herald())];
    const cid = await other.conversation(["alice"]);
    await org.user("alice");
    const foreign = await other.sent("alice", { cid, body: "x" });
    const system = await org.sentSystem("alice", { uids: ["alice"] });
    const get = (of: Organization, id: string, query = "") =>
      herald().admin("GET", of.path("messages", id, "recipients") + query);
    for (const id of [foreign.server_mid, system.mid, Bun.randomUUIDv7(), "x"])
      expectProblem(await get(org, id), 404, "message_not_found");
    const nowhere = "/admin/organizations/nowhere/messages/x/recipients";
    expectProblem(await herald().admin("GET", nowhere), 404, "organization_not_found");
    const cursorOf = (place: unknown) => `?cursor=${Buffer.from(JSON.stringify(place)).toString("base64url")}`;
    for (const [query, pointer] of [
      ["?state=offline", "/state"],
      ["?state=", "/state"],
      ["?limit=1001", "/limit"],
      ["?cursor=x", "/cursor"],
      [cursorOf({ uid: "a" }), "/cursor"],
      [cursorOf({ uid: "a", after: -1 }), "/cursor"],
      [cursorOf({ uid: "a", after: 1, more: 1 }), "/cursor"],
      [cursorOf({ index: 0 }), "/cursor"],
      ["?senderId=alice", "/senderId"],
    ] as const)
      expectProblem(await get(other, foreign.server_mid, query), 422, "invalid_request", pointer);
    await herald().admin("DELETE", other.path("conversations", cid));
    expectProblem(await get(other, foreign.server_mid), 404, "message_not_found");
  });

  test("is recorded in the audit log, like the report", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice"]);
    const { server_mid } = await org.sent("alice", { cid, body: "x" });
    await recipientsOf(org, server_mid);
    const path = `/admin/audit?organization=${encodeURIComponent(org.id)}&operation=listRecipients`;
    const { body } = await herald().admin<Page<{ target: object }>>("GET", path);
    expect(body.items.map(({ target }) => target)).toEqual([
      { organization: org.id, conversation: cid, message: server_mid },
    ]);
  });
});

describe("GET …/system-messages/{mid}/recipients", () => {
  test("lists the uids in their order, those who are not users, too", async () => {
    const org = await createOrganization(herald());
    await org.user("offline");
    using bob = await org.socket("bob");
    using carol = await org.socket("carol");
    const uids = ["offline", "nobody", "carol", "bob", "carol", "__proto__"];
    await org.sentSystem("bob", { id: "s/1", uids });
    for (const socket of [bob, carol]) await socket.next();
    await carol.request("ack", { ids: ["s/1"] });
    const states = Object.fromEntries([
      ["offline", "missing"],
      ["nobody", "missing"],
      ["carol", "acknowledged"],
      ["bob", "delivered"],
      ["__proto__", "missing"],
    ]);
    const items = await recipientsBecome(org, "s/1", states, "system-messages");
    expect(items.map(({ uid }) => uid)).toEqual([...new Set(uids)]);
    const kind = "system-messages";
    for (const limit of [1, 2, 5]) await listBecomes(items, () => recipientsOf(org, "s/1", { kind, limit }));
    for (const state of ["delivered", "acknowledged", "missing"])
      for (const limit of [1, 100])
        await listBecomes(
          items.filter((item) => item.state === state),
          () => recipientsOf(org, "s/1", { kind, limit, state }),
        );
  });

  test("counts an acknowledgement only for the system message that the user was given", async () => {
    const org = await createOrganization(herald());
    for (const uid of ["alice", "eve"]) await org.user(uid);
    await org.sentSystem("alice", { id: "s", uids: ["bob"] }); // bob does not exist yet, and never gets it
    using bob = await org.socket("bob");
    await org.sentSystem("eve", { id: "s", uids: ["bob"] });
    await bob.next();
    await bob.request("ack", { ids: ["s"] });
    const query = (sender: string) => `?senderId=${sender}`;
    const stateFor = async (sender: string) =>
      statesOf((await pageOf(org, "system-messages", "s", query(sender))).items);
    const states = await eventually(
      async () => {
        const seen = await stateFor("eve");
        return seen.bob === "acknowledged" ? seen : undefined;
      },
      () => "the acknowledgement",
    );
    expect(states).toEqual({ bob: "acknowledged" });
    expect(await stateFor("alice")).toEqual({ bob: "missing" });
    const get = (path: string) => herald().admin("GET", path);
    const path = org.path("system-messages", "s", "recipients");
    expectProblem(await get(path), 422, "invalid_request", "/senderId");
    expectProblem(await get(`${path}?senderId=bob`), 404, "message_not_found");
    expectProblem(await get(`${path}?senderId=eve&state=all`), 422, "invalid_request", "/state");
  });

  test("lists the participants at its place of one to a conversation, and says why one to everyone has no list", async () => {
    const org = await createOrganization(herald());
    const cid = await org.conversation(["alice", "bob", "carol"]);
    using bob = await org.socket("bob");
    await org.sentSystem("alice", { id: "room", cid });
    await bob.next();
    await org.leave(cid, "carol");
    await org.join(cid, "late");
    const states = { alice: "missing", bob: "delivered", carol: "missing" };
    await recipientsBecome(org, "room", states, "system-messages");
    await bob.request("ack", { ids: ["room"] });
    await recipientsBecome(org, "room", { ...states, bob: "acknowledged" }, "system-messages");
    await org.sentSystem("alice", { id: "all", everyone: true });
    const answer = await herald().admin<Problem>("GET", org.path("system-messages", "all", "recipients"));
    expectProblem(answer, 404, "not_found");
    expect(answer.body.detail).toContain("everyone");
  });

  test("is 404 for anything but a system message, and recorded in the audit log", async () => {
    const [org, other] = [await createOrganization(herald()), await createOrganization(herald())];
    for (const each of [org, other]) await each.user("alice");
    await other.sentSystem("alice", { id: "theirs", uids: ["alice"] });
    await org.sentSystem("alice", { id: "ours", uids: ["alice"] });
    for (const id of ["theirs", "nothing"])
      expectProblem(
        await herald().admin("GET", org.path("system-messages", id, "recipients")),
        404,
        "message_not_found",
      );
    const nowhere = "/admin/organizations/nowhere/system-messages/x/recipients";
    expectProblem(await herald().admin("GET", nowhere), 404, "organization_not_found");
    await recipientsOf(org, "ours", { kind: "system-messages" });
    const path = `/admin/audit?organization=${encodeURIComponent(org.id)}&operation=listSystemRecipients&result=done`;
    const { body } = await herald().admin<Page<{ target: object }>>("GET", path);
    expect(body.items.map(({ target }) => target)).toEqual([
      { organization: org.id, sender: "alice", message: "ours" },
    ]);
  });
});
