import { unavailable } from "../../../src/contract/errors/errors.ts";
import type { createSendLog } from "../../../src/store/log/send-log.ts";
import type { NewSend, SendLog, SendOutcome } from "../../../src/store/ports.ts";
import type { Random } from "../../harness/random.ts";
import { pause } from "../models/time.ts";

/** A stored send, in the order of commits. */
export type StoredSend = { org: string; mid: string; id: string; at: number };

/** The database that all nodes share. */
export type Stored = { readonly sends: StoredSend[]; readonly byMid: Map<string, StoredSend> };

/** A node's log of sends: the product's group commit, on a model of the database that commits like PostgreSQL. */
export type LogModel = Pick<SendLog, "append"> & {
  /** `kill -9`: what waits gets no outcome any more. */
  kill(): void;
  /** The number of sends without an outcome. */
  readonly waiting: number;
};

type Options = {
  createLog: typeof createSendLog;
  random: Random;
  stored: Stored;
  now(): number;
  /** How often a commit fails, half of them after all was stored. */
  failures: number;
};

const sendsOfCommit = 64;
const commitsAtOnce = 3;
const longestCommitMs = 20;

/** Creates the database. */
export function createStored(): Stored {
  return { sends: [], byMid: new Map() };
}

/** Creates the log of one node. */
export function createLogModel({ createLog, random, stored, now, failures }: Options): LogModel {
  let isDead = false;
  let waiting = 0;

  function store({ org, mid = "", id, createdAt }: NewSend): SendOutcome {
    const before = stored.byMid.get(mid);
    if (before !== undefined) return { outcome: "replayed", id: before.id, createdAt: before.at };
    const send = { org, mid, id, at: now() };
    stored.sends.push(send);
    stored.byMid.set(mid, send);
    return { outcome: "stored", id, createdAt, offset: stored.sends.length };
  }

  async function dieIfKilled(): Promise<void> {
    if (isDead) await new Promise(() => undefined);
  }

  async function appendAll(sends: NewSend[]): Promise<SendOutcome[]> {
    await dieIfKilled();
    await pause(random.integer(1, longestCommitMs));
    if (random.next() < 0.5) await dieIfKilled();
    const fails = random.next() < failures;
    const outcomes = fails && random.next() < 0.5 ? [] : sends.map(store);
    await pause(random.integer(0, 2)); // on its way back
    await dieIfKilled();
    if (fails) throw unavailable();
    return outcomes;
  }

  const log = createLog({
    log: { appendAll, check: unused },
    announce: () => undefined,
    batchSize: sendsOfCommit,
    overlap: { depth: commitsAtOnce, byKey: true },
  });
  return {
    async append(send) {
      waiting++;
      try {
        return await log.append(send);
      } finally {
        waiting--;
      }
    },
    kill() {
      isDead = true;
    },
    get waiting() {
      return waiting;
    },
  };
}

async function unused(): Promise<never> {
  throw new Error("no world has a dry run");
}
