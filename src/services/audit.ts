import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import type { AuditEntryShown, AuditQuery, AuditResult, AuditTarget } from "../contract/audit.ts";
import { type ErrorCode, HeraldError, unavailable } from "../contract/errors/errors.ts";
import { isIdentifier, toIso } from "../contract/identifiers.ts";
import { createBatcher } from "../lib/queues/batcher.ts";
import { createTokenBuckets } from "../lib/rates/token-buckets.ts";
import { encodeCursor } from "../lib/text/cursor.ts";
import { createId, firstIdOf, timeOfId } from "../lib/text/ids.ts";
import type { Clock } from "../lib/time/clock.ts";
import type { AuditEntry, AuditLog } from "../store/audit/ports.ts";
import type { OrganizationReads } from "../store/ports.ts";
import { type Caller, permitOrganization } from "./keys/permissions.ts";
import { type Page, parseCursor } from "./pages.ts";

/** A call that has ended, as the audit log is told of it. Ids in `target` that cannot be ids are left out. */
export type AuditedCall = {
  requestId: string;
  operation: string;
  /** Who called; `undefined` when the key was not taken: what such a caller says that it is counts for nothing. */
  caller: Caller | undefined;
  address: string | undefined;
  target: AuditTarget;
  status: number;
  code: ErrorCode | undefined;
};

/** Keeps and shows who did what. */
export type Audit = {
  /** Resolves when the entry is on disk; rejects with `storage_full` or `unavailable`. */
  record(call: AuditedCall): Promise<void>;
  /** The same without waiting, and never in such numbers that they fill the disk: what is left out is counted. */
  note(call: AuditedCall): void;
  /** A page, newest first, of what the caller may see. Throws `organization_forbidden`. */
  list(caller: Caller, query: AuditQuery): Promise<Page<AuditEntryShown>>;
  /** Resolves when what was noted is written, or cannot be. To be called while the store is open. */
  stop(): Promise<void>;
};

type Options = {
  audit: AuditLog;
  organizations: Pick<OrganizationReads, "get">;
  clock: Clock;
  /** A clock that only goes forward. */
  elapsed: Clock;
  /** Takes credentials out of a text. */
  redact(text: string): string;
  onError(error: unknown): void;
};

const noteRate = { perSecond: 1, burst: 200 };
const strangers = "";
const maxBatch = 500;
const maxWaiting = 2_000;
const rowsAtOnce = 500;
const readsPerPage = 20;

const place = z.strictObject({ before: z.string() });

/**
 * The audit log over the store. Entries of calls that are let in are written before the answer goes out; those that are
 * refused wait for nobody, and each key, and all callers without one together, have a rate for them.
 */
export function createAudit({ audit, organizations, clock, elapsed, redact, onError }: Options): Audit {
  const rates = createTokenBuckets({ clock: elapsed });
  const underWay = new Set<Promise<void>>();
  let omitted = 0;
  const writes = createBatcher<AuditEntry, void>({
    async flush(entries) {
      await audit.append(entries);
      return entries.map(() => ({ status: "fulfilled", value: undefined }));
    },
    maxBatch,
    maxWaiting,
    whenFull: () => unavailable({ detail: "too many entries wait for the audit log; try again" }),
  });

  async function write(entry: AuditEntry): Promise<void> {
    try {
      await writes.add(entry);
    } catch (error) {
      omitted += 1 + entry.omitted;
      if (!(error instanceof HeraldError)) onError(error); // that the store is away is told elsewhere
    }
  }

  /** What another organization of the same id left, which was deleted before this one was made, is not this one's. */
  async function seesFrom({ rights: { org } }: Caller): Promise<number> {
    if (org === null) return 0;
    return (await organizations.get(org))?.createdAt ?? Number.MAX_SAFE_INTEGER;
  }

  return {
    record: (call) => writes.add(entryOf(call, clock.now(), 0, redact)),
    note(call) {
      const noted = call.caller?.keyId ?? strangers;
      if (rates.waitMs(noted, noteRate) > 0) {
        omitted++;
        return;
      }
      rates.charge(noted, noteRate, 1);
      const writing = write(entryOf(call, clock.now(), omitted, redact));
      omitted = 0;
      underWay.add(writing);
      void writing.then(() => underWay.delete(writing));
    },
    async list(caller, { limit, cursor, organization, since, until, ...wanted }) {
      if (organization !== undefined) permitOrganization(caller, organization);
      const org = organization ?? caller.rights.org ?? undefined;
      const of = org !== undefined ? { org } : wanted.key !== undefined ? { keyId: wanted.key } : undefined;
      const from = firstIdOf(Math.max(since === undefined ? 0 : Date.parse(since), await seesFrom(caller)));
      let before =
        parseCursor(cursor, place)?.before ?? (until === undefined ? undefined : firstIdOf(Date.parse(until)));
      const items: AuditEntryShown[] = [];
      // What the indexes do not find is looked for in a bounded number of entries, in turns of the event loop.
      for (let reads = 0; reads < readsPerPage; reads++) {
        const entries = await audit.read({ from, before, of, limit: rowsAtOnce });
        for (const [index, entry] of entries.entries()) {
          before = entry.id;
          if (fits(entry, wanted)) items.push(show(entry));
          const isLast = index === entries.length - 1 && entries.length < rowsAtOnce;
          if (items.length === limit && !isLast) return { items, cursor: encodeCursor({ before }) };
        }
        if (entries.length < rowsAtOnce) return { items, cursor: null };
        await setImmediate();
      }
      return { items, cursor: encodeCursor({ before }) };
    },
    async stop() {
      await Promise.all(underWay);
    },
  };
}

function entryOf(call: AuditedCall, at: number, omitted: number, redact: Options["redact"]): AuditEntry {
  const target = Object.fromEntries(
    Object.entries(call.target).flatMap(([name, id]) =>
      id !== undefined && isIdentifier(id) ? [[name, redact(id)]] : [],
    ),
  );
  return {
    id: createId(at),
    requestId: redact(call.requestId),
    operation: call.operation,
    org: organizationOf(call.caller, target),
    keyId: call.caller?.keyId ?? null,
    address: call.address ?? null,
    target,
    status: call.status,
    code: call.code ?? null,
    omitted,
  };
}

/** A key of one organization acts in that one alone, whatever it names; of a caller who is not known nothing is believed. */
function organizationOf(caller: Caller | undefined, { organization }: AuditTarget): string | null {
  return caller === undefined ? null : (caller.rights.org ?? organization ?? null);
}

function resultOf(status: number): AuditResult {
  if (status < 400) return "done";
  return status < 500 ? "refused" : "failed";
}

function fits(entry: AuditEntry, { key, operation, result, status }: Partial<AuditQuery>): boolean {
  return (
    (key === undefined || entry.keyId === key) &&
    (operation === undefined || entry.operation === operation) &&
    (result === undefined || resultOf(entry.status) === result) &&
    (status === undefined || entry.status === status)
  );
}

function show(entry: AuditEntry): AuditEntryShown {
  return {
    id: entry.id,
    created_at: toIso(timeOfId(entry.id)),
    operation: entry.operation,
    organization: entry.org,
    key_id: entry.keyId,
    address: entry.address,
    target: entry.target,
    result: resultOf(entry.status),
    status: entry.status,
    code: entry.code,
    request_id: entry.requestId,
    omitted: entry.omitted,
  };
}
