import type { Driver } from "../../../src/store/sql/driver.ts";
import { createPresenceStore, type Product, product } from "./node.ts";

type Store = ReturnType<typeof createPresenceStore>;

/** The product's store, with another part. */
function withStore(change: (store: Store, driver: Driver) => Partial<Store>): Product {
  return {
    ...product,
    createPresenceStore(parts) {
      const store = createPresenceStore(parts);
      return { ...store, ...change(store, parts.driver) };
    },
  };
}

/** A bug of what webhooks are told of presence, and what the judge must say about it. */
type PlantedBug = { product: Product; sign: RegExp };

/** Bugs of what webhooks are told of presence that the simulation must find, by name. */
export const plantedPresenceBugs: Record<string, PlantedBug> = {
  "a node that was replaced goes on telling": {
    sign: /has the number|two posts have the number/,
    product: withStore(({ webhookPresence }, driver) => ({
      webhookPresence: {
        ...webhookPresence,
        async tell(place, news) {
          const aside: Driver["aside"] = (work, turn) =>
            driver.aside(async (sql) => {
              const update = "UPDATE webhook_presence SET holder = ?, seq = ? WHERE org = ? AND webhook = ?";
              await sql.run(update, news.holder, news.seq, place.org, place.webhook);
              return await work(sql);
            }, turn);
          return await createPresenceStore({ driver: { ...driver, aside } }).webhookPresence.tell(place, news);
        },
      },
    })),
  },
  "a node that takes over does not read what was told": {
    sign: /comes in .* and is there|takes .* to be online/,
    product: withStore(({ webhookPresence }) => ({
      webhookPresence: { ...webhookPresence, told: async () => new Set<string>() },
    })),
  },
  "the webhooks of a node that has died are left alone": {
    sign: /takes .* to be online|is noted to have been told/,
    product: withStore(({ webhookPresence }) => ({
      webhookPresence: {
        ...webhookPresence,
        async followed(holder, limit) {
          const { now, places } = await webhookPresence.followed(holder, limit);
          return { now, places: places.filter((place) => place.holder === holder || place.holder === "") };
        },
      },
    })),
  },
  "nobody waits whether those who go come back": {
    sign: /too early/,
    product: withStore(({ webhooks }) => ({
      webhooks: {
        ...webhooks,
        among: async (...of) => (await webhooks.among(...of)).map((hook) => ({ ...hook, waitMs: 0 })),
      },
    })),
  },
  "a node that does not answer at once is taken to have nobody": {
    sign: /too early|lists/,
    product: {
      ...product,
      createPresence: ({ bus, ...dependencies }) =>
        product.createPresence({
          ...dependencies,
          bus: {
            async request(question, nodes) {
              const answers = await bus.request(question, []);
              const nobody = { online: [], hasMore: false, total: { users: 0, connections: 0 }, version: "" };
              for (const id of nodes) if (!answers.has(id)) answers.set(id, nobody);
              return answers;
            },
          },
        }),
    },
  },
  "nobody looks again when users have left": {
    sign: /takes .* to be online/,
    product: {
      ...product,
      createRoster(events) {
        const roster = product.createRoster(events);
        let comings = 0;
        return {
          ...roster,
          add(connection) {
            if (roster.countOf(connection.org, connection.uid) === 0) comings++;
            roster.add(connection);
          },
          versionOf: () => String(comings),
        };
      },
    },
  },
  "each connection that ends is told to be the user's last": {
    sign: /too early|takes .* to be online|lists/,
    product: {
      ...product,
      createRoster(events) {
        const roster = product.createRoster(events);
        return {
          ...roster,
          remove(connection) {
            for (const one of roster.of(connection.org, connection.uid)) roster.remove(one);
          },
        };
      },
    },
  },
  "a post that failed is not tried again": {
    sign: /is missing|is told/,
    product: withStore(({ webhookDeliveries }) => ({
      webhookDeliveries: {
        ...webhookDeliveries,
        finish: (tried) =>
          webhookDeliveries.finish(tried.map((one) => ({ ...one, state: "delivered", nextTryAt: null }))),
      },
    })),
  },
  "what a webhook that is gone was told stays": {
    sign: /is gone, and not forgotten/,
    product: withStore(({ webhookPresence }) => ({
      webhookPresence: { ...webhookPresence, forget: async () => false },
    })),
  },
};
