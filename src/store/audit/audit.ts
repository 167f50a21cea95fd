import type { Driver, Reader } from "../sql/driver.ts";
import { type AuditLog, auditEntries } from "./ports.ts";

const afterAll = "~"; // sorts after every UUID

/** Creates the writes of the audit log. */
export function createAuditWrites({ driver }: { driver: Driver }): Pick<AuditLog, "append"> {
  return {
    async append(entries) {
      await driver.transaction(({ rows }) => rows.insert("audit", entries.map(auditEntries.write)));
    },
  };
}

/** Creates the reads of the audit log; each kind uses an index. */
export function createAuditReads({ reader }: { reader: Reader }): Pick<AuditLog, "read"> {
  const selectBy = (order: "ASC" | "DESC") => (condition: string) =>
    `SELECT ${auditEntries.columns} FROM audit
     WHERE ${condition} id >= ? AND id < ? ORDER BY id ${order} LIMIT ?`;
  return {
    read({ from = "", before = afterAll, of, limit, isOldestFirst = false }) {
      const select = selectBy(isOldestFirst ? "ASC" : "DESC");
      const rows =
        of === undefined
          ? reader.all(select(""), from, before, limit)
          : "org" in of
            ? reader.allOf(of.org, select("org = ? AND"), of.org, from, before, limit)
            : reader.all(select("key_id = ? AND"), of.keyId, from, before, limit);
      return auditEntries.readAll(rows);
    },
  };
}
