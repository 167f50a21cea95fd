import type { Driver, Reader, Row } from "../sql/driver.ts";
import { createMapping, json, nullable, number, text } from "../sql/mapping.ts";
import type { AuditEntry, AuditRange, AuditReads, AuditWrites } from "./ports.ts";

const mapping = createMapping<AuditEntry>({
  id: text("id"),
  requestId: text("request_id"),
  operation: text("operation"),
  org: nullable(text("org")),
  keyId: nullable(text("key_id")),
  address: nullable(text("address")),
  target: json("target"),
  status: number("status"),
  code: nullable(text("code")),
  omitted: number("omitted"),
});
const afterAll = "~"; // sorts after every UUID

/** Creates the writes of the audit log. */
export function createAuditWrites({ driver }: { driver: Driver }): AuditWrites {
  return {
    async append(entries) {
      await driver.transaction(({ rows }) => rows.insert("audit", entries.map(mapping.write)));
    },
  };
}

/** Creates the reads of the audit log; each kind uses an index. */
export function createAuditReads({ reader }: { reader: Reader }): AuditReads {
  const select = (condition: string) =>
    `SELECT ${mapping.columns} FROM audit
     WHERE ${condition} id >= ? AND id < ? ORDER BY id DESC LIMIT ?`;
  return {
    async read({ from = "", before = afterAll, of, limit }: AuditRange) {
      const rows =
        of === undefined
          ? await reader.all<Row>(select(""), from, before, limit)
          : "org" in of
            ? await reader.allOf<Row>(of.org, select("org = ? AND"), of.org, from, before, limit)
            : await reader.all<Row>(select("key_id = ? AND"), of.keyId, from, before, limit);
      return rows.map(mapping.read);
    },
  };
}
