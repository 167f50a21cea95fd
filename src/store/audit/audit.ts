import type { ErrorCode } from "../../contract/errors/errors.ts";
import type { Driver, Reader, Row } from "../sql/driver.ts";
import type { AuditEntry, AuditRange, AuditReads, AuditWrites } from "./ports.ts";

type AuditRow = Row & {
  id: string;
  request_id: string;
  operation: string;
  org: string | null;
  key_id: string | null;
  address: string | null;
  target: string;
  status: number;
  code: ErrorCode | null;
  omitted: number;
};

const afterAll = "~"; // sorts after every UUID

/** Creates the writes of the audit log. */
export function createAuditWrites({ driver }: { driver: Driver }): AuditWrites {
  return {
    async append(entries) {
      await driver.transaction(({ rows }) => rows.insert("audit", entries.map(toRow)));
    },
  };
}

/** Creates the reads of the audit log; each kind uses an index. */
export function createAuditReads({ reader }: { reader: Reader }): AuditReads {
  const select = (condition: string) =>
    `SELECT id, request_id, operation, org, key_id, address, target, status, code, omitted FROM audit
     WHERE ${condition} id >= ? AND id < ? ORDER BY id DESC LIMIT ?`;
  return {
    async read({ from = "", before = afterAll, of, limit }: AuditRange) {
      const rows =
        of === undefined
          ? await reader.all<AuditRow>(select(""), from, before, limit)
          : "org" in of
            ? await reader.allOf<AuditRow>(of.org, select("org = ? AND"), of.org, from, before, limit)
            : await reader.all<AuditRow>(select("key_id = ? AND"), of.keyId, from, before, limit);
      return rows.map(toEntry);
    },
  };
}

function toRow(entry: AuditEntry): AuditRow {
  return {
    id: entry.id,
    request_id: entry.requestId,
    operation: entry.operation,
    org: entry.org,
    key_id: entry.keyId,
    address: entry.address,
    target: JSON.stringify(entry.target),
    status: entry.status,
    code: entry.code,
    omitted: entry.omitted,
  };
}

function toEntry(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    requestId: row.request_id,
    operation: row.operation,
    org: row.org,
    keyId: row.key_id,
    address: row.address,
    target: JSON.parse(row.target),
    status: Number(row.status),
    code: row.code,
    omitted: Number(row.omitted),
  };
}
