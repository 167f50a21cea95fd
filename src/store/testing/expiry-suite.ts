import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { NewSend } from "../ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;
const everything = { direction: "forward", limit: 100, maxBytes: mebibyte } as const;
const soonMs = 1_000; // enough for a busy machine to store some sends before it has passed
const afterLooksMs = 2_000; // and to look, too
const change = { keyId: "k", at: 5_000 };

/** Tests what becomes of messages and system messages that expire, for every engine. */
export function describeExpiry(engine: string, open: OpenDatabase): void {
  describe(`expiry on ${engine}`, () => {
    const context = useStore(open);
    const createOrganization = () => context.createOrganization(["u1", "u2"]);

    async function append(send: NewSend) {
      const outcome = await context.store.sends.append(send);
      if (outcome.outcome !== "stored") throw new Error(JSON.stringify(outcome));
      return { ...send, offset: outcome.offset };
    }

    const sayIn = (org: string, expiresAt: number | undefined, changes: Partial<NewSend> = {}) => {
      const id = createId();
      const message = { _id: id, cid: "c1", body: `body of ${id}`, x: {}, attachments: [] };
      return append(messageOf(org, { id, payload: JSON.stringify({ message }), expiresAt, ...changes }));
    };

    const noticeIn = (org: string, mid: string, changes: Partial<NewSend>) => {
      const payload = JSON.stringify({ system_message: { _id: mid, x: {} } });
      return append(messageOf(org, { kind: "system", cid: undefined, mid, uids: ["u1", "u2"], payload, ...changes }));
    };

    /** Waits until a time has passed by the database's clock, which is this machine's, and says how late it is then. */
    async function passed(time: number): Promise<number> {
      let now = 0;
      while (now <= time) {
        await Bun.sleep(Math.min(50, Math.max(1, time - now)));
        ({ now } = await context.store.expiry.next());
      }
      return now;
    }

    const read = async (org: string) => {
      const { history, missed, log, standing } = context.store;
      const upTo = (await log.heads([org])).get(org)?.offset ?? 0;
      const page = { after: undefined, limit: 10 };
      return {
        listed: (await history.messages(org, "c1", everything)).map(({ offset }) => offset),
        missed: (await missed.readMissed(org, "u2", 0, upTo, 100, mebibyte)).map(({ kind }) => kind),
        counted: await missed.countMissed(org, "u2", 0, upTo, 100),
        last: (await history.lastPlaces(org, ["c1"], "u1")).map(({ offset }) => offset),
        unread: (await standing.conversations(org, "u2", page)).map(({ unread }) => unread),
      };
    };

    test("leaves an expired message and its edit out of all reads at once, and keeps the others", async () => {
      const org = await createOrganization();
      const stays = await sayIn(org, undefined);
      const expiresAt = Date.now() + afterLooksMs;
      const goes = await sayIn(org, expiresAt);
      const edit = { org, sender: "u1", eventId: createId(), id: goes.id, body: "edited", x: undefined, ...change };
      expect(await context.store.changes.edit(edit)).toMatchObject({ outcome: "changed" });
      expect(await read(org)).toEqual({
        listed: [stays.offset, goes.offset],
        missed: ["message", "message", "edit"],
        counted: 3,
        last: [goes.offset],
        unread: [2],
      });
      const events = await context.store.log.readAfter(org, goes.offset - 1, 10, mebibyte);
      expect(events.map((event) => [event.kind, event.expiresAt])).toEqual([
        ["message", expiresAt],
        ["edit", expiresAt],
      ]);
      await passed(expiresAt);
      expect(await read(org)).toEqual({
        listed: [stays.offset],
        missed: ["message"],
        counted: 1,
        last: [stays.offset],
        unread: [1],
      });
      expect(await context.store.history.places(org, "c1", [goes.id], "u1")).toEqual([]);
      expect(await context.store.unreached.events([{ org, id: goes.id }])).toEqual([]);
      expect(await context.store.unreached.texts([{ org, id: goes.id }])).toEqual([]);
      expect(await context.store.sent.message(org, goes.id)).toMatchObject({ expiredAt: expiresAt });
      const again = { ...edit, eventId: createId(), body: "again" };
      expect(await context.store.changes.edit(again)).toMatchObject({ outcome: "refused", missing: "message" });
      const recall = { org, sender: "u1", eventId: createId(), cid: "c1", ids: [goes.id], ...change };
      expect(await context.store.changes.recall(recall)).toMatchObject({ outcome: "refused", missing: "message" });
    });

    test("ends what has expired once, in one commit, and tells each audience", async () => {
      const { store, announced } = context;
      const org = await createOrganization();
      const expiresAt = Date.now() + soonMs;
      const ids = [(await sayIn(org, expiresAt)).id, (await sayIn(org, expiresAt)).id];
      const kept = { expiresAt, kept: { until: Date.now() + 86_400_000 } };
      for (const mid of ["a", "b"]) await noticeIn(org, mid, kept);
      await noticeIn(org, "c", { uids: [], expiresAt });
      const later = await sayIn(org, expiresAt + 3_600_000);
      const now = await passed(expiresAt);
      expect(await store.expiry.dueOrganizations(now, 100)).toContain(org);
      announced.length = 0;
      expect(await Promise.all([store.expiry.endSome(org, now), store.expiry.endSome(org, now)])).toEqual([5, 0]);
      expect(await store.expiry.dueOrganizations(now, 100)).not.toContain(org);
      const t = Math.floor(now / 1_000);
      const told = announced.map(({ kind, cid, uids, payload }) => [kind, cid, uids, JSON.parse(payload)]);
      expect(told).toEqual([
        ["recall", "c1", undefined, { message_delete: { ids, cid: "c1", from: "u1", type: "all", t } }],
        ["system_recall", undefined, ["u1", "u2"], { system_message_delete: { ids: ["a", "b"], from: "u1", t } }],
        ["system_recall", undefined, [], { system_message_delete: { ids: ["c"], from: "u1", t } }],
      ]);
      const events = await store.log.readAfter(org, 1, 100, mebibyte);
      const ended = events.filter(({ kind }) => kind === "blank");
      expect([ended.length, ended.every(({ payload }) => payload === "")]).toEqual([5, true]);
      expect(await store.sent.message(org, ids[0] ?? "")).toMatchObject({
        expiredAt: expiresAt,
        recalledAt: undefined,
      });
      expect(await store.sent.message(org, later.id)).toMatchObject({ expiredAt: undefined, recalledAt: undefined });
      const [budget] = await store.organizations.budgets([org]);
      const bytesOf = (text: string | undefined) => Buffer.byteLength(text ?? "");
      const log = await store.log.readAfter(org, 0, 100, mebibyte);
      const stored = log.reduce(
        (sum, { payload, uids }) => sum + bytesOf(payload) + bytesOf(uids && JSON.stringify(uids)),
        0,
      );
      expect(budget?.storedBytes).toBe(stored);
    });

    test("takes what is kept out of inboxes at its time, and `since` brings that it has ended", async () => {
      const { store } = context;
      const org = await createOrganization();
      const expiresAt = Date.now() + afterLooksMs;
      const until = Date.now() + 86_400_000;
      const { offset } = await noticeIn(org, "goes", { expiresAt, kept: { until } });
      await noticeIn(org, "keyed", { expiresAt, kept: { until, key: "k" } });
      const stays = await noticeIn(org, "stays", { kept: { until } });
      const items = async () => {
        const found = await store.inboxes.items(org, "u2", { after: { past: 0, log: 0 }, now: Date.now() });
        return (
          await store.inboxes.places(
            org,
            found.map((item) => item.offset),
          )
        ).map(({ mid }) => mid);
      };
      const missedKept = async () => {
        const upTo = (await store.log.heads([org])).get(org)?.offset ?? 0;
        const range = { after: offset - 1, upTo, now: Date.now(), limit: 100, maxBytes: mebibyte };
        return (await store.inboxes.readMissedKept(org, "u2", range)).map(({ kind }) => kind);
      };
      expect(await items()).toEqual(["stays", "keyed", "goes"]);
      expect(await missedKept()).toEqual(["system", "system", "system"]);
      const now = await passed(expiresAt);
      expect([await items(), await missedKept()]).toEqual([["stays"], ["system"]]);
      expect(await store.inboxes.named(org, "u2", ["goes", "keyed"], now)).toEqual([]);
      await store.expiry.endSome(org, now);
      expect([await items(), await missedKept()]).toEqual([["stays"], ["system", "system_recall"]]);
      expect((await store.inboxes.named(org, "u2", ["stays"], now))[0]?.offset).toBe(stays.offset);
    });

    test("refuses what would have expired already, by the database's clock, but knows a retry", async () => {
      const { sends, checks } = context.store;
      const org = await createOrganization();
      const expiresAt = Date.now() + soonMs;
      const sent = await sayIn(org, expiresAt, { mid: "m-1", fingerprint: "f-1" });
      const now = await passed(expiresAt);
      const late = messageOf(org, { expiresAt: now });
      expect(await sends.append(late)).toEqual({ outcome: "refused", missing: "time" });
      expect((await checks.check(late)).verdict).toEqual({ outcome: "refused", missing: "time" });
      const retry = messageOf(org, { mid: "m-1", fingerprint: "f-1", expiresAt });
      expect(await sends.append(retry)).toMatchObject({ outcome: "replayed", id: sent.id });
    });

    test("one that was taken back before expires no more", async () => {
      const { store } = context;
      const org = await createOrganization();
      const expiresAt = Date.now() + soonMs;
      const { id } = await sayIn(org, expiresAt);
      const recall = { org, sender: "u1", eventId: createId(), cid: "c1", ids: [id], ...change };
      expect(await store.changes.recall(recall)).toMatchObject({ outcome: "changed" });
      const now = await passed(expiresAt);
      expect(await store.expiry.endSome(org, now)).toBe(0);
      expect(await store.sent.message(org, id)).toMatchObject({ recalledAt: change.at, expiredAt: undefined });
    });

    test("names the newest later system message with the key, in an inbox of the first", async () => {
      const { store } = context;
      const org = await createOrganization();
      const kept = { until: Date.now() + 86_400_000, key: "k" };
      await noticeIn(org, "first", { kept });
      const successor = async (mid: string) => {
        const [event] = await store.sent.systemMessages(org, mid, "u1");
        return event && (await store.sent.successorOf(org, event, "k"));
      };
      expect(await successor("first")).toBeUndefined();
      await noticeIn(org, "elsewhere", { kept, uids: [] });
      expect(await successor("first")).toBeUndefined();
      await noticeIn(org, "second", { kept, uids: ["u2"] });
      await noticeIn(org, "third", { kept: { ...kept, key: "other" } });
      expect([await successor("first"), await successor("second")]).toEqual(["second", undefined]);
    });
  });
}
