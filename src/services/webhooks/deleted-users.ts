import type { Unreached } from "../../contract/webhooks/payloads.ts";
import { joinIds } from "../../lib/text/joined-ids.ts";
import type { UnreachedReads, WebhookDelivery } from "../../store/webhooks/ports.ts";

type Reads = Pick<UnreachedReads, "users">;

/**
 * The deliveries by id, without users who were deleted since: receivers never see those, however late they come back. A delivery
 * with no users left is missing.
 */
export async function withoutDeletedUsers(
  reads: Reads,
  deliveries: readonly WebhookDelivery[],
): Promise<Map<string, WebhookDelivery>> {
  const listed = deliveries.map((delivery) => ({ delivery, users: usersOf(delivery) }));
  const named = new Map(
    listed.flatMap(({ delivery: { org }, users }) => users.map(({ uid }) => [joinIds(org, uid), { org, uid }])),
  );
  const known = new Set((await reads.users([...named.values()])).map(({ org, uid }) => joinIds(org, uid)));
  const left = new Map<string, WebhookDelivery>();
  for (const { delivery, users } of listed) {
    const current = users.filter(({ uid }) => known.has(joinIds(delivery.org, uid)));
    if (current.length === users.length) left.set(delivery.id, delivery);
    else if (current.length > 0) left.set(delivery.id, { ...delivery, unreached: JSON.stringify(current) });
  }
  return left;
}

function usersOf({ unreached }: WebhookDelivery): Unreached[] {
  return JSON.parse(unreached);
}
