import { SQL } from "bun";
import { within } from "../../harness/deadline.ts";
import { createRandom, type Random } from "../../harness/random.ts";
import type { WrittenRow } from "./judge.ts";

const pauseAfterFailureMs = 50;
const longestPauseMs = 15;
const mostRowsOfTransaction = 20;
const endWithinMs = 60_000;

/** Where a writer's rows go. */
export type Target = { org: string; cid: string; sender: string };

/** Programs that each commit one transaction after another, and take some back. */
export type Writers = {
  /** Stops. Resolves with all rows that were written, once every transaction has ended. */
  stop(): Promise<WrittenRow[]>;
  /** How many rows are known to be committed. */
  committed(): number;
};

type Outcome = WrittenRow["outcome"];
type Options = { url: string; targets: readonly Target[]; seed: number };

/** What a writer tells of itself in `orders`, beside what it sends. */
export const ordersTable = "CREATE TABLE orders (body text PRIMARY KEY)";

/** Whether a writer wrote this. */
export const isWriters = (body: string): boolean => body.startsWith("writer ");

class TakenBack extends Error {}

/** Starts a writer for each target, in a database with an outbox and with `ordersTable`. */
export function startWriters({ url, targets, seed }: Options): Writers {
  const rows: WrittenRow[] = [];
  let committed = 0;
  let isRunning = true;

  /** Runs one transaction; what it throws says nothing but that it did not end well. */
  async function transact(sql: SQL, target: Target, bodies: string[], isTakenBack: boolean): Promise<Outcome> {
    const requests = JSON.stringify(
      bodies.map((body) => ({
        organizationId: target.org,
        senderId: target.sender,
        message: { cid: target.cid, body },
      })),
    );
    let isCommitting = false;
    try {
      await sql.begin(async (transaction) => {
        await transaction`
          INSERT INTO orders SELECT request->'message'->>'body' FROM jsonb_array_elements(${requests}::text::jsonb) AS request`;
        await transaction`SELECT herald.send(request) FROM jsonb_array_elements(${requests}::text::jsonb) AS request`;
        if (isTakenBack) throw new TakenBack();
        isCommitting = true;
      });
      return "committed";
    } catch (error) {
      if (!(error instanceof TakenBack)) await Bun.sleep(pauseAfterFailureMs);
      return isCommitting ? "unknown" : "taken back";
    }
  }

  async function write(target: Target, writer: string, random: Random): Promise<void> {
    const sql = new SQL(url, { max: 1, connectionTimeout: 5 });
    try {
      for (let number = 0; isRunning; ) {
        const bodies = Array.from({ length: random.integer(1, mostRowsOfTransaction) }, () => `${writer} ${number++}`);
        const beganAt = performance.now();
        const outcome = await transact(sql, target, bodies, random.integer(1, 8) === 1);
        const endedAt = performance.now();
        rows.push(...bodies.map((body) => ({ org: target.org, writer, body, beganAt, endedAt, outcome })));
        if (outcome === "committed") committed += bodies.length;
        await Bun.sleep(random.next() * longestPauseMs);
      }
    } finally {
      await sql.close({ timeout: 0 });
    }
  }

  const writing = Promise.all(
    targets.map((target, index) => write(target, `writer ${seed}.${index}`, createRandom(seed + index))),
  );
  writing.catch(() => undefined); // reported by `stop`
  return {
    committed: () => committed,
    async stop() {
      isRunning = false;
      await within(writing, "every transaction to end", endWithinMs);
      return rows;
    },
  };
}
