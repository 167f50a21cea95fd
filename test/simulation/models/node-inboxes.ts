import type { LogEvent } from "../../../src/contract/log/log-event.ts";
import type { LogTransaction, LogWriter } from "../../../src/store/log/log-writer.ts";
import { beginning } from "../../../src/store/log/past.ts";
import type { Row } from "../../../src/store/sql/driver.ts";
import type { Random } from "../../harness/random.ts";
import type { Climate } from "../climate.ts";
import type { Product } from "../product.ts";
import type { Database } from "./database.ts";
import { pause } from "./time.ts";

/** What a part of a node that writes to the simulated database is made of. */
export type NodeOptions = {
  product: Product;
  database: Database;
  random: Random;
  climate: Climate;
  now(): number;
  isAlive(): boolean;
  /** Asks the database; its answer comes later. */
  ask<Answer>(look: () => Answer): Promise<Answer>;
  /** Called with what a commit has told. */
  onCommit(events: LogEvent[]): void;
  /** What a commit fails with. */
  fault(): Error;
};

type MarkRow = Row & { org: string; uid: string; marks: string };

/** The inboxes of users on a node: the product's, on the simulated database. */
export function createNodeInboxes(options: NodeOptions): ReturnType<Product["createInboxes"]> {
  const { product, database, now, ask } = options;
  const { marks, items, newest, count, places, named, messagesAt } = database.inboxReads;
  return product.createInboxes({
    inboxes: {
      marks: (...of) => ask(() => marks(...of)),
      items: (...of) => ask(() => items(...of)),
      newest: (...of) => ask(() => newest(...of)),
      count: (...of) => ask(() => count(...of)),
      places: (...of) => ask(() => places(...of)),
      named: (...of) => ask(() => named(...of)),
      ...product.createInboxWrites({ writer: createMarkWriter(options) }),
    },
    history: { messagesAt: (...of) => ask(() => messagesAt(...of)) },
    log: { heads: (orgs) => ask(() => database.reads.heads(orgs)) },
    users: { get: neverUsed },
    organizations: { get: neverUsed },
    use: { admitChange: () => () => undefined },
    clock: { now },
  });
}

/** Commits marks under the locks of their organizations, all at once. */
function createMarkWriter({ database, random, climate, isAlive, onCommit, fault }: NodeOptions): LogWriter {
  async function locked<Result>([org, ...others]: readonly string[], work: () => Promise<Result>): Promise<Result> {
    if (org === undefined) return await work();
    return await database.get(org).lock.add("batch", () => locked(others, work));
  }

  function find(table: string, _: readonly string[], keys: readonly Row[]): Row[] {
    if (table === "inbox_mark")
      return keys.flatMap(({ org, uid }) => {
        const marks = database.get(String(org)).inboxMarks.get(String(uid));
        return marks === undefined ? [] : [{ org: String(org), uid: String(uid), marks: JSON.stringify(marks) }];
      });
    return keys.flatMap(({ org, offset }) => {
      const { commits, purgedUpTo } = database.get(String(org));
      const id = Number(offset) > purgedUpTo ? commits[Number(offset)]?.event.id : undefined;
      return id === undefined ? [] : [{ org: String(org), offset: Number(offset), id }];
    });
  }

  async function transact<Result>(
    orgs: readonly string[],
    work: (transaction: LogTransaction) => Promise<Result>,
  ): Promise<Result> {
    const failovers = database.failovers();
    const events: LogEvent[] = [];
    const rows: MarkRow[] = [];
    const heads = new Map(orgs.map((org) => [org, database.get(org).head]));
    const write = async (given: readonly Row[]) => void rows.push(...(given as MarkRow[]));
    const used = {
      heads,
      pastHead: () => beginning, // nothing is imported
      sql: {
        rows: {
          find: async (...of: Parameters<typeof find>) => find(...of),
          insert: (_: string, given: readonly Row[]) => write(given),
          update: (_: string, __: readonly string[], given: readonly Row[]) => write(given),
        },
        lastly: () => undefined,
      },
      emit({ org, uids = [], payload }: Pick<LogEvent, "org" | "uids" | "payload">) {
        const offset = (heads.get(org) ?? 0) + 1;
        heads.set(org, offset);
        events.push(database.prepare(org, offset, { kind: "system_read", uids, payload }));
        return { offset };
      },
    };
    // Marks use nothing else of a transaction; any other call would throw, and fail the seed.
    const result = await work(used as unknown as LogTransaction);
    await pause(random.integer(0, climate.commitMs));
    if (!isAlive() || database.failovers() !== failovers || random.next() < climate.aborts) throw fault();
    for (const org of orgs) {
      const marked = rows
        .filter((row) => row.org === org)
        .map((row) => ({ uid: row.uid, marks: JSON.parse(row.marks) }));
      database.commit(
        org,
        events.filter((event) => event.org === org),
        { marked },
      );
    }
    if (events.length > 0) onCommit(events);
    return result;
  }

  const used: Pick<LogWriter, "transaction"> = {
    transaction: (orgs, work) => locked([...orgs].sort(), () => transact(orgs, work)),
  };
  return used as LogWriter; // as above
}

function neverUsed(): Promise<never> {
  throw new Error("the simulation does not know this");
}
