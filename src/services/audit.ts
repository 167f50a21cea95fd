import { z } from "zod";
import type { AuditEntryShown, AuditQuery, AuditResult, AuditTarget } from "../contract/audit.ts";
import { type ErrorCode, HeraldError, unavailable } from "../contract/errors/errors.ts";
import { isIdentifier, toIso } from "../contract/identifiers.ts";
import { nextTurn } from "../lib/event-loop/next-turn.ts";
import { createBatcher } from "../lib/queues/batcher.ts";
import { rowsOfStatement } from "../lib/queues/steps.ts";
import { createTokenBuckets } from "../lib/rates/token-buckets.ts";
import { encodeCursor } from "../lib/text/cursor.ts";
import { createId, firstIdOf, nextOf, timeOfId } from "../lib/text/ids.ts";
import type { Clock, SteadyClock } from "../lib/time/clock.ts";
import type { AuditEntry, AuditLog, AuditRange } from "../store/audit/ports.ts";
import type { OrganizationReads } from "../store/ports.ts";
import { type Caller, noOrganization, permitOrganization } from "./keys/permissions.ts";
import { type Page, parseCursor } from "./pages.ts";

/** A finished call, as reported to the audit log. Entries of `target` that are not valid ids are left out. */
export type AuditedCall = {
  requestId: string;
  operation: string;
  /** The caller; `undefined` if the key was refused, as such a caller's claims cannot be trusted. */
  caller: Caller | undefined;
  address: string | undefined;
  target: AuditTarget;
  status: number;
  code: ErrorCode | undefined;
};

/** Records and lists who did what. */
export type Audit = ReturnType<typeof createAudit>;

type Options = {
  audit: AuditLog;
  organizations: Pick<OrganizationReads, "get">;
  clock: Clock;
  elapsed: SteadyClock;
  /** How long entries are kept, in days; `Infinity` for ever. */
  keepDays: number;
  /** How much later than another one an entry may be stored whose id comes before, in milliseconds. */
  settleMs: number;
  /** Removes credentials from a text. */
  redact(text: string): string;
  onError(error: unknown): void;
};

const noteRate = { perSecond: 1, burst: 200 };
const strangers = "";
const maxWaiting = 2_000;
const readsPerPage = 20;
const dayMs = 24 * 3600 * 1000;

const place = z.union([z.strictObject({ before: z.string() }), z.strictObject({ after: z.string() })]);

/**
 * Creates the audit log on the store. Entries of permitted calls are written before the response is sent. Entries of
 * refused calls delay nobody and are limited in rate, per key, and for all callers without a valid key together.
 */
export function createAudit(options: Options) {
  const { audit, organizations, clock, elapsed, keepDays, settleMs, redact, onError } = options;
  const rates = createTokenBuckets({ clock: elapsed });
  const underWay = new Set<Promise<void>>();
  let omitted = 0;
  const writes = createBatcher<AuditEntry, void>({
    async flush(entries) {
      await audit.append(entries);
      return entries.map(() => undefined);
    },
    maxBatch: rowsOfStatement,
    maxWaiting,
    whenFull: () => unavailable({ detail: "too many entries are waiting for the audit log; try again" }),
  });

  async function write(entry: AuditEntry): Promise<void> {
    try {
      await writes.add(entry);
    } catch (error) {
      omitted += 1 + entry.omitted;
      if (!(error instanceof HeraldError)) onError(error); // an outage of the store is reported elsewhere
    }
  }

  /** Hides the entries of a deleted organization with the same id from its successor. */
  async function seesFrom({ rights: { org } }: Caller): Promise<number> {
    if (org === null) return 0;
    return (await organizations.get(org))?.createdAt ?? Number.MAX_SAFE_INTEGER;
  }

  /** The id of an entry after which none was removed. */
  async function kept(after: string): Promise<string> {
    const [first] = await audit.read({ from: after, before: undefined, of: undefined, limit: 1, isOldestFirst: true });
    const isKept = first?.id === after || timeOfId(after) >= clock.now() - keepDays * dayMs;
    if (isKept) return after;
    const detail = `the entry is older than the ${keepDays} days for which entries are kept; leave \`after\` out to read all there are`;
    throw new HeraldError("cursor_too_old", detail);
  }

  return {
    /** Resolves once the entry is on disk; rejects with `storage_full` or `unavailable`. */
    record: (call: AuditedCall) => writes.add(entryOf(call, clock.now(), 0, redact)),
    /** Records a call without waiting, at a limited rate so that entries cannot fill the disk; omitted ones are counted. */
    note(call: AuditedCall): void {
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
    /**
     * A page of the entries that the caller may see, newest first, or with `after` oldest first. Throws `organization_forbidden` and
     * `cursor_too_old`.
     */
    async list(caller: Caller, query: AuditQuery): Promise<Page<AuditEntryShown>> {
      const { limit, cursor, organization, since, until, after, ...wanted } = query;
      if (organization !== undefined) permitOrganization(caller, organization);
      const org = organization ?? caller.rights.org ?? undefined;
      const of = org !== undefined ? { org } : wanted.key !== undefined ? { keyId: wanted.key } : undefined;
      const range: Range = {
        from: firstIdOf(Math.max(since === undefined ? 0 : Date.parse(since), await seesFrom(caller))),
        before: until === undefined ? undefined : firstIdOf(Date.parse(until)),
        ...parseCursor(cursor, place),
      };
      if (after !== undefined) range.after ??= await kept(after);
      if (range.after !== undefined) range.before = earlier(range.before, firstIdOf(clock.now() - settleMs));
      const items: AuditEntryShown[] = [];
      // Filters without an index scan a bounded number of entries, in turns of the event loop.
      for (let reads = 0; reads < readsPerPage; reads++) {
        const entries = await audit.read({ ...rangeOf(range), of, limit: rowsOfStatement });
        for (const [index, entry] of entries.entries()) {
          if (range.after === undefined) range.before = entry.id;
          else range.after = entry.id;
          if (fits(entry, wanted)) items.push(show(entry));
          const isLast = index === entries.length - 1 && entries.length < rowsOfStatement;
          if (items.length === limit && !isLast) return { items, cursor: cursorOf(range) };
        }
        if (entries.length < rowsOfStatement) return { items, cursor: null };
        await nextTurn();
      }
      return { items, cursor: cursorOf(range) };
    },
    /** Resolves once all noted entries are written or have failed. Call it while the store is open. */
    async stop(): Promise<void> {
      await Promise.all(underWay);
    },
  };
}

function entryOf(call: AuditedCall, at: number, omitted: number, redact: Options["redact"]): AuditEntry {
  const valid = (id: string) => (isIdentifier(id) ? [redact(id)] : []);
  const named = Object.entries(call.target).flatMap(([name, ids]): [string, string | string[]][] => {
    if (Array.isArray(ids)) return [[name, ids.flatMap(valid)]];
    return ids === undefined ? [] : valid(ids).map((id) => [name, id]);
  });
  const target: AuditTarget = Object.fromEntries(named);
  return {
    id: createId(at),
    requestId: redact(call.requestId),
    operation: call.operation,
    org: organizationOf(call.caller, target),
    keyId: call.caller?.keyId ?? null,
    person: call.caller?.person === undefined ? null : redact(call.caller.person.name),
    address: call.address ?? null,
    target,
    status: call.status,
    code: call.code ?? null,
    omitted,
  };
}

/** A key bound to an organization acts only there, whatever it names; claims of unknown callers are ignored. */
function organizationOf(caller: Caller | undefined, { organization }: AuditTarget): string | null {
  if (caller === undefined || caller.rights.org === noOrganization) return null;
  return caller.rights.org ?? organization ?? null;
}

/** Entries between two ids: from the first on, or after an entry, and before the last. */
type Range = { from: string; after?: string; before: string | undefined };

function rangeOf({ from, after, before }: Range): Pick<AuditRange, "from" | "before" | "isOldestFirst"> {
  if (after === undefined) return { from, before };
  return { from: later(from, nextOf(after)), before, isOldestFirst: true };
}

function cursorOf({ after, before }: Range): string {
  return encodeCursor(after === undefined ? { before } : { after });
}

const later = (id: string, other: string) => (id > other ? id : other);
const earlier = (id: string | undefined, other: string) => (id !== undefined && id < other ? id : other);

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
    person: entry.person,
    address: entry.address,
    target: entry.target,
    result: resultOf(entry.status),
    status: entry.status,
    code: entry.code,
    request_id: entry.requestId,
    omitted: entry.omitted,
  };
}
