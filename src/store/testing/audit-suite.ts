import { describe, expect, test } from "bun:test";
import { createId, firstIdOf } from "../../lib/text/ids.ts";
import type { AuditEntry } from "../audit/ports.ts";
import { type OpenDatabase, useStore } from "./log-suite.ts";

/** An entry of organization `o1` by key `k1`, created at a time in milliseconds since the Unix epoch. */
export function entryAt(at: number, change: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: createId(at),
    requestId: "r",
    operation: "putUser",
    org: "o1",
    keyId: "k1",
    person: null,
    address: "192.0.2.1",
    target: { organization: "o1", user: "u1" },
    status: 200,
    code: null,
    omitted: 0,
    ...change,
  };
}

/** Tests the port `AuditLog`, for every engine. */
export function describeAudit(engine: string, open: OpenDatabase): void {
  describe(`the audit log on ${engine}`, () => {
    const context = useStore(open);

    const all = { from: undefined, before: undefined, of: undefined, limit: 100 };

    test("returns entries as written, newest first, by organization, key and period", async () => {
      const { audit } = context.store;
      const strange = { target: { user: `"; DROP TABLE audit; -- ü 🔑`, key: "k9" }, requestId: "'$1?" };
      const entries = [
        entryAt(1_000),
        entryAt(2_000, { org: null, keyId: null, address: null, target: {}, status: 401, code: "unauthorized" }),
        entryAt(3_000, { org: "o2", ...strange }),
        entryAt(4_000, { keyId: "k2", omitted: 7 }),
        entryAt(1_700_000_000_000, { org: "o2", keyId: "k2" }),
      ];
      await audit.append(entries.slice(0, 2));
      await audit.append(entries.slice(2));
      const read = async (range: Partial<Parameters<typeof audit.read>[0]>) =>
        (await audit.read({ ...all, ...range })).map((entry) => entries.findIndex(({ id }) => id === entry.id));
      expect(await audit.read(all)).toEqual(entries.toReversed());
      expect(await read({ of: { org: "o1" } })).toEqual([3, 0]);
      expect(await read({ of: { keyId: "k2" } })).toEqual([4, 3]);
      expect(await read({ from: firstIdOf(2_000), before: firstIdOf(4_000) })).toEqual([2, 1]);
      expect(await read({ of: { org: "o1" }, before: firstIdOf(4_000) })).toEqual([0]);
      expect(await read({ limit: 2 })).toEqual([4, 3]);
      expect(await read({ limit: 2, before: entries[3]?.id })).toEqual([2, 1]);
      expect(await read({ of: { org: "o3" } })).toEqual([]);
    });

    test("stores concurrent batches completely", async () => {
      const { audit } = context.store;
      const batches = Array.from({ length: 20 }, () => Array.from({ length: 50 }, () => entryAt(5, { org: "many" })));
      await Promise.all(batches.map((batch) => audit.append(batch)));
      expect(await audit.read({ ...all, of: { org: "many" }, limit: 2_000 })).toHaveLength(1_000);
    });
  });
}
