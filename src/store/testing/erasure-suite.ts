import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { WrittenEvent } from "../messages/ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;

/** Tests the port `ErasureReads & ErasureWrites` for every engine. */
export function describeErasures(engine: string, open: OpenDatabase): void {
  describe(`erasures on ${engine}`, () => {
    const context = useStore(open);

    async function send(org: string, sender: string): Promise<string> {
      const id = createId();
      const message = { _id: id, from: sender, body: "text", cid: "c1", x: {}, attachments: [] };
      await context.store.sends.append(
        messageOf(org, { id, sender, mid: undefined, payload: JSON.stringify({ message }) }),
      );
      return id;
    }

    async function sendSystem(org: string, sender: string): Promise<void> {
      const payload = JSON.stringify({ system_message: { _id: "s", t: 1, from: sender, x: { word: "text" } } });
      const system = { kind: "system" as const, cid: undefined, uids: ["u2"], mid: "s", sender, payload };
      await context.store.sends.append(messageOf(org, { ...system, id: createId() }));
    }

    /** Everything that the user wrote, from as many pages as it takes. */
    async function writtenBy(org: string, uid: string): Promise<WrittenEvent[]> {
      const events: WrittenEvent[] = [];
      for (let after = Number.MIN_SAFE_INTEGER; ; ) {
        const page = await context.store.erasures.written({ org, uid, after, upTo: Number.MAX_SAFE_INTEGER });
        if (page === undefined) return events;
        events.push(...page.events);
        after = page.last;
      }
    }

    const eraseAll = async (org: string, uid: string) =>
      await context.store.erasures.erase({ org, uid, at: 9_000, keyId: "k" }, await writtenBy(org, uid));
    const log = (org: string) => context.store.log.readAfter(org, 0, 1_000, mebibyte);

    test("find the messages and system messages of one user, with their bytes", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      await send(org, "u1");
      await send(org, "u2");
      await sendSystem(org, "u1");
      const events = await log(org);
      expect(await writtenBy(org, "u1")).toEqual(
        events
          .filter(({ kind, payload }) => kind !== "membership" && payload.includes('"from":"u1"'))
          .map(({ offset, kind, payload }) => ({ offset, is: kind as "message" | "system", bytes: payload.length })),
      );
      expect(await writtenBy(org, "nobody")).toEqual([]);
    });

    test("blank messages, empty system messages, tell the conversation once, and count the bytes", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const ids = [await send(org, "u1"), await send(org, "u1")];
      await send(org, "u2");
      await sendSystem(org, "u1");
      context.announced.length = 0;
      await eraseAll(org, "u1");
      expect(context.announced.map(({ kind, cid, payload }) => [kind, cid, JSON.parse(payload)])).toEqual([
        ["recall", "c1", { message_delete: { ids, cid: "c1", from: "u1", type: "all", t: 9 } }],
      ]);
      const events = await log(org);
      expect(events.map(({ kind }) => kind)).toEqual(["membership", "blank", "blank", "message", "system", "recall"]);
      expect(events[4]?.payload).toBe('{"system_message":{"_id":"s","t":1,"from":"u1","x":{}}}');
      const lengthOf = (text: string) => Buffer.byteLength(text);
      const bytes = events.reduce(
        (sum, { payload, uids }) => sum + lengthOf(payload) + (uids === undefined ? 0 : lengthOf(JSON.stringify(uids))),
        0,
      );
      expect(await context.store.organizations.budgets([org])).toMatchObject([{ storedBytes: bytes }]);
      await eraseAll(org, "u1");
      expect((await log(org)).length).toBe(events.length);
    });

    test("touch nothing of another organization or another sender, whatever they are told to erase", async () => {
      const [org, other] = [await context.createOrganization(["u1", "u2"]), await context.createOrganization(["u1"])];
      await send(org, "u2");
      await send(other, "u1");
      const events = await writtenBy(org, "u2");
      await context.store.erasures.erase({ org, uid: "u1", at: 9_000, keyId: "k" }, events);
      await context.store.erasures.erase({ org: other, uid: "u2", at: 9_000, keyId: "k" }, events);
      expect((await log(org)).map(({ kind }) => kind)).toEqual(["membership", "message"]);
      expect((await log(other)).map(({ kind }) => kind)).toEqual(["membership", "message"]);
    });

    test("begin with a deleted user, whose name is forgotten", async () => {
      const { erasures, users } = context.store;
      const org = await context.createOrganization(["u1"]);
      expect(await erasures.begin(org, "u1")).toBe(false);
      await users.put(org, "u1", "Name", 1_000);
      await users.remove(org, "u1", 2_000);
      expect([await erasures.begin(org, "u1"), await erasures.begin(org, "nobody")]).toEqual([true, false]);
    });
  });
}
