import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { NewSend } from "../ports.ts";
import type { DueSend, Failure, NewScheduledSend, ScheduledSend, Settlement } from "../schedule/ports.ts";
import { messageOf, type OpenDatabase, openStore, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;
const day = 86_400_000;

/** Tests the ports `ScheduleReads` and `ScheduleWrites`, for every engine. */
export function describeSchedule(engine: string, open: OpenDatabase): void {
  describe(`the schedule on ${engine}`, () => {
    const context = useStore(open);

    const orderOf = (change: Partial<NewScheduledSend> = {}): NewScheduledSend => ({
      id: "one",
      sendAt: 1_000,
      request: '{"a":1}',
      sender: "u1",
      fingerprint: "f",
      revision: createId(),
      keyId: "k",
      now: 500,
      replaces: undefined,
      mostWaiting: 100,
      ...change,
    });

    async function put(org: string, change: Partial<NewScheduledSend> = {}): Promise<ScheduledSend> {
      const put = await context.store.schedule.put(org, orderOf(change));
      if (put.outcome !== "done") throw new Error(put.outcome);
      return put.send;
    }

    const dueOf = ({ id, revision }: ScheduledSend, org: string, change: Partial<NewSend> = {}): DueSend => {
      const send = messageOf(org, { createdAt: 2_000, mid: undefined, ...change });
      return { id, revision, tryId: `try-${id}`, send, serverMid: send.id };
    };
    const settle = (org: string, entries: DueSend[], change: Partial<Settlement> = {}) =>
      context.store.schedule.settle(org, { now: 2_000, entries, notBefore: undefined, ...change });
    const find = async (org: string, id = "one") => (await context.store.schedule.find(org, id)).found;
    const bytesOf = async (org: string) => (await context.store.organizations.budgets([org]))[0]?.storedBytes ?? 0;
    const dueIds = async (org: string, now: number) =>
      (await context.store.schedule.due(org, now, { limit: 10, maxBytes: mebibyte })).map(({ id }) => id);
    const isDue = async (org: string, now: number) =>
      (await context.store.schedule.dueOrganizations(now, 1_000)).includes(org);
    const eventsOf = async (org: string) =>
      (await context.store.log.readAfter(org, 1, 100, mebibyte)).map(({ id }) => id);

    test("keeps a send as it was given, and the time of the database with it", async () => {
      const org = await context.createOrganization();
      const stored = await put(org);
      expect(stored).toEqual({
        id: "one",
        state: "waiting",
        sendAt: 1_000,
        request: '{"a":1}',
        fingerprint: "f",
        revision: stored.revision,
        keyId: "k",
        createdAt: 500,
        endedAt: null,
        serverMid: null,
        problem: null,
        tryId: null,
      });
      const { now, found } = await context.store.schedule.find(org, "one");
      expect(found).toEqual(stored);
      expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
      expect(await find(org, "two")).toBeUndefined();
    });

    test("replaces only the revision that was read, and keeps when the first one was scheduled", async () => {
      const org = await context.createOrganization();
      const first = await put(org);
      const { schedule } = context.store;
      expect(await schedule.put(org, orderOf())).toEqual({ outcome: "changed" });
      expect(await schedule.put(org, orderOf({ replaces: createId() }))).toEqual({ outcome: "changed" });
      const second = await put(org, { replaces: first.revision, sendAt: 3_000, now: 600, keyId: "other" });
      expect(second).toMatchObject({ sendAt: 3_000, createdAt: 500, keyId: "other" });
      expect(await schedule.cancel(org, "one", { revision: first.revision, now: 700 })).toBe(false);
      expect(await schedule.cancel(org, "one", { revision: second.revision, now: 700 })).toBe(true);
      expect(await find(org)).toMatchObject({ state: "cancelled", endedAt: 700, request: null });
      expect(await schedule.put(org, orderOf({ replaces: second.revision }))).toEqual({ outcome: "changed" });
      expect(await schedule.cancel(org, "one", { revision: second.revision, now: 700 })).toBe(false);
    });

    test("sends what is due, in one commit with the note of it, and announces it", async () => {
      const org = await context.createOrganization(["u1"]);
      const due = dueOf(await put(org), org);
      context.announced.length = 0;
      expect(await settle(org, [due])).toEqual([{ id: "one", state: "sent", isNew: true }]);
      const serverMid = "serverMid" in due ? due.serverMid : "";
      expect(await find(org)).toMatchObject({
        state: "sent",
        endedAt: 2_000,
        request: null,
        serverMid,
        tryId: "try-one",
      });
      expect(await eventsOf(org)).toEqual([serverMid]);
      expect(context.announced.map(({ id }) => id)).toEqual([serverMid]);
    });

    test("is sent once, however many try at once", async () => {
      const org = await context.createOrganization(["u1"]);
      const scheduled = [await put(org), await put(org, { id: "two" })];
      const tries = await Promise.all(
        Array.from({ length: 8 }, () =>
          settle(
            org,
            scheduled.map((one) => dueOf(one, org)),
          ),
        ),
      );
      const states = tries.flat().map(({ state }) => state);
      expect(states.toSorted()).toEqual([...Array(14).fill("over"), "sent", "sent"]);
      expect(await eventsOf(org)).toHaveLength(2);
    });

    test("is sent or cancelled, never both, and not what was replaced", async () => {
      const org = await context.createOrganization(["u1"]);
      for (let round = 0; round < 10; round++) {
        const scheduled = await put(org, { id: `${round}` });
        const { revision } = scheduled;
        const [isCancelled, [settled]] = await Promise.all([
          context.store.schedule.cancel(org, scheduled.id, { revision, now: 1 }),
          settle(org, [dueOf(scheduled, org)]),
        ]);
        expect(settled?.state).toBe(isCancelled ? "over" : "sent");
      }
      const first = await put(org);
      const second = await put(org, { replaces: first.revision });
      expect((await settle(org, [dueOf(first, org)]))[0]?.state).toBe("over");
      expect((await settle(org, [dueOf(second, org)]))[0]?.state).toBe("sent");
    });

    test("fails as the log refuses it, and the others are sent", async () => {
      const org = await context.createOrganization(["u1"]);
      const [one, two, three, four] = [
        await put(org),
        await put(org, { id: "2" }),
        await put(org, { id: "3" }),
        await put(org, { id: "4" }),
      ];
      const earlier = messageOf(org, { mid: "m", fingerprint: "f" });
      await context.store.sends.append(earlier);
      const failure: Failure = { outcome: "error", code: "unauthorized", detail: "gone", fields: [] };
      const stranger = { org, kind: "message" as const, sender: "stranger", cid: "c1" };
      const twice = { org, kind: "message" as const, sender: "u1", cid: "c1", mid: "m" };
      const settled = await settle(org, [
        dueOf(one, org, { sender: "stranger" }),
        dueOf(two, org, { mid: "m", fingerprint: "other" }),
        dueOf(three, org, { mid: "m", fingerprint: "f" }),
        { id: four.id, revision: four.revision, tryId: "t", failure },
      ]);
      expect(settled).toEqual([
        { id: "one", state: "failed", failure: { outcome: "refused", missing: "participant", of: stranger } },
        { id: "2", state: "failed", failure: { outcome: "conflict", of: twice } },
        { id: "3", state: "sent", isNew: false },
        { id: "4", state: "failed", failure },
      ]);
      expect(JSON.parse((await find(org, "4"))?.problem ?? "")).toEqual(failure);
      expect(await find(org, "3")).toMatchObject({ serverMid: earlier.id, endedAt: earlier.createdAt });
      expect(await eventsOf(org)).toEqual([earlier.id]);
    });

    test("fails alone if the database takes its content for invalid", async () => {
      const org = await context.createOrganization(["u1"]);
      const [one, two] = [await put(org), await put(org, { id: "two" })];
      const earlier = messageOf(org);
      await context.store.sends.append(earlier);
      const settled = await settle(org, [dueOf(one, org, { id: earlier.id }), dueOf(two, org)]); // ids are unique
      expect(settled).toMatchObject([
        { state: "failed", failure: { outcome: "error", code: "internal" }, error: expect.anything() },
        { state: "sent" },
      ]);
      expect(await eventsOf(org)).toHaveLength(2);
    });

    test("is due in the order of time, then of id, and a page ends with the one that reaches its size", async () => {
      const org = await context.createOrganization();
      await put(org, { id: "b", sendAt: 1_000 });
      await put(org, { id: "a", sendAt: 1_000 });
      await put(org, { id: "c", sendAt: 900 });
      await put(org, { id: "later", sendAt: 1_001 });
      expect(await dueIds(org, 1_000)).toEqual(["c", "a", "b"]);
      const { schedule } = context.store;
      expect(await schedule.due(org, 1_000, { limit: 2, maxBytes: mebibyte })).toHaveLength(2);
      expect(await schedule.due(org, 1_000, { limit: 10, maxBytes: 1 })).toHaveLength(1);
      expect(await schedule.due(org, 1_000, { limit: 10, maxBytes: 8 })).toHaveLength(2);
    });

    test("is listed by time and id, by state, in pages", async () => {
      const org = await context.createOrganization(["u1"]);
      for (const [id, sendAt] of Object.entries({ c: 3, a: 1, b: 1, d: 4 })) await put(org, { id, sendAt });
      const sent = await find(org, "a");
      if (sent !== undefined) await settle(org, [dueOf(sent, org)]);
      const list = async (change: object) => {
        const base = { state: undefined, after: undefined, limit: 10, maxBytes: mebibyte };
        const { items, hasMore } = await context.store.schedule.list(org, { ...base, ...change });
        return [items.map(({ id }) => id).join(""), hasMore];
      };
      expect(await list({})).toEqual(["abcd", false]);
      expect(await list({ limit: 2 })).toEqual(["ab", true]);
      expect(await list({ limit: 2, after: { sendAt: 1, id: "b" } })).toEqual(["cd", false]);
      expect(await list({ state: "waiting" })).toEqual(["bcd", false]);
      expect(await list({ state: "waiting", limit: 2, after: { sendAt: 1, id: "" } })).toEqual(["bc", true]);
      expect(await list({ state: "sent" })).toEqual(["a", false]);
      expect(await list({ state: "waiting", maxBytes: 1 })).toEqual(["b", true]);
    });

    test("says when a node must look at which organization next", async () => {
      const org = await context.createOrganization(["u1"]);
      expect(await isDue(org, Number.MAX_SAFE_INTEGER)).toBe(false);
      const one = await put(org, { sendAt: 1_000 });
      const two = await put(org, { id: "two", sendAt: 3_000 });
      expect([await isDue(org, 999), await isDue(org, 1_000)]).toEqual([false, true]);
      await settle(org, [dueOf(one, org)]);
      expect([await isDue(org, 2_999), await isDue(org, 3_000)]).toEqual([false, true]);
      await settle(org, [], { now: 4_000, notBefore: 6_000 }); // held up by the organization's rate
      expect([await isDue(org, 5_999), await isDue(org, 6_000)]).toEqual([false, true]);
      await settle(org, [dueOf(two, org)], { now: 6_000 });
      expect(await isDue(org, Number.MAX_SAFE_INTEGER)).toBe(false);
      await put(org, { id: "three", sendAt: 1_000 });
      await put(org, { id: "four", sendAt: 1_000 });
      const three = await find(org, "three");
      if (three !== undefined) await settle(org, [dueOf(three, org)], { now: 9_000 });
      expect([await isDue(org, 8_999), await isDue(org, 9_000)]).toEqual([false, true]); // behind who waits longer
    });

    test("tells what waits on the whole server, and how late it is", async () => {
      const { store, dispose } = await openStore(open);
      expect(await store.schedule.next()).toEqual({ now: expect.any(Number), nextAt: undefined });
      expect(await store.schedule.backlog()).toEqual({ waiting: 0, overdueMs: 0 });
      const now = Date.now();
      for (const [org, sendAt] of Object.entries({ o1: now + day, o2: now - 5_000 })) {
        await store.organizations.put(org, undefined, 1);
        for (const id of ["one", "two"]) await store.schedule.put(org, orderOf({ id, sendAt }));
      }
      const { waiting, overdueMs } = await store.schedule.backlog();
      expect([waiting, Math.round(overdueMs / 10_000)]).toEqual([4, 1]);
      expect((await store.schedule.next()).nextAt).toBe(now - 5_000);
      expect(await store.schedule.dueOrganizations(now, 9)).toEqual(["o2"]);
      await dispose();
    });

    test("counts what waits as stored, until it no longer waits", async () => {
      const org = await context.createOrganization(["u1"]);
      const before = await bytesOf(org);
      const one = await put(org, { request: "x".repeat(100) });
      const two = await put(org, { id: "two", request: "x".repeat(50) });
      expect((await bytesOf(org)) - before).toBe(150);
      const replaced = await put(org, { id: "two", request: "x".repeat(20), replaces: two.revision });
      expect((await bytesOf(org)) - before).toBe(120);
      const due = dueOf(one, org);
      await settle(org, [due]);
      const sent = "send" in due ? Buffer.byteLength(due.send.payload) : 0;
      expect((await bytesOf(org)) - before).toBe(20 + sent);
      await settle(org, [dueOf(replaced, org, { sender: "stranger" })]);
      expect((await bytesOf(org)) - before).toBe(sent);
      const three = await put(org, { id: "three" });
      await context.store.schedule.cancel(org, "three", { revision: three.revision, now: 1 });
      expect((await bytesOf(org)) - before).toBe(sent);
    });

    test("is cancelled with all others of its sender, step by step", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const before = await bytesOf(org);
      for (const id of ["a", "b", "c"]) await put(org, { id });
      const other = await put(org, { id: "d", sender: "u2" });
      const { schedule } = context.store;
      const step = () => schedule.cancelSome(org, { sender: "u1", now: 700, limit: 2 });
      expect([await step(), await step(), await step()]).toEqual([2, 1, 0]);
      expect(await find(org, "c")).toMatchObject({ state: "cancelled", request: null, endedAt: 700 });
      expect((await bytesOf(org)) - before).toBe(other.request?.length ?? 0);
      expect(await dueIds(org, 1_000)).toEqual(["d"]);
      expect(await schedule.cancelSome("nowhere", { sender: "u1", now: 700, limit: 2 })).toBe(0);
    });

    test("holds only so many of one organization", async () => {
      const org = await context.createOrganization(["u1"]);
      const { schedule } = context.store;
      const add = async (id: string) => (await schedule.put(org, orderOf({ id, mostWaiting: 2 }))).outcome;
      expect([await add("a"), await add("b"), await add("c")]).toEqual(["done", "done", "too_many"]);
      const a = await find(org, "a");
      expect((await schedule.put(org, orderOf({ id: "a", mostWaiting: 2, replaces: a?.revision ?? "" }))).outcome).toBe(
        "done",
      );
      const b = await find(org, "b");
      await schedule.cancel(org, "b", { revision: b?.revision ?? "", now: 1 });
      expect([await add("d"), await add("e")]).toEqual(["done", "too_many"]);
    });

    test("ends with its organization, and one created again begins without it", async () => {
      const org = await context.createOrganization(["u1"]);
      const { organizations, schedule } = context.store;
      const one = await put(org);
      await organizations.remove(org, 1_500);
      expect(await find(org)).toBeUndefined();
      expect(await schedule.put(org, orderOf({ id: "two" }))).toEqual({ outcome: "missing" });
      expect(await schedule.cancel(org, "one", { revision: one.revision, now: 1 })).toBe(false);
      expect(await settle(org, [dueOf(one, org)])).toEqual([{ id: "one", state: "over" }]);
      expect(await isDue(org, Number.MAX_SAFE_INTEGER)).toBe(false);
      await organizations.put(org, undefined, 2_500);
      expect(await find(org)).toBeUndefined();
      expect(await dueIds(org, Number.MAX_SAFE_INTEGER)).toEqual([]);
      await put(org);
    });

    test("forgets what no longer waits with the ids of sends, step by step, and nothing that waits", async () => {
      const { store, dispose } = await openStore(open);
      await store.organizations.put("o1", undefined, 1);
      for (let n = 0; n < 5; n++) {
        const put = await store.schedule.put("o1", orderOf({ id: `${n}` }));
        const revision = put.outcome === "done" ? put.send.revision : "";
        if (n < 4) await store.schedule.cancel("o1", `${n}`, { revision, now: 1_000 + n });
      }
      const order = { holder: "n1", leaseMs: 1, limit: 2, deletedBefore: 0 };
      const never = {
        messagesBefore: undefined,
        auditBefore: undefined,
        revocationsBefore: undefined,
        readsBefore: undefined,
      };
      const step = (now: number, idsBefore: number | undefined) =>
        store.retention.step({ ...order, ...never, idsBefore, now });
      expect(await step(10, undefined)).toBe(0);
      expect([await step(20, 1_003), await step(30, 1_003), await step(40, 1_003)]).toEqual([2, 1, 0]);
      const page = { state: undefined, after: undefined, limit: 10, maxBytes: mebibyte };
      const left = async () => (await store.schedule.list("o1", page)).items.map(({ id }) => id);
      expect(await left()).toEqual(["3", "4"]);
      const withMessages = { ...order, ...never, messagesBefore: 1_004, idsBefore: undefined, now: 50 };
      expect([await store.retention.step(withMessages), await left()]).toEqual([1, ["4"]]);
      await dispose();
    });
  });
}
