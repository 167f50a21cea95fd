import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { Expiry } from "../retention/ports.ts";
import { entryAt } from "./audit-suite.ts";
import { messageOf, type OpenDatabase, openStore } from "./log-suite.ts";

const keepAll: Expiry = {
  messagesBefore: undefined,
  readsBefore: undefined,
  idsBefore: undefined,
  auditBefore: undefined,
  revocationsBefore: undefined,
  deletedBefore: 0,
};
const none = { deleted: 0, messages: 0, ids: 0, audit: 0 };

/** Tests `RetentionReads`, for every engine. */
export function describeOverdue(engine: string, open: OpenDatabase): void {
  describe(`what retention has to do on ${engine}`, () => {
    /** A database with messages of two organizations, created at 1,000, 2,000 and 3,000. */
    async function openFilled() {
      const { store, dispose } = await openStore(open);
      for (const [org, times] of Object.entries({ o1: [2_000], o2: [1_000, 3_000] })) {
        await store.organizations.put(org, undefined, 1);
        await store.users.put(org, "u1", undefined, 1);
        for (const createdAt of times) {
          const id = createId(createdAt);
          await store.sends.append(messageOf(org, { kind: "system", cid: undefined, uids: ["u1"], id, createdAt }));
        }
      }
      const { retention } = store;
      let leaseAt = 0;
      return {
        store,
        overdue: (expiry: Partial<Expiry>, now = 0) => retention.overdue({ ...keepAll, ...expiry, now }),
        async run(expiry: Partial<Expiry>): Promise<void> {
          let left: number | undefined = 1;
          while (left !== 0) {
            leaseAt += 10;
            left = await retention.step({ ...keepAll, ...expiry, holder: "n1", leaseMs: 1, now: leaseAt, limit: 1 });
          }
        },
        [Symbol.asyncDispose]: dispose,
      };
    }

    test("is nothing on an empty database, and if everything is kept", async () => {
      const { store, dispose } = await openStore(open);
      const everything = {
        messagesBefore: 9,
        readsBefore: 9,
        idsBefore: 9,
        auditBefore: 9,
        revocationsBefore: 9,
        deletedBefore: 9,
      };
      expect(await store.retention.overdue({ ...everything, now: 9 })).toEqual(none);
      await dispose();
      await using filled = await openFilled();
      expect(await filled.overdue({}, 5_000)).toEqual(none);
    });

    test("is measured by the oldest message of any organization, and is less once that is removed", async () => {
      await using filled = await openFilled();
      expect(await filled.overdue({ messagesBefore: 1_000 })).toEqual(none);
      expect(await filled.overdue({ messagesBefore: 2_500 })).toEqual({ ...none, messages: 1_500 });
      await filled.run({ messagesBefore: 1_500 });
      expect(await filled.overdue({ messagesBefore: 2_500 })).toEqual({ ...none, messages: 500 });
      await filled.run({ messagesBefore: 2_500 });
      expect(await filled.overdue({ messagesBefore: 2_500 })).toEqual(none);
    });

    test("is measured by the first retry id after those that are forgotten", async () => {
      await using filled = await openFilled();
      expect(await filled.overdue({ idsBefore: 2_500 })).toEqual({ ...none, ids: 1_500 });
      await filled.run({ idsBefore: 1_500 });
      expect(await filled.overdue({ idsBefore: 2_500 })).toEqual({ ...none, ids: 500 });
      await filled.run({ idsBefore: 2_500 });
      expect(await filled.overdue({ idsBefore: 2_500 })).toEqual(none);
    });

    test("is measured by the oldest entry of the audit log", async () => {
      await using filled = await openFilled();
      await filled.store.audit.append([entryAt(1_000), entryAt(2_000)]);
      expect(await filled.overdue({ auditBefore: 2_500 })).toEqual({ ...none, audit: 1_500 });
      await filled.run({ auditBefore: 1_500 });
      expect(await filled.overdue({ auditBefore: 2_500 })).toEqual({ ...none, audit: 500 });
    });

    test("is measured by deleted conversations once they are due, and by deleted organizations at once", async () => {
      await using filled = await openFilled();
      const { conversations, organizations } = filled.store;
      await conversations.put("o1", "c1", { participants: ["u1"] }, 1);
      await conversations.remove("o1", "c1", 4_000);
      expect(await filled.overdue({ deletedBefore: 4_000 }, 9_000)).toEqual(none);
      expect(await filled.overdue({ deletedBefore: 4_300 }, 9_000)).toEqual({ ...none, deleted: 300 });
      await organizations.remove("o2", 5_000);
      expect(await filled.overdue({ deletedBefore: 4_000 }, 9_000)).toEqual({ ...none, deleted: 4_000 });
      expect(await filled.overdue({ messagesBefore: 2_500 }, 5_000)).toEqual({ ...none, messages: 1_500 }); // also theirs
      await filled.run({ deletedBefore: 4_000 });
      expect(await filled.overdue({ deletedBefore: 4_000 }, 9_000)).toEqual(none);
      await filled.run({ deletedBefore: 4_300 });
      expect(await filled.overdue({ deletedBefore: 4_300 }, 9_000)).toEqual(none);
    });

    test("is told by the database's clock", async () => {
      await using filled = await openFilled();
      const before = Date.now();
      expect(await filled.store.retention.now()).toBeWithin(before - 1_000, Date.now() + 1_000);
    });
  });
}
