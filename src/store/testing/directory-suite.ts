import { describe, expect, test } from "bun:test";
import { logStart } from "../../contract/log/log-place.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;

/** Tests the ports for organizations, users, conversations and history, for every engine. */
export function describeDirectory(engine: string, open: OpenDatabase): void {
  describe(`the directory on ${engine}`, () => {
    const context = useStore(open);

    const createOrganization = () => context.createOrganization();

    test("creates, renames and removes; an omitted name stays, null clears it", async () => {
      const { users } = context.store;
      const org = await createOrganization();
      expect(await users.put(org, "u", "Uma", 5)).toEqual({
        entity: { id: "u", name: "Uma", createdAt: 5 },
        isNew: true,
      });
      expect(await users.put(org, "u", undefined, 6)).toEqual({
        entity: { id: "u", name: "Uma", createdAt: 5 },
        isNew: false,
      });
      expect((await users.put(org, "u", null, 6))?.entity.name).toBeNull();
      expect(await users.remove(org, "u", 7)).toBe(true);
      expect(await users.remove(org, "u", 7)).toBe(false);
      expect(await users.get(org, "u")).toBeUndefined();
      expect(await users.put("nowhere", "u", undefined, 1)).toBeUndefined();
    });

    test("keeps when the last connection of a user ended, until the user is deleted", async () => {
      const { users } = context.store;
      const org = await createOrganization();
      await users.put(org, "u", undefined, 1);
      await users.put(org, "v", undefined, 1);
      const seen = async (...ids: string[]) => [...(await users.seenAmong(org, ids))];
      expect(await seen("u")).toEqual([]);
      await users.noteSeen([{ org, uids: ["u", "nobody"] }], 7);
      expect(await seen("nobody", "v", "u")).toEqual([["u", 7]]);
      expect(await users.seenAmong("nowhere", ["u"])).toEqual(new Map());
      await users.remove(org, "u", 8);
      await users.put(org, "u", undefined, 9);
      expect(await seen("u")).toEqual([]);
    });

    test("creates missing users in one commit: existing ones stay as they are, and those of missing organizations are skipped", async () => {
      const { users, standing } = context.store;
      const [org, other] = [await createOrganization(), await createOrganization()];
      await users.put(org, "known", "Kim", 5);
      await users.put(org, "deleted", "Dee", 5);
      await users.remove(org, "deleted", 6);
      const uids = ["known", "new", "deleted", "new"];
      await users.ensure(
        [...uids.map((uid) => ({ org, uid })), { org: other, uid: "new" }, { org: "nowhere", uid: "new" }],
        9,
      );
      expect(await users.get(org, "known")).toEqual({ id: "known", name: "Kim", createdAt: 5 });
      expect(await users.get(org, "new")).toEqual({ id: "new", name: null, createdAt: 9 });
      expect(await users.get(org, "deleted")).toEqual({ id: "deleted", name: null, createdAt: 9 });
      expect((await standing.snapshot(org, "deleted"))?.tokensValidAfter).toBe(6);
      expect(await users.get(other, "new")).toEqual({ id: "new", name: null, createdAt: 9 });
      expect(await users.get("nowhere", "new")).toBeUndefined();
      await users.ensure([], 9);
    });

    test("lists by id in byte order, from any place", async () => {
      const { users } = context.store;
      const org = await createOrganization();
      for (const uid of ["b", "a", "é", "B", "a b", "😀"]) await users.put(org, uid, undefined, 1);
      const ids = (await users.list(org, { after: undefined, limit: 10 })).map(({ id }) => id);
      expect(ids).toEqual(["B", "a", "a b", "b", "é", "😀"]);
      expect((await users.list(org, { after: "a", limit: 2 })).map(({ id }) => id)).toEqual(["a b", "b"]);
    });

    test("reads those of some users who exist, by id", async () => {
      const { users, organizations } = context.store;
      const [org, other] = [await createOrganization(), await createOrganization()];
      for (const uid of ["b", "a", "deleted"]) await users.put(org, uid, uid.toUpperCase(), 1);
      await users.put(other, "theirs", undefined, 1);
      await users.remove(org, "deleted", 2);
      const ids = ["b", "theirs", "deleted", "nobody", "a", "b"];
      expect((await users.among(org, ids)).map(({ id, name }) => [id, name])).toEqual([
        ["a", "A"],
        ["b", "B"],
      ]);
      expect(await users.among(org, [])).toEqual([]);
      await organizations.remove(org, 3);
      expect(await users.among(org, ids)).toEqual([]);
    });

    test("logs each change of participants, and nothing if nothing changed", async () => {
      const { store, announced } = context;
      const org = await createOrganization();
      announced.length = 0;
      await store.conversations.put(org, "c", { participants: ["a", "b"] }, 1);
      await store.conversations.put(org, "c", { participants: ["b", "a", "b"] }, 2);
      await store.conversations.put(org, "c", { participants: ["b", "c"] }, 3);
      await store.participants.add(org, "c", "b", 10, 4);
      await store.participants.add(org, "c", "d", 10, 5);
      await store.participants.remove(org, "c", "b", 6);
      expect(announced.map(({ payload }) => JSON.parse(payload))).toEqual([
        { added: ["a", "b"], removed: [] },
        { added: ["c"], removed: ["a"] },
        { added: ["d"], removed: [] },
        { added: [], removed: ["b"] },
      ]);
      expect((await store.participants.list(org, "c", { after: undefined, limit: 10 })).map(({ id }) => id)).toEqual([
        "c",
        "d",
      ]);
    });

    test("counts participants up to the limit", async () => {
      const { participants, conversations } = context.store;
      const org = await createOrganization();
      await conversations.put(org, "c", { participants: ["a"] }, 1);
      expect((await participants.add(org, "c", "b", 2, 1)).outcome).toBe("done");
      expect((await participants.add(org, "c", "b", 2, 1)).outcome).toBe("done");
      expect((await participants.add(org, "c", "x", 2, 1)).outcome).toBe("too_many");
    });

    test("removes a deleted user from every conversation, ends the sessions, and keeps old tokens refused", async () => {
      const { store, announced } = context;
      const org = await createOrganization();
      for (const cid of ["c1", "c2"]) await store.conversations.put(org, cid, { participants: ["a", "b"] }, 1);
      announced.length = 0;
      await store.users.remove(org, "a", 500);
      expect(announced.map(({ kind, cid }) => [kind, cid])).toEqual([
        ["membership", "c1"],
        ["membership", "c2"],
        ["session", undefined],
      ]);
      expect(await store.users.tokensValidAfter(org, "a")).toBe(500);
      await store.users.put(org, "a", undefined, 600);
      expect(await store.users.tokensValidAfter(org, "a")).toBe(500);
      expect((await store.standing.snapshot(org, "a"))?.cids).toEqual([]);
    });

    test("blocks and unblocks a user: logged once, visible in the snapshot, and beyond a deletion", async () => {
      const { store, announced } = context;
      const { users, standing } = store;
      const org = await createOrganization();
      const isBlocked = async () => (await standing.snapshot(org, "a"))?.isBlocked;
      announced.length = 0;
      const blocked = { id: "a", name: "Ann", createdAt: 5, isBlocked: true as const };
      expect(await users.put(org, "a", "Ann", 5, true)).toEqual({ entity: blocked, isNew: true });
      expect(await users.put(org, "a", undefined, 6, true)).toEqual({ entity: blocked, isNew: false });
      expect(await users.put(org, "a", undefined, 7)).toEqual({ entity: blocked, isNew: false });
      expect([await users.get(org, "a"), await isBlocked()]).toEqual([blocked, true]);
      expect(announced.map(({ kind, payload }) => [kind, JSON.parse(payload)])).toEqual([
        ["session", { uids: ["a"], issuedBefore: Number.MAX_SAFE_INTEGER }],
      ]);
      await users.remove(org, "a", 8);
      expect(await isBlocked()).toBe(true);
      await users.ensure([{ org, uid: "a" }], 9);
      expect(await users.list(org, { after: undefined, limit: 5 })).toEqual([{ ...blocked, name: null, createdAt: 9 }]);
      await users.put(org, "a", undefined, 10, false);
      expect(await isBlocked()).toBe(false);
      expect(await users.tokensValidAfter(org, "a")).toBe(8);
    });

    test("revokes a user's token: logged once, visible in the snapshot of that token only", async () => {
      const { store, announced } = context;
      const { users, standing } = store;
      const org = await createOrganization();
      for (const uid of ["a", "b"]) await users.put(org, uid, undefined, 1);
      announced.length = 0;
      for (const now of [5, 6]) expect(await users.revokeToken(org, "a", "t1", now)).toBe(true);
      expect(announced.map(({ kind, payload }) => [kind, JSON.parse(payload)])).toEqual([
        ["session", { uids: ["a"], issuedBefore: -1, token: "t1" }],
      ]);
      const isRevoked = async (uid: string, jti?: string) => (await standing.snapshot(org, uid, jti))?.isRevoked;
      expect([await isRevoked("a", "t1"), await isRevoked("a", "t2"), await isRevoked("a")]).toEqual([
        true,
        false,
        false,
      ]);
      expect([await isRevoked("b", "t1"), await isRevoked("nobody", "t1")]).toEqual([false, false]);
      for (const [where, who] of [
        [org, "nobody"],
        ["nowhere", "a"],
      ] as const)
        expect(await users.revokeToken(where, who, "t1", 7)).toBe(false);
    });

    test("keeps the latest sign-out, even if a later one comes from a clock that is behind", async () => {
      const { users } = context.store;
      const org = await createOrganization();
      await users.put(org, "a", undefined, 1);
      for (const now of [500, 400]) expect(await users.endSessions(org, "a", now)).toBe(true);
      expect(await users.tokensValidAfter(org, "a")).toBe(500);
      await users.endSessions(org, "a", 600);
      expect(await users.tokensValidAfter(org, "a")).toBe(600);
    });

    test("gives a recreated conversation an empty history", async () => {
      const { store } = context;
      const org = await createOrganization();
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 1);
      const old = messageOf(org);
      await store.sends.append(old);
      await store.conversations.remove(org, "c1", 2);
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 3);
      const fresh = messageOf(org);
      await store.sends.append(fresh);
      const messages = await store.history.messages(org, "c1", {
        direction: "backward",
        limit: 10,
        maxBytes: mebibyte,
      });
      expect(messages.map(({ payload }) => payload)).toEqual([fresh.payload]);
      expect(await store.history.offsetOf(org, "c1", old.id)).toBeUndefined();
    });

    test("continues the log of a recreated organization", async () => {
      const { store, announced } = context;
      const org = await createOrganization();
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 1);
      const old = messageOf(org, { mid: "once" });
      await store.sends.append(old);
      expect(await store.organizations.remove(org, 5)).toBe(true);
      expect(announced.at(-1)).toMatchObject({ org, offset: 3, kind: "session" });
      expect(await store.organizations.get(org)).toBeUndefined();
      expect(await store.standing.snapshot(org, "u1")).toBeUndefined();
      await store.organizations.put(org, "again", 6);
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 6);
      expect((await store.sends.append(messageOf(org, { mid: "once" }))).outcome).toBe("stored");
      expect((await store.log.heads([org])).get(org)?.offset).toBe(5);
    });

    test("refuses the tokens of a deleted organization for ever, even once it is created again", async () => {
      const { organizations, users } = context.store;
      const org = await createOrganization();
      await users.put(org, "u1", undefined, 1);
      expect(await users.tokensValidAfter(org, "u1")).toBe(0);
      await users.endSessions(org, "u1", 3);
      await organizations.remove(org, 5);
      await organizations.put(org, undefined, 6);
      for (const uid of ["u1", "never seen"]) expect(await users.tokensValidAfter(org, uid)).toBe(5);
      await users.put(org, "u1", undefined, 6);
      await users.endSessions(org, "u1", 7);
      expect(await users.tokensValidAfter(org, "u1")).toBe(7);
      expect(await users.tokensValidAfter("another", "u1")).toBe(0);
    });

    test("reads in one snapshot everything that decides about a connection", async () => {
      const { conversations, organizations, standing, users } = context.store;
      const org = await createOrganization();
      const place = async () => {
        const { offset: head, id: headId } = (await context.store.log.heads([org])).get(org) ?? logStart;
        return { head, headId };
      };
      const nobody = {
        cids: [],
        tokensValidAfter: 0,
        isUser: false,
        isBlocked: false,
        isRevoked: false,
        hasInboxes: false,
      };
      expect(await standing.snapshot(org, "a")).toEqual({ ...nobody, ...(await place()) });
      for (const cid of ["c1", "c2"]) await conversations.put(org, cid, { participants: ["a", "b"] }, 1);
      const joined = await standing.snapshot(org, "a");
      expect({ ...joined, cids: joined?.cids.sort() }).toEqual({
        ...(await place()),
        cids: ["c1", "c2"],
        tokensValidAfter: 0,
        isUser: true,
        isBlocked: false,
        isRevoked: false,
        hasInboxes: false,
      });
      await users.endSessions(org, "a", 500);
      expect(await standing.snapshot(org, "a")).toMatchObject({
        ...(await place()),
        tokensValidAfter: 500,
        isUser: true,
      });
      await users.remove(org, "a", 600);
      const removed = {
        ...(await place()),
        cids: [],
        tokensValidAfter: 600,
        isUser: false,
        isBlocked: false,
        isRevoked: false,
        hasInboxes: false,
      };
      expect(await standing.snapshot(org, "a")).toEqual(removed);
      expect(await standing.snapshot(org, "b")).toMatchObject({ tokensValidAfter: 0, isUser: true });
      await organizations.remove(org, 700);
      await organizations.put(org, undefined, 800);
      for (const uid of ["a", "b", "never seen"])
        expect(await standing.snapshot(org, uid)).toMatchObject({ tokensValidAfter: 700 });
    });

    test("reads history between two places in either direction", async () => {
      const { store } = context;
      const org = await createOrganization();
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 1); // offset 1; the messages have offsets 2 to 11
      for (let index = 0; index < 10; index++) await store.sends.append(messageOf(org));
      const read = async (range: object) =>
        (
          await store.history.messages(org, "c1", { direction: "backward", limit: 3, maxBytes: mebibyte, ...range })
        ).map(({ offset }) => offset);
      expect(await read({})).toEqual([11, 10, 9]);
      expect(await read({ before: 9 })).toEqual([8, 7, 6]);
      expect(await read({ after: 2, direction: "forward" })).toEqual([3, 4, 5]);
      expect(await read({ after: 2, before: 4, direction: "forward" })).toEqual([3]);
    });

    test("ends a page of history early if its messages are large, in either direction, but never before the first", async () => {
      const { store } = context;
      const org = await createOrganization();
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 1);
      const sizes = [1, mebibyte, 3 * mebibyte, 1, 5 * mebibyte, 1]; // at offsets 2 to 7
      for (const size of sizes) await store.sends.append(messageOf(org, { payload: JSON.stringify("x".repeat(size)) }));
      const page = async (range: { after?: number; before?: number; direction: "forward" | "backward" }) => {
        const read = await store.history.messages(org, "c1", { ...range, limit: 100, maxBytes: 4 * mebibyte });
        expect(read.every(({ payload }) => payload.startsWith('"x'))).toBe(true);
        return read.map(({ offset }) => offset);
      };
      expect(await page({ direction: "forward" })).toEqual([2, 3, 4]);
      expect(await page({ after: 4, direction: "forward" })).toEqual([5, 6]);
      expect(await page({ after: 5, direction: "forward" })).toEqual([6]);
      expect(await page({ direction: "backward" })).toEqual([7, 6]);
      expect(await page({ before: 6, direction: "backward" })).toEqual([5, 4, 3]);
    });

    test("counts and reads what a user missed in the user's current conversations", async () => {
      const { store } = context;
      const org = await createOrganization();
      await store.conversations.put(org, "c1", { participants: ["u1", "u2"] }, 1);
      await store.conversations.put(org, "c2", { participants: ["u1"] }, 1);
      const seen = messageOf(org);
      await store.sends.append(seen);
      for (const cid of ["c1", "c2", "c1"]) await store.sends.append(messageOf(org, { cid }));
      const from = await store.missed.findMessage(org, seen.id);
      expect(from).toEqual({ offset: 3, createdAt: 1_000 });
      expect(await store.missed.findMessage("nowhere", seen.id)).toBeUndefined();
      expect(await store.missed.countMissed(org, "u2", 3, 6, 10)).toBe(2);
      expect(await store.missed.countMissed(org, "u1", 3, 6, 2)).toBe(2);
      expect((await store.missed.readMissed(org, "u1", 3, 5, 10, mebibyte)).map(({ offset }) => offset)).toEqual([
        4, 5,
      ]);
      expect((await store.missed.readMissed(org, "u2", 3, 6, 10, mebibyte)).map(({ offset }) => offset)).toEqual([
        4, 6,
      ]);
    });

    test("ends a page of missed messages early if they are large, but never before the first", async () => {
      const { store } = context;
      const org = await createOrganization();
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 1);
      const sizes = [1, mebibyte, 3 * mebibyte, 1]; // at offsets 2 to 5
      for (const size of sizes)
        await store.sends.append(messageOf(org, { payload: JSON.stringify("é".repeat(size / 2)) }));
      const read = async (after: number, maxBytes: number) => {
        const page = await store.missed.readMissed(org, "u1", after, 5, 100, maxBytes);
        expect(page.every(({ id, payload }) => id !== "" && payload.startsWith('"'))).toBe(true);
        return page.map(({ offset }) => offset);
      };
      expect(await read(1, mebibyte)).toEqual([2, 3]);
      expect(await read(3, 1)).toEqual([4]);
      expect(await read(4, mebibyte)).toEqual([5]);
    });

    test("lists a user's conversations, most recently active first", async () => {
      const { store } = context;
      const org = await createOrganization();
      for (const [index, cid] of ["c1", "c2", "c3"].entries())
        await store.conversations.put(org, cid, { participants: ["u1"] }, index);
      await store.sends.append(messageOf(org, { cid: "c2", createdAt: 9_000 }));
      const list = await store.standing.conversations(org, "u1", { after: undefined, limit: 2 });
      expect(list.map(({ id, updatedAt }) => [id, updatedAt])).toEqual([
        ["c2", 9_000],
        ["c3", 2],
      ]);
      const after = { updatedAt: 2, id: "c3" };
      expect((await store.standing.conversations(org, "u1", { after, limit: 2 })).map(({ id }) => id)).toEqual(["c1"]);
    });
  });
}
