import { HeraldError, unavailable } from "../../contract/errors/errors.ts";
import { forgetOldest } from "../../lib/caches/forget-oldest.ts";
import { createBatcher } from "../../lib/queues/batcher.ts";
import { rowsOfStatement } from "../../lib/queues/steps.ts";
import { amountOf } from "../../lib/rates/amount.ts";
import type { SteadyClock } from "../../lib/time/clock.ts";
import type { OrganizationBudget, OrganizationReads } from "../../store/ports.ts";

/** The limits of an organization on each node. 0 means no limit. */
export type LimitsOfOrganization = {
  requestsPerSecond: number;
  messagesPerSecond: number;
  connections: number;
  storedBytes: number;
};

/** The limits of organizations: their own, or the configured defaults. */
export type OrganizationLimits = ReturnType<typeof createOrganizationLimits>;

type Options = {
  organizations: Pick<OrganizationReads, "budgets">;
  /** The configured defaults. */
  defaults: LimitsOfOrganization;
  elapsed: SteadyClock;
  onError(error: unknown): void;
  maxOrganizations?: number;
};

/**
 * `storedBytes` comes from the store; `undefined` if there is no such organization. In addition, `reservedBytes` are
 * about to be stored, and `newBytes` were stored since the store was asked.
 */
type Known = {
  limits: LimitsOfOrganization;
  storedBytes: number | undefined;
  reservedBytes: number;
  newBytes: number;
  readAt: number;
  usedAt: number;
};

// How long an answer of the store is trusted: less than the 5 s within which a change takes effect on every node.
const trustMs = 4_000;
const defaultMaxOrganizations = 10_000;
const refreshEveryMs = 1_000;
const refreshedWhileUsedWithinMs = 10_000;
const maxWaiting = 20_000;

/**
 * Creates a cache of limits, so that calls do not ask the store for organizations it knows. Once a second it refreshes
 * those used lately, in queries of 500, one at a time.
 */
export function createOrganizationLimits(options: Options) {
  const { organizations, defaults, elapsed, onError, maxOrganizations = defaultMaxOrganizations } = options;
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
      entry.newBytes = Math.max(0, entry.newBytes - (newBytes.get(org) ?? 0)); // included in the store's answer
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
        if (!(error instanceof HeraldError)) onError(error); // an outage of the store is reported elsewhere
      }
      return orgs.map(() => undefined);
    },
    maxBatch: rowsOfStatement,
    maxWaiting,
    whenFull: () =>
      unavailable({ detail: "too many calls for organizations that this node has not seen yet; try again" }),
  });

  const ask = (org: string) => lookups.add(org).catch(() => undefined);
  const timer = setInterval(() => {
    const since = elapsed.now() - refreshedWhileUsedWithinMs;
    for (const [org, { usedAt }] of known) if (usedAt >= since) void ask(org);
  }, refreshEveryMs);

  return {
    /** The limits as this node knows them: a few seconds old at most once `know` has resolved, otherwise the defaults. */
    limitsOf: (org: string): LimitsOfOrganization => known.get(org)?.limits ?? defaults,
    /** The bytes an organization stores, as this node knows them; `undefined` if there is no such organization. */
    storedBytesOf(org: string): number | undefined {
      const { storedBytes, reservedBytes = 0, newBytes = 0 } = known.get(org) ?? {};
      return storedBytes === undefined ? undefined : storedBytes + reservedBytes + newBytes;
    },
    /**
     * Counts bytes about to be stored. Call the result with whether they were; stored bytes count until the store reports
     * them.
     */
    reserve(org: string, given: number): (isStored: boolean) => void {
      const bytes = amountOf(given);
      const entry = known.get(org);
      if (entry === undefined) return () => undefined;
      entry.reservedBytes += bytes;
      return (isStored) => {
        entry.reservedBytes -= bytes;
        if (isStored) entry.newBytes += bytes;
      };
    },
    /**
     * Reads the limits of an organization that this node has not used lately; returns `undefined` if they are known.
     * Never rejects: while the store is away, the last known limits apply.
     */
    know(org: string): Promise<void> | undefined {
      const entry = known.get(org);
      if (entry === undefined) return ask(org);
      entry.usedAt = elapsed.now();
      return entry.usedAt < entry.readAt + trustMs ? undefined : ask(org);
    },
    /** Reads the limits again after a change on this node. */
    refresh: ask,
    /** Stops the timer. Resolves once no query is running. */
    async stop(): Promise<void> {
      clearInterval(timer);
      await ask(""); // waits for a query in flight, which needs the store
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
