import { createBatchLog } from "../../../src/store/log/batch-log.ts";
import { createLogWriter } from "../../../src/store/log/log-writer.ts";
import type { Driver, SqlValue } from "../../../src/store/sql/driver.ts";
import { createScheduleStore, type Product, type StoreParts } from "./node.ts";

type Store = ReturnType<typeof createScheduleStore>;

/** The product's store, with some methods replaced. */
function withStore(change: (store: Store, parts: StoreParts) => Partial<Store>): Product {
  return {
    createStore(parts) {
      const store = createScheduleStore(parts);
      return { ...store, ...change(store, parts) };
    },
  };
}

/** The product's store, which takes something that it read before the lock for true. */
function withTrust(change: string, valuesOf: (revision: string) => SqlValue[]): Product {
  const update = `UPDATE scheduled_send SET ${change} WHERE org = ? AND id = ?`;
  return withStore((_, { driver, nodeTime }) => ({
    async settle(org, settlement) {
      const transaction: Driver["transaction"] = (work, turn) =>
        driver.transaction(async (sql) => {
          for (const { id, revision } of settlement.entries) await sql.run(update, ...valuesOf(revision), org, id);
          return await work(sql);
        }, turn);
      return await createScheduleStore({ driver: { ...driver, transaction }, nodeTime }).settle(org, settlement);
    },
  }));
}

/** A bug of scheduled sends, and what the judge must say about it. */
type PlantedBug = { product: Product; sign: RegExp };

/** Bugs of scheduled sends that the simulation must find, by name. */
export const plantedScheduleBugs: Record<string, PlantedBug> = {
  "they are sent in one commit, and noted in another": {
    sign: /is sent \d+ times/,
    product: withStore(({ settle }, { driver }) => ({
      async settle(org, settlement) {
        const writer = createLogWriter({ driver, announce: () => undefined });
        const sends = settlement.entries.flatMap((entry) => ("send" in entry ? entry.send : []));
        const outcomes = await createBatchLog({ writer }).appendAll(sends);
        const note =
          "UPDATE scheduled_send SET state = 'sent', request = NULL, server_mid = ? WHERE org = ? AND id = ?";
        await driver.transaction(async (sql) => {
          for (const [index, { id }] of settlement.entries.entries()) {
            const outcome = outcomes[index];
            await sql.run(note, outcome !== undefined && "id" in outcome ? outcome.id : null, org, id);
          }
        });
        return await settle(org, settlement);
      },
    })),
  },
  "a node does not look again, under the lock, whether they still wait": {
    sign: /is cancelled, and sent/,
    product: withTrust("state = 'waiting'", () => []),
  },
  "a node does not look again, under the lock, whether they were replaced": {
    sign: /as it was before it was replaced/,
    product: withTrust("revision = ?", (revision) => [revision]),
  },
  "a cancellation does not look whether they were sent": {
    sign: /is cancelled, and sent/,
    product: withStore((_, { driver }) => ({
      async cancel(org, id, { now }) {
        const end =
          "UPDATE scheduled_send SET state = 'cancelled', request = NULL, ended_at = ? WHERE org = ? AND id = ?";
        return (await driver.transaction((sql) => sql.run(end, now, org, id))) > 0;
      },
    })),
  },
  "the clock of the node decides what is due": {
    sign: /and is due at/,
    product: withStore(({ next }, { nodeTime }) => ({
      next: async () => ({ ...(await next()), now: nodeTime() }),
    })),
  },
  "a node looks at nothing until it is told of something": {
    sign: /is never sent/,
    product: withStore(({ next, put }) => {
      let isTold = false;
      return {
        async put(...of) {
          isTold = true;
          return await put(...of);
        },
        async next() {
          const found = await next();
          return isTold ? found : { ...found, nextAt: undefined };
        },
      };
    }),
  },
};
