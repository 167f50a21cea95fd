import { unavailable } from "../../../src/contract/errors/errors.ts";
import { sqliteDialect } from "../../../src/store/sql/dialect.ts";
import type { Driver, SqlValue, Transaction } from "../../../src/store/sql/driver.ts";
import type { Random } from "../../harness/random.ts";
import { pause } from "./time.ts";

/** What a world says of its database. Times in milliseconds, chances from 0 to 1. */
export type DriverClimate = {
  nodes: number;
  /** How long a message to the database takes. */
  latencyMs: number;
  /** How long a transaction holds the lock of the database. */
  commitMs: number;
  /** How often a commit fails, and how often its answer is lost. */
  aborts: number;
  lostAnswers: number;
};

/** A node's way to the database that all nodes share. */
export type DriverModel = {
  driver: Driver;
  /** `kill -9`: what runs is rolled back or committed, and nothing is answered any more. */
  kill(): void;
};

type Options = {
  shared: Driver;
  random: Random;
  climate: DriverClimate;
  now(): number;
  /** Whether the database is away. */
  isAway(): boolean;
  /** Resolves once the node runs again, if it is frozen. */
  thawed?(): Promise<void>;
  /** Called at the moment of each commit. */
  onCommit(): Promise<void>;
};

// What stands in queries for the time, which is a parameter.
const timeNow = "$now";
const parameters = new Map<string, { text: string; before: number[] }>(); // how many values come before each time

/** A query without that, with its values and the time. */
function withTime(query: string, values: SqlValue[], now: number): [text: string, ...values: SqlValue[]] {
  if (!query.includes(timeNow)) return [query, ...values];
  const known = parameters.get(query) ?? readParameters(query);
  parameters.set(query, known);
  const given = [...values];
  for (const [index, before] of known.before.entries()) given.splice(before + index, 0, now);
  return [known.text, ...given];
}

function readParameters(query: string) {
  const parts = query.split(timeNow);
  const before = parts.slice(0, -1).map(
    (_, index) =>
      parts
        .slice(0, index + 1)
        .join("")
        .split("?").length - 1,
  );
  return { text: parts.join("?"), before };
}

/** Creates the way of one node: it takes time, breaks off, and knows the simulated time as that of the database. */
export function createDriverModel({ shared, random, climate, now, isAway, thawed, onCommit }: Options): DriverModel {
  let isAlive = true;

  async function travel(): Promise<void> {
    if (climate.latencyMs > 0) await pause(random.integer(0, climate.latencyMs));
    await thawed?.();
    if (!isAlive) await new Promise(() => undefined);
    if (isAway()) throw unavailable();
  }

  async function ask<Answer>(look: () => Promise<Answer>): Promise<Answer> {
    await travel();
    const answer = await look();
    await travel();
    return answer;
  }

  const dialect = { ...sqliteDialect, now: timeNow, isShared: climate.nodes > 1 };
  const all: Driver["all"] = (text, ...values) => ask(() => shared.all(...withTime(text, values, now())));

  const transaction: Driver["transaction"] = async (work, turn) => {
    await travel();
    const fails = random.next() < climate.aborts;
    const running = shared.transaction(async (sql) => {
      const timed = {
        dialect,
        all: ((text, ...values) => sql.all(...withTime(text, values, now()))) satisfies Transaction["all"],
        run: ((text, ...values) => sql.run(...withTime(text, values, now()))) satisfies Transaction["run"],
      };
      const result = await work({ ...sql, ...timed, forget: () => undefined });
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
      dialect,
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
