import { unavailable } from "../../../src/contract/errors/errors.ts";
import { sqliteDialect } from "../../../src/store/sql/dialect.ts";
import type { Driver } from "../../../src/store/sql/driver.ts";
import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";
import type { ScheduleClimate } from "./climate.ts";

/** A node's way to the database that all nodes share. */
export type DriverModel = {
  driver: Driver;
  /** `kill -9`: what runs is rolled back or committed, and nothing is answered any more. */
  kill(): void;
};

type Options = {
  shared: Driver;
  random: Random;
  climate: ScheduleClimate;
  now(): number;
  /** Whether the database is away. */
  isAway(): boolean;
  /** Called at the moment of each commit. */
  onCommit(): Promise<void>;
};

// The queries that read the clock have no other parameters.
const timeNow = "?";

/** Creates the way of one node: it takes time, breaks off, and knows the simulated time as that of the database. */
export function createDriverModel({ shared, random, climate, now, isAway, onCommit }: Options): DriverModel {
  let isAlive = true;

  async function travel(): Promise<void> {
    if (climate.latencyMs > 0) await pause(random.integer(0, climate.latencyMs));
    if (!isAlive) await new Promise(() => undefined);
    if (isAway()) throw unavailable();
  }

  async function ask<Answer>(look: () => Promise<Answer>): Promise<Answer> {
    await travel();
    const answer = await look();
    await travel();
    return answer;
  }

  const all: Driver["all"] = (text, ...values) =>
    ask(() => (text.includes(`${timeNow} AS now`) ? shared.all(text, now()) : shared.all(text, ...values)));

  const transaction: Driver["transaction"] = async (work, turn) => {
    await travel();
    const fails = random.next() < climate.aborts;
    const running = shared.transaction(async (sql) => {
      const result = await work({ ...sql, forget: () => undefined });
      await pause(random.integer(0, climate.commitMs));
      if (fails || !isAlive || isAway()) throw unavailable();
      return result;
    }, turn);
    const result = await running.catch(async (error: unknown) => {
      await travel();
      throw error;
    });
    await onCommit();
    await travel();
    if (random.next() < climate.lostAnswers) throw unavailable();
    return result;
  };

  return {
    driver: {
      ...shared,
      dialect: { ...sqliteDialect, now: timeNow, isShared: climate.nodes > 1 },
      all,
      allOf: (_, text, ...values) => all(text, ...values),
      allOfEvery: all,
      transaction,
      aside: transaction,
    },
    kill() {
      isAlive = false;
    },
  };
}
