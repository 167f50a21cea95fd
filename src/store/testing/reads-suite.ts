import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { NewSend } from "../ports.ts";
import type { NewRead, ReadCall } from "../reads/ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;

/** Tests the port `ReadMarks` and the unread counts of `Standing`, for every engine. */
export function describeReadMarks(engine: string, open: OpenDatabase): void {
  describe(`read marks on ${engine}`, () => {
    const context = useStore(open);

    const createOrganization = () => context.createOrganization(["u1", "u2", "u3"]);

    async function send(org: string, change: Partial<NewSend> = {}): Promise<string> {
      const message = messageOf(org, { mid: undefined, ...change });
      expect((await context.store.sends.append(message)).outcome).toBe("stored");
      return message.id;
    }

    async function sendMany(org: string, count: number, change: Partial<NewSend> = {}): Promise<string[]> {
      return await Promise.all(Array.from({ length: count }, () => send(org, change)));
    }

    async function scopeOf(org: string, change: Partial<ReadCall> = {}) {
      return await context.store.readMarks.scopeOf({ org, cid: "c1", uid: "u2", ids: undefined, ...change });
    }

    /** What a read would store, from its scope. */
    async function prepare(org: string, change: Partial<ReadCall> = {}): Promise<NewRead> {
      const scope = await scopeOf(org, change);
      if (scope.outcome === "refused") throw new Error(`no ${scope.missing}`);
      const { unread } = scope;
      return { org, cid: "c1", uid: "u2", unread, now: 5_000, keyId: "k", ...change };
    }

    const read = async (org: string, change: Partial<ReadCall> = {}) =>
      await context.store.readMarks.markAll([await prepare(org, change)]);

    const unreadOf = async (org: string, uid = "u2", cid = "c1") =>
      (await context.store.standing.conversations(org, uid, { after: undefined, limit: 100 })).find(
        ({ id }) => id === cid,
      )?.unread;

    /** The reads announced in the organization: the author, and what the author hears. */
    const announced = (org: string) =>
      context.announced
        .filter((event) => event.org === org && event.kind === "read")
        .map(({ uids, payload }) => [uids, JSON.parse(payload).message_read]);

    test("move to the end, and tell each author once which messages were read", async () => {
      const org = await createOrganization();
      const [first, own, second, third] = [
        await send(org),
        await send(org, { sender: "u2" }),
        await send(org, { sender: "u3" }),
        await send(org),
      ];
      expect(await unreadOf(org)).toBe(3);
      expect(await read(org)).toEqual([2]);
      const of = { cid: "c1", from: "u2", t: 5 };
      expect(announced(org)).toEqual([
        [["u1"], { ids: [first, third], ...of }],
        [["u3"], { ids: [second], ...of }],
      ]);
      expect(own).toBeString();
      expect(await unreadOf(org)).toBe(0);
      expect(await unreadOf(org, "u1")).toBe(2);
      expect((await scopeOf(org)).outcome).toBe("found");
      expect(await scopeOf(org)).toMatchObject({ unread: [] });
      const id = context.announced.at(-1)?.id ?? "";
      expect(await context.keyIdOf(org, id)).toBe("k");
      expect((await context.store.log.readAfter(org, 0, 100, mebibyte)).at(-1)).toMatchObject({ id, kind: "read" });
    });

    test("move to the newest of the messages named, and include everything before it", async () => {
      const org = await createOrganization();
      const ids = await sendMany(org, 4);
      expect(await read(org, { ids: [ids[2] ?? "", ids[0] ?? "", ids[2] ?? ""] })).toEqual([1]);
      expect(announced(org).map(([, { ids: named }]) => named)).toEqual([ids.slice(0, 3)]);
      expect(await unreadOf(org)).toBe(1);
      expect(await scopeOf(org, { ids: ids.slice(0, 2) })).toMatchObject({ outcome: "found", unread: [] });
    });

    test("never move back, whatever is stored in which order, and nobody hears of a message twice", async () => {
      const org = await createOrganization();
      const ids = await sendMany(org, 6);
      const reads = await Promise.all(ids.map((id) => prepare(org, { ids: [id] })));
      const [two, three, ...rest] = [reads[1], reads[2], reads[5], reads[0], reads[4], reads[3]].map((one) => {
        if (one === undefined) throw new Error("six reads");
        return one;
      });
      if (two === undefined || three === undefined) throw new Error("six reads");
      expect(await context.store.readMarks.markAll([two])).toEqual([1]);
      expect(await context.store.readMarks.markAll([three, ...rest])).toEqual([1, 1, 0, 0, 0]); // in one commit
      expect(announced(org).flatMap(([, { ids: named }]) => named)).toEqual(ids);
      expect(await unreadOf(org)).toBe(0);
    });

    test("name the newest hundred; the rest is read, too", async () => {
      const org = await createOrganization();
      const ids = await sendMany(org, 130);
      expect(await unreadOf(org)).toBe(100);
      await read(org);
      expect(announced(org).map(([, { ids: named }]) => named)).toEqual([ids.slice(-100)]);
      expect(await unreadOf(org)).toBe(0);
    });

    test("count no message of the user's own, none from before joining, and none of another conversation", async () => {
      const org = await createOrganization();
      await context.store.conversations.put(org, "c2", { participants: ["u1", "u2"] }, 1);
      await sendMany(org, 2);
      await send(org, { sender: "u2" });
      await send(org, { cid: "c2" });
      await context.store.participants.add(org, "c1", "u4", 10, 1);
      expect([await unreadOf(org, "u4"), await unreadOf(org), await unreadOf(org, "u2", "c2")]).toEqual([0, 2, 1]);
      await send(org);
      expect([await unreadOf(org, "u4"), await unreadOf(org)]).toEqual([1, 3]);
    });

    test("count and name no silent message, and move past those that are", async () => {
      const org = await createOrganization();
      const silent = true;
      const before = await send(org, { silent });
      expect([await unreadOf(org), await read(org)]).toEqual([0, [0]]);
      const loud = await send(org);
      const after = await send(org, { silent });
      expect([await unreadOf(org), await unreadOf(org, "u3")]).toEqual([1, 1]);
      expect(await scopeOf(org, { ids: [before] })).toMatchObject({ outcome: "found", unread: [] });
      expect(await read(org, { ids: [after] })).toEqual([1]);
      expect(announced(org)).toEqual([[["u1"], { ids: [loud], cid: "c1", from: "u2", t: 5 }]]);
      expect([await unreadOf(org), await unreadOf(org, "u3")]).toEqual([0, 1]);
      expect(await scopeOf(org, { ids: [after] })).toMatchObject({ outcome: "found", unread: [] });
      expect(await read(org)).toEqual([0]);
    });

    test("begin anew for a user who left and came back, and in a conversation that is created again", async () => {
      const org = await createOrganization();
      const [before] = await sendMany(org, 3);
      await read(org);
      await context.store.participants.remove(org, "c1", "u2", 1);
      await send(org);
      expect(await scopeOf(org)).toEqual({ outcome: "refused", missing: "participant" });
      await context.store.participants.add(org, "c1", "u2", 10, 1);
      expect(await unreadOf(org)).toBe(0);
      await send(org);
      expect(await unreadOf(org)).toBe(1);
      await context.store.conversations.remove(org, "c1", 1);
      await context.store.conversations.put(org, "c1", { participants: ["u1", "u2"] }, 1);
      expect(await unreadOf(org)).toBe(0);
      expect(await scopeOf(org, { ids: [before ?? ""] })).toEqual({
        outcome: "refused",
        missing: "message",
        message: before ?? "",
      });
    });

    test("are refused for what does not exist, and then nothing is stored", async () => {
      const org = await createOrganization();
      const other = await createOrganization();
      const [id = ""] = await sendMany(org, 1);
      const theirs = await send(other);
      const missing = async (change: Partial<ReadCall>) => await scopeOf(org, change);
      expect(await missing({ org: "nobody" })).toEqual({ outcome: "refused", missing: "organization" });
      expect(await missing({ cid: "c9" })).toEqual({ outcome: "refused", missing: "conversation" });
      expect(await missing({ uid: "u9" })).toEqual({ outcome: "refused", missing: "participant" });
      for (const ids of [[createId()], [id, createId()], [theirs]])
        expect(await missing({ ids })).toEqual({ outcome: "refused", missing: "message", message: ids.at(-1) ?? "" });
      expect(await unreadOf(org)).toBe(1);
    });

    test("tell authors who have left nothing, and are not stored for a reader who has", async () => {
      const org = await createOrganization();
      await send(org);
      await send(org, { sender: "u3" });
      const [byTwo, byThree] = [await prepare(org), await prepare(org, { uid: "u3" })];
      await context.store.participants.remove(org, "c1", "u3", 1);
      expect(await context.store.readMarks.markAll([byTwo, byThree])).toEqual([1, "left"]);
      expect(announced(org).map(([uids]) => uids)).toEqual([["u1"]]);
      expect(await context.store.readMarks.participantsAmong(org, "c1", ["u3", "u2", "u9", "u1"])).toEqual(
        expect.arrayContaining(["u1", "u2"]),
      );
    });

    test("are not stored if what they looked at is not in the log any more", async () => {
      const org = await createOrganization();
      await send(org);
      const read = await prepare(org);
      const ofLostLog = { ...read, unread: read.unread.map((message) => ({ ...message, id: createId() })) };
      expect(await context.store.readMarks.markAll([ofLostLog])).toEqual(["stale"]);
      expect([announced(org), await unreadOf(org)]).toEqual([[], 1]);
      await send(org);
      expect(await context.store.readMarks.markAll([read])).toEqual([1]);
      expect(await unreadOf(org)).toBe(1); // what came after it was looked at
    });

    test("leave pages of messages and what was missed as they are", async () => {
      const { store } = context;
      const org = await createOrganization();
      const ids = await sendMany(org, 3);
      await read(org);
      const range = { direction: "forward", limit: 100, maxBytes: mebibyte } as const;
      expect(
        (await store.history.messages(org, "c1", range)).map(({ payload }) => JSON.parse(payload).message._id),
      ).toEqual(ids);
      expect((await store.missed.readMissed(org, "u1", 0, 1_000, 100, mebibyte)).map(({ id }) => id)).toEqual(ids);
    });

    test("are announced for a day; what was read stays read", async () => {
      const org = await createOrganization();
      await send(org);
      await read(org);
      await send(org);
      const expiry = { messagesBefore: undefined, idsBefore: undefined, auditBefore: undefined, deletedBefore: 0 };
      const order = { ...expiry, revocationsBefore: undefined, holder: "n", leaseMs: 1, limit: 100 };
      const kinds = async () => (await context.store.log.readAfter(org, 0, 100, mebibyte)).map(({ kind }) => kind);
      await context.store.retention.step({ ...order, now: 10, readsBefore: 5_000 });
      expect(await kinds()).toEqual(["membership", "message", "read", "message"]);
      await context.store.retention.step({ ...order, now: 20, readsBefore: 5_001 });
      expect(await kinds()).toEqual(["membership", "message", "message"]);
      expect(await unreadOf(org)).toBe(1);
    });

    test("are counted and moved at a bounded cost, however much the user wrote without reading", async () => {
      const org = await createOrganization();
      await send(org);
      await sendMany(org, 300, { sender: "u2" });
      expect(await unreadOf(org)).toBe(0); // only the last 250 events are looked at
      expect(await scopeOf(org)).toMatchObject({ outcome: "found", unread: [] });
      const id = await send(org);
      expect(await unreadOf(org)).toBe(1);
      await read(org);
      expect(announced(org).map(([, { ids }]) => ids)).toEqual([[id]]);
      expect(await unreadOf(org)).toBe(0);
    });
  });
}
