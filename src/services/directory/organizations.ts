import type { OrganizationChange, OrganizationShown } from "../../contract/directory.ts";
import { HeraldError } from "../../contract/errors/errors.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { OrganizationBudget, Organizations, OwnLimits } from "../../store/ports.ts";
import { type Caller, proofOf } from "../keys/permissions.ts";
import type { OrganizationLimits } from "../limits/organization-limits.ts";
import { toResource } from "../pages.ts";
import type { Presence } from "../presence.ts";
import { type PutResource, requireOrganization, toPutResource } from "./directory.ts";

type Dependencies = {
  organizations: Organizations;
  limits: Pick<OrganizationLimits, "refresh">;
  presence: Pick<Presence, "useOf">;
  clock: Clock;
};

/** Organizations with their limits and their usage. */
export type OrganizationDirectory = ReturnType<typeof createOrganizationDirectory>;

/**
 * Creates the directory on the store. Reads the limits again after each change, so that it takes effect on this node at
 * once.
 */
export function createOrganizationDirectory({ organizations, limits, presence, clock }: Dependencies) {
  /** `undefined` if a node does not answer: the organization can be shown without its usage. */
  async function useOf(org: string) {
    try {
      return await presence.useOf(org);
    } catch (error) {
      if (error instanceof HeraldError) return undefined;
      throw error;
    }
  }

  return {
    /**
     * Creates or updates an organization; omitted fields stay as they are. Only keys bound to no organization may set
     * limits: others could lift their own, and get `insufficient_scope`. Nor do keys bound to an organization create one: theirs
     * was deleted, and they with it (`unauthorized`).
     */
    async put(caller: Caller, org: string, change: OrganizationChange): Promise<PutResource> {
      if (change.limits !== undefined && caller.rights.org !== null) {
        const detail =
          "setting `limits` requires a key that is not bound to an organization and has the scope `directory:write`";
        throw new HeraldError("insufficient_scope", detail);
      }
      const now = clock.now();
      const put = await organizations.put(org, change.name, now, ownLimitsOf(change.limits), proofOf(caller, now));
      await limits.refresh(org);
      return toPutResource(put, org);
    },
    async get(org: string): Promise<OrganizationShown> {
      const entity = await requireOrganization(organizations, org);
      const [[budget], use] = await Promise.all([organizations.budgets([org]), useOf(org)]);
      return { ...toResource(entity), ...show(budget, use) };
    },
  };
}

function ownLimitsOf(change: OrganizationChange["limits"] = {}): Partial<OwnLimits> {
  const { requests_per_second, messages_per_second, connections, stored_bytes } = change;
  return {
    ...(requests_per_second !== undefined && { requestsPerSecond: requests_per_second }),
    ...(messages_per_second !== undefined && { messagesPerSecond: messages_per_second }),
    ...(connections !== undefined && { connections }),
    ...(stored_bytes !== undefined && { storedBytes: stored_bytes }),
  };
}

function show(budget: OrganizationBudget | undefined, use: Awaited<ReturnType<Presence["useOf"]>> | undefined) {
  const limits = budget?.limits;
  return {
    limits: {
      requests_per_second: limits?.requestsPerSecond ?? null,
      messages_per_second: limits?.messagesPerSecond ?? null,
      connections: limits?.connections ?? null,
      stored_bytes: limits?.storedBytes ?? null,
    },
    usage: {
      requests_per_second: use?.requests ?? null,
      messages_per_second: use?.messages ?? null,
      connections: use?.connections ?? null,
      stored_bytes: budget?.storedBytes ?? 0,
    },
  };
}
