import type { Product } from "../product.ts";
import type { NodeOptions } from "./node-inboxes.ts";
import { pause } from "./time.ts";

type Options = NodeOptions & { onError(error: unknown): void };

/** The job of a node that ends what has expired: the product's, on the simulated database. */
export function startNodeExpiry(options: Options): ReturnType<Product["createExpiry"]> {
  const { product, database, random, climate, now, isAlive, ask, onCommit, fault, onError } = options;
  const { expiries } = database;

  async function endSome(org: string, at: number): Promise<number> {
    const organization = database.get(org);
    const failovers = database.failovers();
    const changes = expiries.planEnds(organization, at);
    const events = changes.map((change, index) => database.prepare(org, organization.head + 1 + index, change));
    await pause(random.integer(0, climate.commitMs));
    const isAborted = now() < climate.activeMs && random.next() < climate.aborts;
    if (!isAlive() || database.failovers() !== failovers || isAborted) throw fault();
    database.commit(org, events);
    if (events.length > 0) onCommit(events);
    return events.length;
  }

  const expiry = product.createExpiry({
    expiry: {
      isShared: climate.nodes > 1,
      next: () => ask(expiries.next),
      dueOrganizations: (at) => ask(() => expiries.dueOrganizations(at)),
      async endSome(org, at) {
        await ask(() => undefined);
        return await database.get(org).lock.add("batch", () => endSome(org, at));
      },
    },
    elapsed: { now },
    random: random.next,
  });
  expiry.start({ onError, onRecovery: () => undefined });
  return expiry;
}
