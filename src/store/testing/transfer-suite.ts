import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { ExportedSystemMessage, ImportItem } from "../transfer/ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const beginning = Number.MIN_SAFE_INTEGER;
const allOf = { after: beginning, upTo: Number.MAX_SAFE_INTEGER };

/** Tests the ports of imports and exports, as far as they concern inboxes, for every engine. */
export function describeTransfers(engine: string, open: OpenDatabase): void {
  describe(`transfers on ${engine}`, () => {
    const context = useStore(open);

    /** Sends a kept system message, and returns the id of its event. */
    async function keep(org: string, mid: string, change: { cid?: string; uids?: string[]; key?: string } = {}) {
      const { cid, uids = [], key } = change;
      const payload = JSON.stringify({ system_message: { _id: mid } });
      const send = messageOf(org, { kind: "system", cid, mid, uids, payload, kept: { until: 9_000, key } });
      expect(await context.store.sends.append(send)).toMatchObject({ outcome: "stored" });
      return send.id;
    }

    async function exporting(org: string, now = 1_000) {
      const head = (await context.store.log.heads([org])).get(org)?.offset ?? 0;
      return { org, head, now };
    }

    async function systemMessagesIn(org: string, now?: number): Promise<ExportedSystemMessage[]> {
      const page = await context.store.exports.events(await exporting(org, now), beginning);
      return (page?.events ?? []).filter((event) => event.kind === "system_message");
    }

    /** Imports items one by one, and returns of how many something was stored. */
    async function importEach(org: string, items: ImportItem[]): Promise<number> {
      let written = 0;
      for (const item of items) {
        const part = { org, items: [item], maxParticipants: 9, hasRoom: true, keyId: "k", now: 2_000 };
        const outcome = await context.store.imports.add(part);
        expect(outcome?.faults).toEqual([]);
        written += outcome?.written ?? 0;
      }
      return written;
    }

    const imported = (id: string, change: { cid?: string; uids?: string[] } = {}): ImportItem => ({
      kind: "system_message",
      id,
      mid: `mid of ${id}`,
      sender: "u1",
      cid: change.cid,
      uids: change.uids ?? [],
      recipients: change.uids ?? [],
      isOver: false,
      payload: JSON.stringify({ system_message: { _id: id } }),
      kept: { until: 9_000, key: undefined },
      silent: undefined,
      createdAt: 1_000,
    });

    test("export kept system messages with those who still have them, and what a key has replaced", async () => {
      const org = await context.createOrganization(["u1", "u2", "u3"]);
      await keep(org, "list", { uids: ["u2", "u3", "nobody"] });
      await keep(org, "replaced", { uids: ["u2", "u3"], key: "k" });
      await keep(org, "room", { cid: "c1", key: "k" });
      const all = await keep(org, "all", { key: "k2" });
      await context.store.sends.append(
        messageOf(org, { kind: "system", cid: undefined, uids: ["u2"], mid: "not kept" }),
      );
      await context.store.users.remove(org, "u3", 1_000);
      await context.store.systemRecalls.recall({ org, sender: "u1", at: 1_000, keyId: "k", ids: ["all"] });
      const exported = await systemMessagesIn(org);
      expect(exported.map(({ id, cid, uids, key, kept }) => [id, cid, uids, key, kept?.until])).toEqual([
        ["list", undefined, ["u2"], undefined, 9_000],
        ["replaced", undefined, ["u2"], "k", 9_000],
        ["room", "c1", undefined, "k", 9_000],
        [all, undefined, undefined, "k2", undefined],
      ]);
      const over = await systemMessagesIn(org, 9_000);
      expect(over.map(({ id, kept }) => [id, kept])).toEqual(["replaced", "room", all].map((id) => [id, undefined]));
    });

    test("tell page by page who was there when, and what is addressed to a conversation and to everyone", async () => {
      const { exports, participants, conversations } = context.store;
      const org = await context.createOrganization(["u1", "u2", "u3"]);
      await conversations.put(org, "c0", { participants: ["u1"] }, 1);
      await keep(org, "first", { cid: "c1" });
      await participants.remove(org, "c1", "u2", 1);
      await keep(org, "second", { cid: "c1" });
      await participants.add(org, "c1", "u2", 100, 1);
      await participants.add(org, "c1", "u4", 100, 1);
      await keep(org, "third", { cid: "c1" });
      await participants.remove(org, "c1", "u3", 1);
      await keep(org, "all");
      const of = await exporting(org);
      expect(await exports.nextConversation(of, "")).toBe("c1");
      expect(await exports.nextConversation(of, "c1")).toBeUndefined();
      const offsets = await exports.addressed(of, "c1");
      const names = await exports.names(of, "c1", offsets);
      expect(offsets.map((offset) => names.get(offset)?.id)).toEqual(["first", "second", "third"]);
      const has: string[][] = [];
      for (let after = ""; ; after = has.at(-1)?.[0] ?? "") {
        const page = await exports.stays(of, "c1", after, 2);
        for (const { uid, isThere, ranges } of page) {
          const isIn = (offset: number) => ranges.some((range) => range.after < offset && offset <= range.upTo);
          has.push([
            uid,
            isThere ? "is there" : "was there",
            ...offsets.filter(isIn).map((offset) => names.get(offset)?.id ?? ""),
          ]);
        }
        if (page.length < 2) break;
      }
      expect(has).toEqual([
        ["u1", "is there", "first", "second", "third"],
        ["u2", "is there", "first", "third"],
        ["u3", "was there", "first", "second", "third"],
        ["u4", "is there", "third"],
      ]);
      expect((await exports.addressed(of, undefined)).length).toBe(1);
      const users = await exports.stays(of, undefined, "u1", 2);
      expect(users.map(({ uid, isThere }) => [uid, isThere])).toEqual([
        ["u2", true],
        ["u3", true],
      ]);
    });

    test("read an inbox page by page, with texts or only what is marked", async () => {
      const { exports, inboxes } = context.store;
      const org = await context.createOrganization(["u1", "u2"]);
      await importEach(org, [imported(createId(1_000), { uids: ["u2"] })]);
      for (let index = 0; index < 3; index++) await keep(org, `m${index}`, { uids: ["u2"] });
      const of = await exporting(org);
      const items = await exports.items(of, "u2", allOf);
      const ids = items.map(({ id }) => id);
      expect(ids.slice(1)).toEqual(["m0", "m1", "m2"]);
      const [first = 0, second = 0, third = 0] = items.map(({ offset }) => offset);
      expect(await exports.items(of, "u2", { after: first, upTo: third })).toEqual(items.slice(1, 3));
      expect(
        (await exports.inbox(of, "u2", second)).map(({ id, payload, keptUntil }) => [id, payload, keptUntil]),
      ).toEqual(["m1", "m2"].map((id) => [id, JSON.stringify({ system_message: { _id: id } }), 9_000]));
      const [named] = await inboxes.named(org, "u2", ["m1"], 1_000);
      if (named === undefined) throw new Error("there is one");
      const mark = { org, uid: "u2", upTo: undefined, seenOnly: true, now: 5_000 };
      await inboxes.markAll([{ ...mark, items: [named] }]);
      const [marks, ...others] = await exports.marks(of, "", 10);
      expect([marks?.uid, marks?.marks.seen.at(-1)?.[1], others]).toEqual(["u2", named.offset, []]);
    });

    test("import marks and ranges once: an earlier mark keeps its time, and what was sent here stays as it is", async () => {
      const { inboxes, participants } = context.store;
      const org = await context.createOrganization(["u1", "u2"]);
      const ids = Array.from({ length: 4 }, (_, index) => createId(1_000 + index));
      const [first = "", second = "", third = ""] = ids;
      await importEach(
        org,
        ids.map((id) => imported(id, { cid: "c1" })),
      );
      const sent = await keep(org, "sent", { cid: "c1" });
      const mark = { kind: "system_message_read", uid: "u2", eventId: second } as const;
      const range = { kind: "inbox_range", uid: "u2", cid: "c1", after: undefined, upTo: undefined } as const;
      const items: ImportItem[] = [
        { ...mark, seenAt: 1_500, readAt: undefined },
        { ...mark, seenAt: 1_900, readAt: 1_900 },
        { ...range, after: second },
        { ...range, upTo: first },
        { kind: "user", id: "u3", name: undefined, isBlocked: undefined },
        { ...range, uid: "u3", after: first, upTo: third },
      ];
      const nothing: ImportItem[] = [
        { ...range, after: first },
        { ...range, after: sent },
        { ...range, uid: "u3", after: second, upTo: third },
        { ...range, uid: "u3", after: "unknown", upTo: first },
        { ...mark, eventId: "unknown", seenAt: 1, readAt: 1 },
      ];
      expect(await importEach(org, items)).toBe(items.length);
      expect(await importEach(org, [...items, ...nothing, ...ids.map((id) => imported(id, { cid: "c1" }))])).toBe(0);
      const idsOf = async (uid: string) => {
        const found = await inboxes.items(org, uid, { after: { past: beginning, log: 0 }, now: 1_000 });
        return (
          await inboxes.places(
            org,
            found.map(({ offset }) => offset),
          )
        ).map(({ id }) => id);
      };
      expect(await idsOf("u2")).toEqual([sent, ids[3] ?? "", third, first]);
      expect(await idsOf("u3")).toEqual([third, second]);
      const { seen, read } = await inboxes.marks(org, "u2");
      expect([seen.map(([, , at]) => at), read.map(([, , at]) => at)]).toEqual([[1_500], [1_900]]);
      await participants.add(org, "c1", "u3", 100, 1);
      await participants.remove(org, "c1", "u3", 1);
      expect(await idsOf("u3")).toEqual([third, second]);
    });

    test("store the same system message again as none, one of the same id and another time as another", async () => {
      const { sent } = context.store;
      const org = await context.createOrganization(["u1", "u2"]);
      const [one, other] = [createId(1_000), createId(1_001)];
      const again = { ...imported(other, { uids: ["u2"] }), mid: `mid of ${one}` } as ImportItem;
      expect(await importEach(org, [imported(one, { uids: ["u2"] }), again])).toBe(2);
      expect(await importEach(org, [imported(one, { uids: ["u2"] }), again])).toBe(0);
      expect((await systemMessagesIn(org)).map(({ id }) => id)).toEqual([`mid of ${one}`, `mid of ${one}`]);
      expect((await sent.systemMessages(org, `mid of ${one}`, "u1")).map(({ id }) => id)).toEqual([one]);
    });
  });
}
