import { unavailable } from "../../../src/contract/errors/errors.ts";
import type { NewSend, SendLog, SendOutcome } from "../../../src/store/ports.ts";
import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";

/** A stored send, in the order of commits. */
export type StoredSend = { mid: string; id: string; at: number };

/** The database that all nodes share. */
export type Stored = { readonly sends: StoredSend[]; find(mid: string): StoredSend | undefined };

/** A node's log of sends: commits those that wait together, one commit at a time, as with PostgreSQL. */
export type LogModel = SendLog & {
  /** `kill -9`: what waits gets no outcome any more. */
  kill(): void;
  readonly waiting: number;
};

type Options = {
  random: Random;
  stored: Stored;
  now(): number;
  /** How often a commit fails, half of them after all was stored. */
  failures: number;
};

type Waiting = { send: NewSend; resolve(outcome: SendOutcome): void; reject(error: unknown): void };

const sendsOfCommit = 64;
const longestCommitMs = 20;

/** Creates the database. */
export function createStored(): Stored {
  const sends: StoredSend[] = [];
  return { sends, find: (mid) => sends.find((send) => send.mid === mid) };
}

/** Creates the log of one node. */
export function createLogModel({ random, stored, now, failures }: Options): LogModel {
  const queue: Waiting[] = [];
  let isRunning = false;
  let isDead = false;

  function store({ mid = "", id, createdAt }: NewSend): SendOutcome {
    const before = stored.find(mid);
    if (before !== undefined) return { outcome: "replayed", id: before.id, createdAt: before.at };
    stored.sends.push({ mid, id, at: now() });
    return { outcome: "stored", id, createdAt, offset: stored.sends.length };
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (queue.length > 0 && !isDead) {
      const commit = queue.splice(0, sendsOfCommit);
      await pause(random.integer(1, longestCommitMs));
      if (isDead && random.next() < 0.5) return;
      const fails = random.next() < failures;
      const outcomes = fails && random.next() < 0.5 ? [] : commit.map(({ send }) => store(send));
      await pause(random.integer(0, 2)); // on its way back
      if (isDead) return;
      for (const [index, { resolve, reject }] of commit.entries()) {
        const outcome = outcomes[index];
        if (fails || outcome === undefined) reject(unavailable());
        else resolve(outcome);
      }
    }
    isRunning = false;
  }

  return {
    append(send) {
      return new Promise((resolve, reject) => {
        queue.push({ send, resolve, reject });
        if (!isRunning) void run();
      });
    },
    kill() {
      isDead = true;
    },
    get waiting() {
      return queue.length;
    },
  };
}
