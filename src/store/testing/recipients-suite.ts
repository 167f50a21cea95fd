import { describe, expect, test } from "bun:test";
import type { NewDelivery } from "../../contract/log/deliveries.ts";
import { createId } from "../../lib/text/ids.ts";
import type { Stay, StayPlace } from "../delivery/ports.ts";
import { audienceOf, deliveryOf } from "./delivery-suite.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const dayMs = 24 * 3600 * 1000;

/** Tests the port `RecipientReads`, and that its rows go with their messages, for every engine. */
export function describeRecipients(engine: string, open: OpenDatabase): void {
  describe(`recipients on ${engine}`, () => {
    const context = useStore(open);
    let now = 0;

    const stays = (org: string, after?: StayPlace, limit = 100, cid = "c1") =>
      context.store.recipients.stays(org, cid, after, limit);
    const told = (found: Stay[]) => found.map(({ uid, after, upTo }) => [uid, after, upTo]);

    async function send(org: string) {
      const message = messageOf(org);
      expect((await context.store.sends.append(message)).outcome).toBe("stored");
      return message;
    }

    async function retain(order: { messagesBefore?: number; deletedBefore?: number }): Promise<void> {
      const lease = { holder: "n1", leaseMs: 1, limit: 2 };
      const none = {
        idsBefore: undefined,
        auditBefore: undefined,
        revocationsBefore: undefined,
        readsBefore: undefined,
      };
      const step = () => {
        now += 10;
        const all = { messagesBefore: undefined, deletedBefore: 0, ...none, ...order };
        return context.store.retention.step({ ...lease, now, ...all });
      };
      while ((await step()) !== 0);
    }

    test("are who takes part and who left, however: each with the events of that time", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2", "u3", "u4", "u5"]); // offset 1
      await send(org);
      await store.participants.remove(org, "c1", "u2", 1); // offset 3
      await send(org);
      await store.users.remove(org, "u3", 1); // 5 and 6
      await store.participants.add(org, "c1", "u2", 10, 1); // 7
      await store.conversations.put(org, "c1", { participants: ["u1", "u2", "u4", "u6"] }, 1); // 8
      await store.participants.remove(org, "c1", "u2", 1); // 9
      expect(await store.participants.remove(org, "c1", "u9", 1)).toMatchObject({ outcome: "missing" });
      expect(told(await stays(org))).toEqual([
        ["u1", 0, undefined],
        ["u2", 0, 2],
        ["u2", 6, 8],
        ["u3", 0, 4],
        ["u4", 0, undefined],
        ["u5", 0, 7],
        ["u6", 7, undefined],
      ]);
      const [other] = [await context.createOrganization(["u1"])];
      expect(told(await stays(other))).toEqual([["u1", 0, undefined]]);
      expect(await stays(org, undefined, 100, "c2")).toEqual([]);
    });

    test("come in pages, in the order of their ids' bytes and of time, wherever a page ends", async () => {
      const { store } = context;
      const uids = ["B", "a", "b", "u1", "\uffee", "😀"]; // U+FFEE sorts before an emoji in bytes, and after it in UTF-16
      const org = await context.createOrganization(uids);
      for (const uid of ["b", "u1", "b", "😀"]) {
        await store.participants.remove(org, "c1", uid, 1);
        await store.participants.add(org, "c1", uid, 10, 1);
      }
      const all = await stays(org);
      expect(all.map(({ uid }) => uid)).toEqual(["B", "a", "b", "b", "b", "u1", "u1", "\uffee", "😀", "😀"]);
      for (const limit of [1, 2, 3, 9, 10]) {
        const read: Stay[] = [];
        for (;;) {
          const page = await stays(org, read.at(-1), limit);
          expect(page.length).toBeLessThanOrEqual(limit);
          if (page.length === 0) break;
          read.push(...page);
        }
        expect(read).toEqual(all);
      }
    });

    test("have what the rows of an event tell, read by their ids", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const audience = audienceOf(org);
      const plays: NewDelivery["plays"] = [
        [5, 100, 150],
        [9, 200, 200],
      ];
      const rows = [
        deliveryOf(org, 5, { plays, audience: audience.id, uids: undefined }),
        deliveryOf(org, 7),
        deliveryOf(org, 5, { kind: "receipt", plays: [[5, 400, 400]] }),
        deliveryOf(org, 5, { cid: "c2" }),
      ];
      await context.store.deliveries.record({ audiences: [audience], deliveries: rows });
      const { recipients } = context.store;
      const ids = await recipients.deliveryIds(org, "c1", 5);
      expect(ids).toEqual([String(rows[0]?.id)]);
      expect(await recipients.deliveries(org, [...ids, createId()], 5)).toEqual([
        { kind: "delivery", connections: 1, uids: ["u1", "u2"], first: 100, last: 150 },
      ]);
      expect(await recipients.deliveries("another", ids, 5)).toEqual([]);
      expect(await recipients.deliveries(org, ids, 6)).toEqual([]);
    });

    test("have acknowledged an event or not, each at the time of the first receipt", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2", "u3"]);
      const [one, two] = [await send(org), await send(org)];
      await store.deliveries.acknowledge([
        { org, uid: "u1", id: one.id, at: 700 },
        { org, uid: "u2", id: two.id, at: 800 },
        { org, uid: "u3", id: one.id, at: 900 },
      ]);
      await store.deliveries.acknowledge([{ org, uid: "u1", id: one.id, at: 999 }]);
      const at = (id: string, uids: string[]) => store.recipients.acknowledgedAt({ org, id }, uids);
      expect(await at(one.id, ["u1", "u2", "nobody"])).toEqual(new Map([["u1", 700]]));
      expect(await at(two.id, ["u1", "u2", "u3"])).toEqual(new Map([["u2", 800]]));
      expect(await at(one.id, [])).toEqual(new Map());
    });

    test("who left are forgotten once every message that was addressed to them has expired", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2", "u3"]);
      await store.participants.remove(org, "c1", "u2", 10 * dayMs);
      await store.participants.remove(org, "c1", "u3", 20 * dayMs);
      await retain({ messagesBefore: 11 * dayMs });
      expect((await stays(org)).map(({ uid }) => uid)).toEqual(["u1", "u2", "u3"]); // a day, as clocks differ
      await retain({ messagesBefore: 12 * dayMs });
      expect((await stays(org)).map(({ uid }) => uid)).toEqual(["u1", "u3"]);
    });

    test("of a deleted conversation or organization are removed with it, and not those of one created since", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2", "u3"]);
      await store.participants.remove(org, "c1", "u2", 1);
      await store.conversations.remove(org, "c1", 1_000);
      await store.conversations.put(org, "c1", { participants: ["u1", "u4"] }, 2_000);
      await store.participants.remove(org, "c1", "u4", 2_000);
      await retain({ deletedBefore: 1_001 });
      expect((await stays(org)).map(({ uid }) => uid)).toEqual(["u1", "u4"]);
      await store.organizations.remove(org, 3_000);
      await retain({});
      await store.organizations.put(org, undefined, 4_000);
      await store.conversations.put(org, "c1", { participants: ["u5"] }, 4_000);
      expect((await stays(org)).map(({ uid }) => uid)).toEqual(["u5"]);
    });
  });
}
