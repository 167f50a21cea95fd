import type { AuditTarget } from "../../contract/audit.ts";
import type { ErrorCode } from "../../contract/errors/errors.ts";
import { createMapping, json, type Mapped, nullable, number, text } from "../sql/mapping.ts";

/** The columns of the audit log. */
export const auditEntries = createMapping({
  /** UUIDv7 of the time at which the call ended. */
  id: text("id"),
  requestId: text("request_id"),
  operation: text("operation"),
  /** The organization that may see the entry; `null` if only readers of the whole server may. */
  org: nullable(text("org")),
  keyId: nullable(text("key_id")),
  /** What the person or workload is called that made the call. */
  person: nullable(text("person")),
  address: nullable(text("address")),
  target: json<AuditTarget>("target"),
  /** The HTTP status of the response, and the error code if it was an error. */
  status: number("status"),
  code: nullable(text<ErrorCode>("code")),
  /** How many entries the node dropped before this one because there were too many. */
  omitted: number("omitted"),
});

/** A stored entry of the audit log: who did what, in ids only. */
export type AuditEntry = Mapped<typeof auditEntries>;

/**
 * Selects entries: ids from `from` up to, but excluding, `before`; all of them, or those of one organization or key.
 */
export type AuditRange = {
  from: string | undefined;
  before: string | undefined;
  of: { org: string } | { keyId: string } | undefined;
  limit: number;
  isOldestFirst?: boolean;
};

/** The audit log. Entries are appended and read; only retention removes them, and nothing changes them. */
export type AuditLog = {
  /** The newest entries of the range, newest first, or the oldest, oldest first. */
  read(range: AuditRange): Promise<AuditEntry[]>;
  /** Stores the entries in one commit. Resolves after the flush; rejects with `storage_full` or `unavailable`. */
  append(entries: AuditEntry[]): Promise<void>;
};
