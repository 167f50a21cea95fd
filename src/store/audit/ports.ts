import type { AuditTarget } from "../../contract/audit.ts";
import type { ErrorCode } from "../../contract/errors/errors.ts";

/** A stored entry of the audit log: who did what, in ids only. */
export type AuditEntry = {
  /** UUIDv7 of the time at which the call ended. */
  id: string;
  requestId: string;
  operation: string;
  /** The organization that may see the entry; `null` if only readers of the whole server may. */
  org: string | null;
  keyId: string | null;
  address: string | null;
  target: AuditTarget;
  /** The HTTP status of the response, and the error code if it was an error. */
  status: number;
  code: ErrorCode | null;
  /** How many entries the node dropped before this one because there were too many. */
  omitted: number;
};

/**
 * Selects entries: ids from `from` up to, but excluding, `before`; all of them, or those of one organization or key.
 */
export type AuditRange = {
  from: string | undefined;
  before: string | undefined;
  of: { org: string } | { keyId: string } | undefined;
  limit: number;
};

/** The audit log. Entries are appended and read; only retention removes them, and nothing changes them. */
export type AuditLog = AuditReads & AuditWrites;

/** Reads the audit log. */
export type AuditReads = {
  /** The newest entries of the range, newest first. */
  read(range: AuditRange): Promise<AuditEntry[]>;
};

/** Writes the audit log. */
export type AuditWrites = {
  /** Stores the entries in one commit. Resolves after the flush; rejects with `storage_full` or `unavailable`. */
  append(entries: AuditEntry[]): Promise<void>;
};
