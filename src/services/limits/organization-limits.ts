import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { forgetOldest } from "../../lib/keeping/forget-oldest.ts";
import { createBatcher } from "../../lib/queues/batcher.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { OrganizationBudget, OrganizationReads } from "../../store/ports.ts";

/** What an organization may use, on each node. 0: as much as it likes. */
export type LimitsOfOrganization = {
  requestsPerSecond: number;
  messagesPerSecond: number;
  connections: number;
  storedBytes: number;
};

/** What organizations may use: their own limits, and those of the settings where they have none. */
export type OrganizationLimits = {
  /** What counts now, as this node knows it: a few seconds old at most once `know` has resolved, else those of the settings. */
  limitsOf(org: string): LimitsOfOrganization;
  /** Whether there is such an organization, and how many bytes it stores, as this node knows it. */
  storedBytesOf(org: string): number | undefined;
  /** Counts bytes that are about to be stored; gives what tells whether they were. They count until the store tells of them. */
  reserve(org: string, bytes: number): (isStored: boolean) => void;
  /**
   * Asks the store for the limits of an organization that this node has not met of late; `undefined` where nothing need be asked.
   * Never rejects: while the store does not answer, what was known last counts.
   */
  know(org: string): Promise<void> | undefined;
  /** Asks the store anew, since they were changed here. */
  refresh(org: string): Promise<void>;
  /** Ends the timer. Resolves when nothing is asked any more. */
  stop(): Promise<void>;
};

type Options = {
  organizations: Pick<OrganizationReads, "budgets">;
  /** Those of the settings. */
  defaults: LimitsOfOrganization;
  /** A clock that only goes forward. */
  elapsed: Clock;
  onError(error: unknown): void;
  /** How long what the store said is relied on, in milliseconds. */
  trustMs?: number;
  maxOrganizations?: number;
};

/**
 * `storedBytes` is what the store told, `undefined` where there is no such organization. Beside it `reservedBytes` are about to be
 * stored, and `newBytes` were stored since the store was asked, or while it answered.
 */
type Known = {
  limits: LimitsOfOrganization;
  storedBytes: number | undefined;
  reservedBytes: number;
  newBytes: number;
  readAt: number;
  usedAt: number;
};

// Less than the 5 s within which a change holds on every node.
const defaultTrustMs = 4_000;
const defaultMaxOrganizations = 10_000;
const refreshEveryMs = 1_000;
const refreshedWhileUsedWithinMs = 10_000;
const idsPerQuery = 500;
const maxWaiting = 20_000;

/**
 * Keeps the limits of the organizations that are met here in memory, so that no call asks the store for those that it met before.
 * Once a second it asks for all that were used lately, in queries of 500, one at a time.
 */
export function createOrganizationLimits(options: Options): OrganizationLimits {
  const { organizations, defaults, elapsed, onError, trustMs = defaultTrustMs } = options;
  const { maxOrganizations = defaultMaxOrganizations } = options;
  const known = new Map<string, Known>();

  async function read(orgs: string[]): Promise<void> {
    const readAt = elapsed.now();
    const newBytes = new Map(orgs.map((org) => [org, known.get(org)?.newBytes ?? 0]));
    const found = new Map((await organizations.budgets(orgs)).map((budget) => [budget.id, budget]));
    for (const org of orgs) {
      const entry = find(org);
      const budget = found.get(org);
      entry.limits = budget === undefined ? defaults : limitsOf(budget, defaults);
      entry.storedBytes = budget?.storedBytes;
      entry.newBytes = Math.max(0, entry.newBytes - (newBytes.get(org) ?? 0)); // the store has told of them
      entry.readAt = readAt;
    }
  }

  function find(org: string): Known {
    let entry = known.get(org);
    if (entry === undefined) {
      const now = elapsed.now();
      entry = { limits: defaults, storedBytes: undefined, reservedBytes: 0, newBytes: 0, readAt: now, usedAt: now };
      known.set(org, entry);
      forgetOldest(known, maxOrganizations);
    }
    return entry;
  }

  const lookups = createBatcher<string, void>({
    async flush(orgs) {
      try {
        await read([...new Set(orgs)]);
      } catch (error) {
        if (!(error instanceof HeraldError)) onError(error); // that the store is away is told elsewhere
      }
      return orgs.map(() => ({ status: "fulfilled", value: undefined }));
    },
    maxBatch: idsPerQuery,
    maxWaiting,
    whenFull: () => unavailable({ detail: "too many organizations that are not known here are asked for; try again" }),
  });

  const isFresh = ({ readAt }: Known) => elapsed.now() < readAt + trustMs;
  const ask = (org: string) => lookups.add(org).catch(() => undefined);
  const timer = setInterval(() => {
    const since = elapsed.now() - refreshedWhileUsedWithinMs;
    for (const [org, { usedAt }] of known) if (usedAt >= since) void ask(org);
  }, refreshEveryMs);

  return {
    limitsOf: (org) => known.get(org)?.limits ?? defaults,
    storedBytesOf(org) {
      const { storedBytes, reservedBytes = 0, newBytes = 0 } = known.get(org) ?? {};
      return storedBytes === undefined ? undefined : storedBytes + reservedBytes + newBytes;
    },
    reserve(org, bytes) {
      const entry = known.get(org);
      if (entry === undefined) return () => undefined;
      entry.reservedBytes += bytes;
      return (isStored) => {
        entry.reservedBytes -= bytes;
        if (isStored) entry.newBytes += bytes;
      };
    },
    know(org) {
      const entry = known.get(org);
      if (entry === undefined) return ask(org);
      entry.usedAt = elapsed.now();
      return isFresh(entry) ? undefined : ask(org);
    },
    refresh: ask,
    async stop() {
      clearInterval(timer);
      await ask(""); // comes after what is under way, which needs the store
    },
  };
}

function limitsOf({ limits }: OrganizationBudget, defaults: LimitsOfOrganization): LimitsOfOrganization {
  return {
    requestsPerSecond: limits.requestsPerSecond ?? defaults.requestsPerSecond,
    messagesPerSecond: limits.messagesPerSecond ?? defaults.messagesPerSecond,
    connections: limits.connections ?? defaults.connections,
    storedBytes: limits.storedBytes ?? defaults.storedBytes,
  };
}
