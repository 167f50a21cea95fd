import { describe, expect, test } from "bun:test";
import type { NewSend } from "../ports.ts";
import { createSenders } from "./delivery-suite.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;

/** Tests the port `SentReads`, and the checks of sends, for every engine. */
export function describeSent(engine: string, open: OpenDatabase): void {
  describe(`sends on ${engine}`, () => {
    const context = useStore(open);
    const { send, sendSystem } = createSenders(context);

    /** Creates an organization for this test only, with the conversation `c1` of `u1` and `u2`: one event. */
    const createOrganization = () => context.createOrganization(["u1", "u2"]);

    test("are looked up by a message's id, with its number of recipients at the time and its key", async () => {
      const { store } = context;
      const org = await createOrganization();
      const first = await send(org, { keyId: "key 1" });
      await store.participants.add(org, "c1", "u3", 10, 1);
      await store.conversations.put(org, "c1", { participants: ["u1", "u4", "u5", "u6"] }, 1);
      const second = await send(org);
      await store.users.remove(org, "u6", 1);
      const third = await send(org);
      await store.participants.remove(org, "c1", "u4", 1);
      const fourth = await send(org);
      const found = await Promise.all([first, second, third, fourth].map(({ id }) => store.sent.message(org, id)));
      expect(found.map((event) => event?.recipients)).toEqual([2, 4, 3, 2]);
      expect(found[0]).toMatchObject({ offset: 2, cid: "c1", payload: first.payload, keyId: "key 1" });
      const system = await sendSystem(org, ["u1"]);
      expect(await store.sent.message(org, system.id)).toBeUndefined();
      await store.conversations.remove(org, "c1", 2);
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 2);
      expect(await store.sent.message(org, first.id)).toBeUndefined();
      expect((await store.sent.message(org, (await send(org)).id))?.recipients).toBe(1);
    });

    test("are looked up by the id and the sender of a system message", async () => {
      const { store } = context;
      const [org, other] = [await createOrganization(), await createOrganization()];
      await sendSystem(org, ["u1", "u9"], { mid: "s" });
      await sendSystem(org, ["u2"], { mid: "s", sender: "u2" });
      await send(org, { mid: "s" });
      const found = async (mid: string, sender?: string) =>
        (await store.sent.systemMessages(org, mid, sender)).map(({ offset, recipients }) => [offset, recipients]);
      expect((await found("s")).sort()).toEqual([
        [2, 2],
        [3, 1],
      ]);
      expect([await found("s", "u2"), await found("s", "u9"), await found("t")]).toEqual([[[3, 1]], [], []]);
      expect(await store.sent.systemMessages(other, "s", undefined)).toEqual([]);
    });

    test("of system messages to a conversation and to everyone are looked up with whom they went to", async () => {
      const { store } = context;
      const org = await createOrganization();
      await sendSystem(org, [], { mid: "c", cid: "c1" });
      await sendSystem(org, [], { mid: "e" });
      const found = async (mid: string) =>
        (await store.sent.systemMessages(org, mid, undefined)).map(({ cid, uids, recipients }) => [
          cid,
          uids,
          recipients,
        ]);
      expect([await found("c"), await found("e")]).toEqual([[["c1", [], 2]], [[undefined, [], undefined]]]);
      await store.conversations.remove(org, "c1", 2);
      await store.conversations.put(org, "c1", { participants: ["u1"] }, 2);
      expect([await found("c"), (await found("e")).length]).toEqual([[], 1]);
    });

    test("know who was a user when an event was stored, by the order of commits", async () => {
      const { store } = context;
      const org = await createOrganization(); // the log ends at offset 1
      await store.users.put(org, "a", undefined, 99_999);
      await send(org); // offset 2
      await store.users.put(org, "b", undefined, 1);
      await store.users.remove(org, "a", 1); // offset 3
      await send(org); // offset 4
      const users = ["u1", "a", "b", "c"];
      const at = async (offset: number) => [...(await store.sent.usersAt(org, users, offset))].sort();
      expect([await at(1), await at(2), await at(4), await at(5)]).toEqual([
        ["u1"],
        ["a", "u1"],
        ["b", "u1"],
        ["b", "u1"],
      ]);
      const counts = [1, 2, 4, 5, Number.MAX_SAFE_INTEGER].map((offset) => store.sent.countUsersAt(org, offset));
      expect(await Promise.all(counts)).toEqual([2, 3, 3, 3, 3]);
      expect(await store.sent.strangersAmong(org, users)).toEqual(["a", "c"]);
      expect(await store.sent.strangersAmong(org, [])).toEqual([]);
      const many = Array.from({ length: 1_001 }, (_, index) => `nobody-${index}`);
      expect(await store.sent.strangersAmong(org, [...many, "b"])).toEqual(many);
    });

    test("can be checked without a send: by the same rules, and storing nothing", async () => {
      const { store } = context;
      const org = await createOrganization();
      const sent = await send(org, { mid: "m" });
      const check = (change: Partial<NewSend>) => store.checks.check(messageOf(org, change));
      expect(await check({})).toEqual({ verdict: undefined, participants: 2 });
      expect(await check({ mid: "m" })).toEqual({
        verdict: { outcome: "replayed", id: sent.id, createdAt: sent.createdAt },
        participants: 2,
      });
      expect((await check({ mid: "m", fingerprint: "g" })).verdict).toEqual({ outcome: "conflict" });
      expect((await check({ cid: "c9" })).verdict).toEqual({ outcome: "refused", missing: "conversation" });
      expect((await check({ sender: "u9" })).verdict).toEqual({ outcome: "refused", missing: "participant" });
      expect((await check({ org: "nowhere" })).verdict).toEqual({ outcome: "refused", missing: "organization" });
      const system = { kind: "system", cid: undefined, uids: ["u1"] } as const;
      expect(await check({ ...system, uids: ["u1"] })).toEqual({ verdict: undefined, participants: 0 });
      expect((await check({ ...system, uids: ["u1"], sender: "u9" })).verdict).toEqual({
        outcome: "refused",
        missing: "user",
      });
      expect((await store.log.readAfter(org, 1, 10, mebibyte)).map(({ id }) => id)).toEqual([sent.id]);
    });
  });
}
