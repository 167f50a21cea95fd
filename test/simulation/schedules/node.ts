import { rateLimited } from "../../../src/contract/errors/errors.ts";
import { defaultPayloadLimits } from "../../../src/contract/limits.ts";
import { createScheduling, type Scheduling } from "../../../src/services/schedule/scheduling.ts";
import { createOrganizationReads } from "../../../src/store/directory/organizations.ts";
import { createBatchLog } from "../../../src/store/log/batch-log.ts";
import { createLogWriter } from "../../../src/store/log/log-writer.ts";
import { createScheduleReads } from "../../../src/store/schedule/schedule-reads.ts";
import { createScheduleWrites } from "../../../src/store/schedule/schedule-writes.ts";
import type { Driver } from "../../../src/store/sql/driver.ts";
import { createDriverModel } from "../models/driver-model.ts";
import type { ScheduleClimate } from "./climate.ts";

/** What a node makes of a database. A faulty version has a bug to be found. */
export const product = { createStore: createScheduleStore };

/** What a node makes of a database. */
export type Product = typeof product;

/** What a store is made of: the way to the database, and the clock of the node, which is off by up to some hours. */
export type StoreParts = { driver: Driver; nodeTime(): number };

/** A node that schedules sends and sends what is due. */
export type Node = Scheduling & {
  /** Resolves when it has died. */
  readonly died: Promise<"died">;
  kill(): void;
};

type Options = Omit<Parameters<typeof createDriverModel>[0], "climate" | "onCommit"> & {
  climate: ScheduleClimate;
  product: Product;
  onCommit(): Promise<void>;
  onError(error: unknown): void;
};

const mostSkewMs = 3 * 3_600_000;

/** The product's store of scheduled sends, on a database. */
export function createScheduleStore({ driver }: StoreParts) {
  const writer = createLogWriter({ driver, announce: () => undefined });
  return { ...createScheduleReads({ reader: driver }), ...createScheduleWrites({ writer }) };
}

/** Starts a node: the product's services and SQL on a way to the database. */
export function startNode(options: Options): Node {
  const { product, random, climate, now, onError } = options;
  const { driver, kill } = createDriverModel(options);
  const skewMs = random.integer(-mostSkewMs, mostSkewMs);
  const nodeTime = () => now() + skewMs;
  const writer = createLogWriter({ driver, announce: () => undefined });
  const death = Promise.withResolvers<"died">();
  const scheduling = createScheduling({
    schedule: { ...product.createStore({ driver, nodeTime }), isShared: driver.dialect.isShared },
    keys: { get: async () => undefined },
    organizations: createOrganizationReads({ reader: driver }),
    checks: createBatchLog({ writer }),
    use: {
      know: () => undefined,
      admitSend() {
        if (random.next() >= climate.rateLimited) return () => undefined;
        throw rateLimited({
          detail: "slow down",
          policy: "messages",
          quota: 1,
          windowSeconds: 1,
          retryAfterSeconds: 1,
        });
      },
      requireRoomFor: async () => undefined,
      reserveRoom: () => ({ error: undefined, grow: () => undefined, end: () => undefined }),
    },
    limits: defaultPayloadLimits,
    clock: { now: nodeTime },
    elapsed: { now: nodeTime },
    random: random.next,
    audit: { record: async () => undefined },
    onError,
  });
  scheduling.scheduler.start({ onError: () => undefined, onRecovery: () => undefined });
  return {
    ...scheduling,
    died: death.promise,
    kill() {
      kill();
      void scheduling.scheduler.stop(); // its timers end with it
      death.resolve("died");
    },
  };
}
