import type { UserView } from "../contract/connections/frames.ts";
import type { OnlineUsersRequest } from "../contract/presence.ts";
import type { UserReads } from "../store/ports.ts";
import { toUserView } from "./directory/acquaintances.ts";
import { type Caller, permitOrganization } from "./keys/permissions.ts";
import type { Presence } from "./presence.ts";

type Dependencies = { presence: Pick<Presence, "list" | "count">; users: Pick<UserReads, "among"> };

const skippedAtOnce = 1_000;

/** Lists connected users as SAMA's admin API does. */
export type OnlineUsers = ReturnType<typeof createOnlineUsers>;

/** Creates the list. */
export function createOnlineUsers({ presence, users }: Dependencies) {
  /** The ids of those who follow the first `offset` users. */
  async function idsFrom(org: string, offset: number, limit: number): Promise<string[]> {
    const ids: string[] = [];
    let left = offset;
    let cursor: string | undefined;
    do {
      const most = left > 0 ? Math.min(left, skippedAtOnce) : limit - ids.length;
      const page = await presence.list(org, { limit: most, cursor });
      if (left === 0) ids.push(...page.items.map(({ id }) => id));
      left = Math.max(0, left - page.items.length);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined && ids.length < limit);
    return ids;
  }

  return {
    /** Answers the request. Throws `organization_forbidden`, `organization_not_found`, and `unavailable` if a node is silent. */
    async list(
      caller: Caller,
      { organizationId: org, count, idsOnly, limit, offset }: OnlineUsersRequest,
    ): Promise<{ count: number } | { users: string[] } | { users: UserView[] }> {
      permitOrganization(caller, org);
      if (count) return { count: (await presence.count(org, undefined)).count };
      const ids = await idsFrom(org, offset, limit);
      if (idsOnly) return { users: ids };
      return { users: ids.length === 0 ? [] : (await users.among(org, ids)).map(toUserView) };
    },
  };
}
