import type { AuditTarget } from "../../contract/audit.ts";
import type { ErrorCode } from "../../contract/errors/errors.ts";

/** Who did what, as stored: ids only. */
export type AuditEntry = {
  /** UUIDv7; its time is when the call ended. */
  id: string;
  requestId: string;
  operation: string;
  /** Whose entry it is; `null`: only for those who see the whole server. */
  org: string | null;
  keyId: string | null;
  address: string | null;
  target: AuditTarget;
  /** The HTTP status that was answered, and the code of the error if it was one. */
  status: number;
  code: ErrorCode | null;
  /** How many entries its node did not write before this one, because there were too many. */
  omitted: number;
};

/** Which entries: those with ids from `from` to `before`, exclusive, all or those of one organization or of one key. */
export type AuditRange = {
  from: string | undefined;
  before: string | undefined;
  of: { org: string } | { keyId: string } | undefined;
  limit: number;
};

/** The audit log. Entries are added and read; nothing but retention ever removes one, and nothing changes one. */
export type AuditLog = AuditReads & AuditWrites;

/** Reads the audit log. */
export type AuditReads = {
  /** The newest of the range, newest first. */
  read(range: AuditRange): Promise<AuditEntry[]>;
};

/** Writes the audit log. */
export type AuditWrites = {
  /** Stores the entries in one commit. Resolves after the flush; rejects with `storage_full` or `unavailable`. */
  append(entries: AuditEntry[]): Promise<void>;
};
