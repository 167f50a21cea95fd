import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { NewSend } from "../ports.ts";
import { audienceOf, createSenders, deliveryOf } from "./delivery-suite.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const noExpiry = { idsBefore: undefined, auditBefore: undefined, revocationsBefore: undefined, readsBefore: undefined };

/** Tests the ports `NewestEvents`, `UserDeliveryReads`, `AddresseeReads` and `AddresseeWrites`, for every engine. */
export function describeUserDeliveries(engine: string, open: OpenDatabase): void {
  describe(`deliveries of users on ${engine}`, () => {
    const context = useStore(open);
    const { sendSystem } = createSenders(context);
    let now = 0;

    async function send(org: string, change: Partial<NewSend> = {}): Promise<number> {
      const stored = await context.store.sends.append(messageOf(org, change));
      if (stored.outcome !== "stored") throw new Error(`the send is ${stored.outcome}`);
      return stored.offset;
    }

    const system = (org: string, change: Partial<NewSend>) =>
      send(org, { kind: "system", cid: undefined, uids: [], ...change });

    /** All offsets of a user, in pages. */
    async function walk(org: string, uid: string, limit: number): Promise<number[]> {
      const offsets: number[] = [];
      for (let before: number | undefined; ; ) {
        const page = await context.store.userDeliveries.newestFor(org, uid, { before, limit });
        offsets.push(...page.offsets);
        before = page.next;
        if (before === undefined) return offsets;
      }
    }

    async function addAll(org: string): Promise<number> {
      let parts = 0;
      while (await context.store.addressees.addSome(org)) parts++;
      return parts;
    }

    test("are found newest first over all conversations, in pages of any size, whatever is written down yet", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2"]);
      const cids = Array.from({ length: 12 }, (_, index) => `room ${index}`);
      for (const cid of cids) await store.conversations.put(org, cid, { participants: ["u1", "u2"] }, 1);
      await store.conversations.put(org, "not u2's", { participants: ["u1"] }, 1);
      const mine: number[] = [];
      for (let round = 0; round < 240; round++) {
        // Most of it is in one conversation; between its messages, others join another one.
        const cid = round % 3 === 0 ? (cids[round % cids.length] ?? "") : "room 0";
        mine.push(await send(org, { cid }));
        if (round % 10 === 0) mine.push(await system(org, { cid, uids: [] }));
        if (round % 10 === 1) mine.push(await system(org, { uids: ["u3", "u2"] }));
        if (round % 10 === 2) mine.push(await system(org, {}));
        if (round % 10 === 3) await system(org, { uids: ["u1"] });
        if (round % 10 === 4) await send(org, { cid: "not u2's" });
        if (round === 120) await store.addressees.addSome(org);
        if (round > 200) await store.participants.add(org, "room 1", `late ${round}`, 1_000, 1);
      }
      const expected = mine.toReversed();
      for (const isListed of [false, true]) {
        if (isListed) await addAll(org);
        for (const limit of [1, 7, 60, 1_000]) expect(await walk(org, "u2", limit)).toEqual(expected);
      }
      expect(await store.addressees.behind("", 1_000)).not.toContain(org);
    });

    test("are those of the time in a conversation, and to everyone those since the user exists", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2"]);
      await system(org, {});
      const first = await send(org);
      await store.participants.remove(org, "c1", "u2", 1);
      await send(org);
      await store.participants.add(org, "c1", "u2", 10, 1);
      const last = await send(org);
      await store.users.put(org, "u3", undefined, 1);
      const common = await system(org, {});
      const [, before] = await walk(org, "u2", 10);
      expect(before).toBe(last);
      expect(await walk(org, "u2", 2)).toEqual([common, last, first, first - 1]);
      expect(await walk(org, "u3", 2)).toEqual([common]);
      await addAll(org);
      expect(await walk(org, "u3", 2)).toEqual([common]);
      await store.conversations.remove(org, "c1", 1);
      expect(await walk(org, "u2", 2)).toEqual([common, first - 1]);
    });

    test("are written down in parts, also of a message to very many, and go with the messages", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1"]);
      const uids = Array.from({ length: 1_300 }, (_, index) => `user ${index}`);
      const large = await system(org, { uids, createdAt: 5_000 });
      const next = await system(org, { uids: ["user 1299"], createdAt: 5_000 });
      expect(await store.addressees.behind("", 1_000)).toContain(org);
      expect(await Promise.all([store.addressees.addSome(org), store.addressees.addSome(org)])).toEqual([true, true]);
      expect(await walk(org, "user 1299", 10)).toEqual([next, large]);
      expect(await addAll(org)).toBe(1);
      for (const uid of ["user 0", "user 499", "user 500", "user 1298"])
        expect(await walk(org, uid, 10)).toEqual([large]);
      expect(await walk(org, "user 1299", 10)).toEqual([next, large]);
      const step = () => {
        now += 10;
        const order = { ...noExpiry, holder: "n1", leaseMs: 1, limit: 250, deletedBefore: 0, messagesBefore: 6_000 };
        return store.retention.step({ ...order, now });
      };
      while ((await step()) !== 0);
      expect(await walk(org, "user 1299", 10)).toEqual([]);
    });

    test("were delivered to those of an audience and its ancestors, if all of them are known", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2"]);
      const offsets = [await send(org), await send(org), await send(org)] as const;
      const [parent, child, orphan] = [
        audienceOf(org),
        audienceOf(org, { added: ["u3"], removed: ["u2"] }),
        audienceOf(org, { parent: createId() }),
      ];
      const deliveries = [parent, child, orphan].map((audience, index) => {
        const offset = offsets[index] ?? 0;
        return deliveryOf(org, 0, { audience: audience.id, uids: undefined, plays: [[offset, 100 + index, 200]] });
      });
      child.parent = parent.id;
      deliveries.push(deliveryOf(org, 0, { uids: ["u2"], plays: [[offsets[1], 50, 60]] }));
      await store.deliveries.record({ audiences: [parent, child, orphan], deliveries });
      const timesOf = async (uid: string) => {
        const events = await store.userDeliveries.addressedAt(org, uid, offsets);
        expect(events.map(({ offset }) => offset)).toEqual(offsets.toReversed());
        return Object.fromEntries(await store.userDeliveries.deliveredAt(org, uid, events));
      };
      expect(await timesOf("u1")).toEqual({ [offsets[0]]: 100, [offsets[1]]: 101 });
      expect(await timesOf("u2")).toEqual({ [offsets[0]]: 100, [offsets[1]]: 50 });
      expect(await timesOf("u3")).toEqual({ [offsets[1]]: 101 });
    });

    test("find a user among ids that look like each other", async () => {
      const org = await context.createOrganization(["u1"]);
      const ids = ["a", ",", 'a"', "a,", ',"', '","', "]", "[", "\\", '\\"', '"', "a\\", ",a", "😀", "\n", "[]"];
      const lists = [...ids.map((id) => [id]), ...ids.flatMap((left) => ids.map((right) => [left, right, "b"]))];
      const sent: { uids: string[]; offset: number }[] = [];
      for (const uids of lists) sent.push({ uids, offset: await system(org, { uids }) });
      for (const id of ids) {
        const expected = sent.filter(({ uids }) => uids.includes(id)).map(({ offset }) => offset);
        expect(await walk(org, id, 1_000)).toEqual(expected.toReversed());
      }
    });

    test("tell when what a read mark covers was read by, and what it does not cover is unread", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2"]);
      const offsets = [await send(org), await send(org)];
      const scope = async () => {
        const found = await store.readMarks.scopeOf({ org, cid: "c1", uid: "u2", ids: undefined });
        return found.outcome === "found" ? found.unread : [];
      };
      const [first] = await scope();
      if (first === undefined) throw new Error("there are two unread messages");
      const readAt = async () => {
        const events = await store.userDeliveries.addressedAt(org, "u2", offsets);
        return [...(await store.userDeliveries.readAt(org, "u2", events))].sort();
      };
      expect(await readAt()).toEqual([]);
      const read = { org, cid: "c1", uid: "u2", keyId: "k" };
      await store.readMarks.markAll([{ ...read, unread: [first], now: 7_000 }]);
      expect(await readAt()).toEqual([[offsets[0] ?? 0, 7_000]]);
      await store.readMarks.markAll([{ ...read, unread: await scope(), now: 8_000 }]);
      expect(await readAt()).toEqual(offsets.map((offset): [number, number] => [offset, 8_000]));
    });

    test("name a system message by its own id, also once that is forgotten, and not one of another organization", async () => {
      const { store } = context;
      const [org, other] = [await context.createOrganization(["u1"]), await context.createOrganization(["u1"])];
      const payload = JSON.stringify({ system_message: { _id: "given" } });
      await sendSystem(org, ["u1"], { payload, mid: "given" });
      const [offset = 0] = await walk(org, "u1", 1);
      const idsAt = async (of: string) =>
        (await store.userDeliveries.addressedAt(of, "u1", [offset])).map(({ id, kind }) => [id, kind]);
      expect(await idsAt(org)).toEqual([["given", "system_message"]]);
      expect(await idsAt(other)).toEqual([]);
      expect(await walk(other, "u1", 10)).toEqual([]);
    });
  });
}
