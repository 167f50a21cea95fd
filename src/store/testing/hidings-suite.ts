import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { ChangeOutcome, NewRecall } from "../messages/ports.ts";
import type { RetentionOrder } from "../retention/ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;
const day = 24 * 3_600_000;

/** Tests the ports `Hidings` and `HiddenReads`, and what becomes of what is hidden, for every engine. */
export function describeHidings(engine: string, open: OpenDatabase): void {
  describe(`hidden messages on ${engine}`, () => {
    const context = useStore(open);

    async function send(org: string, createdAt = 1_000): Promise<string> {
      const id = createId(createdAt);
      const message = { _id: id, from: "u1", body: "x", cid: "c1", x: {}, attachments: [] };
      await context.store.sends.append(
        messageOf(org, { id, mid: id, payload: JSON.stringify({ message }), createdAt }),
      );
      return id;
    }

    const hidingOf = (org: string, ids: string[], change: Partial<NewRecall> = {}): NewRecall => ({
      org,
      sender: "u2",
      eventId: createId(),
      at: 5_000,
      keyId: "k",
      cid: "c1",
      ids,
      ...change,
    });
    const hide = (org: string, ids: string[], change?: Partial<NewRecall>): Promise<ChangeOutcome> =>
      context.store.hidings.hide(hidingOf(org, ids, change));
    const hiddenOf = async (org: string, uid: string, ids: string[]) => [
      ...(await context.store.hidings.hiddenAmong(org, uid, ids)),
    ];

    async function listed(org: string, viewer?: string): Promise<string[]> {
      const range = { direction: "forward", limit: 100, maxBytes: mebibyte } as const;
      const rows = await context.store.history.messages(org, "c1", range, viewer);
      return rows.map(({ payload }) => JSON.parse(payload).message._id);
    }

    /** Lets retention remove all that it has to. */
    async function expire(change: Partial<RetentionOrder>): Promise<void> {
      const never = { messagesBefore: undefined, readsBefore: undefined, idsBefore: undefined, auditBefore: undefined };
      const lease = { holder: "h", leaseMs: 60_000, now: Date.now() };
      const order = { ...lease, ...never, revocationsBefore: undefined, deletedBefore: 0, limit: 100, ...change };
      while ((await context.store.retention.step(order)) !== 0);
    }

    test("are told to their user after the commit, and neither stored nor told twice", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const [first, second] = [await send(org), await send(org)];
      context.announced.length = 0;
      const changed = { outcome: "changed" as const, cid: "c1" };
      expect(await hide(org, [first])).toEqual(changed);
      expect(await hide(org, [first])).toEqual({ ...changed, outcome: "unchanged" });
      expect(await hide(org, [second, first])).toEqual(changed);
      const told = (id: string) => ({ message_delete: { ids: [id], cid: "c1", from: "u2", type: "myself", t: 5 } });
      expect(context.announced.map(({ kind, uids, payload }) => [kind, uids, JSON.parse(payload)])).toEqual([
        ["hide", ["u2"], told(first)],
        ["hide", ["u2"], told(second)],
      ]);
      expect([await listed(org, "u2"), await listed(org, "u1"), await listed(org)]).toEqual([
        [],
        [first, second],
        [first, second],
      ]);
      expect(await hiddenOf(org, "u1", [first, second])).toEqual([]);
    });

    test("are checked by the rules of a recall, of which a check stores nothing", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const id = await send(org);
      const check: typeof hide = (...of) => context.store.hidings.check(hidingOf(...of));
      expect(await check(org, [id])).toEqual({ outcome: "changed", cid: "c1" });
      expect(await listed(org, "u2")).toEqual([id]);
      for (const run of [hide, check]) {
        expect(await run(org, [id], { sender: "u3" })).toMatchObject({ missing: "participant" });
        expect(await run(org, [id], { cid: "c2" })).toMatchObject({ missing: "conversation" });
        expect(await run(org, [id, "other"])).toMatchObject({ missing: "message", message: "other" });
        expect(await run("nowhere", [id])).toMatchObject({ missing: "organization" });
      }
      expect(await listed(org, "u2")).toEqual([id]);
    });

    test("are forgotten with the message, which may be as old as it is, and of a user who is erased", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const { store } = context;
      const ids = [await send(org), await send(org, Date.now() - 10 * day), await send(org, Date.now())];
      const [recalled = "", , kept = ""] = ids;
      await hide(org, ids);
      await hide(org, ids, { sender: "u1" });
      await store.changes.recall(hidingOf(org, [recalled]));
      expect((await hiddenOf(org, "u2", ids)).sort()).toEqual(ids.slice(1).sort());
      await expire({ limit: 1, messagesBefore: Date.now() - day });
      expect(await hiddenOf(org, "u2", ids)).toEqual([kept]);
      await hide(org, [await send(org, Date.now())]);
      const erasure = { org, uid: "u2", at: 9_000, keyId: "k" };
      expect(await store.erasures.eraseHidings(erasure, 1)).toBe(1);
      expect(await store.erasures.eraseHidings(erasure, 5)).toBe(1);
      expect(await store.erasures.eraseHidings(erasure, 5)).toBe(0);
      expect(await listed(org, "u2")).toHaveLength(2);
      expect(await hiddenOf(org, "u1", ids)).toEqual([kept]);
    });

    test("are forgotten with their conversation", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2"]);
      const id = await send(org);
      await hide(org, [id]);
      await store.conversations.remove(org, "c1", 1);
      await expire({ deletedBefore: 2 });
      expect(await hiddenOf(org, "u2", [id])).toEqual([]);
    });
  });
}
