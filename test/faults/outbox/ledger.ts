import { SQL } from "bun";
import type { ListedMessage } from "../../harness/clients/wire.ts";
import { eventually } from "../../harness/deadline.ts";
import type { ClusterNode } from "../../harness/servers/cluster.ts";
import { runHerald } from "../../harness/servers/herald.ts";
import { createOrganization, type Organization, readList } from "../../harness/servers/organization.ts";
import { judgeOutbox, type WrittenRow } from "./judge.ts";
import { isWriters, ordersTable, startWriters, type Target, type Writers } from "./writers.ts";

const sentWithinMs = 120_000;
const messagesPerPage = 1_000;

/** What writers committed, and what became of it, over all rounds of a scenario. */
export type Ledger = {
  /** Lets writers write until `check`. `org` has a conversation `room`, to which "the sender" sends. */
  write(org: Organization, seed: number): Promise<Writers>;
  /** Ends the writers, waits until the outbox is empty, and rejects with what is wrong with everything so far. */
  check(): Promise<{ rows: number; unknown: number }>;
};

const sender = "the sender";
const ownOrganizations = 3;
const cid = "orders";

type Reader = () => Promise<[org: string, bodies: string[]]>;

/** Creates the outbox in the database, and a ledger of it. */
export async function openLedger(url: string, nodes: readonly ClusterNode[]): Promise<Ledger> {
  await use(async (sql) => {
    await sql.unsafe((await runHerald(["outbox", "sql"])).stdout);
    await sql.unsafe(ordersTable);
  });
  const rows: WrittenRow[] = [];
  const readers: Reader[] = [];
  const targets: Target[] = [];
  let writers: Writers | undefined;

  async function use<Result>(run: (sql: SQL) => Promise<Result>): Promise<Result> {
    const sql = new SQL(url, { max: 1 });
    try {
      return await run(sql);
    } finally {
      await sql.close({ timeout: 0 });
    }
  }

  /** Two writers share each organization, so that its rows are written at the same time, too. */
  async function add(org: Organization, conversation: string): Promise<void> {
    const target = { org: org.id, cid: conversation, sender };
    targets.push(target, target);
    readers.push(await createReader(org, conversation));
  }

  return {
    async write(org, seed) {
      if (targets.length === 0) {
        const [first] = nodes;
        if (first === undefined) throw new Error("a ledger without a node");
        await add(org, "room");
        for (let count = 0; count < ownOrganizations; count += 1) {
          const own = await createOrganization(first.herald);
          await own.conversation([sender], cid);
          await add(own, cid);
        }
      }
      writers = startWriters({ url, targets, seed });
      return writers;
    },
    async check() {
      rows.push(...((await writers?.stop()) ?? []));
      const isEmpty = (sql: SQL) => async () => {
        const [row] = await sql`SELECT count(*)::int AS count FROM herald.outbox`;
        return row.count === 0 || undefined;
      };
      await use((sql) => eventually(isEmpty(sql), "the outbox to be empty", sentWithinMs));
      const kept = await use(
        async (sql) => new Set<string>((await sql`SELECT body FROM orders`).map(({ body }: { body: string }) => body)),
      );
      const refused = await use((sql) => sql`SELECT problem FROM herald.outbox_refused LIMIT 3`);
      const messages = new Map<string, string[]>();
      for (const read of readers) messages.set(...(await read()));
      const wrong = [
        ...judgeOutbox({ rows, kept, messages }),
        ...refused.map((row: unknown) => `refused: ${JSON.stringify(row)}`),
      ];
      if (wrong.length > 0) throw new Error(`${wrong.length} faults of the outbox: ${wrong.slice(0, 8).join("; ")}`);
      return { rows: kept.size, unknown: rows.filter(({ outcome }) => outcome === "unknown").length };
    },
  };
}

/** Reads what writers sent to a conversation, each time only what is new. */
async function createReader(org: Organization, conversation: string): Promise<Reader> {
  const bodies: string[] = [];
  let after = (await org.sent(sender, { cid: conversation, body: "the first" })).server_mid;
  return async () => {
    const path = org.path("conversations", conversation, "messages");
    const found = await readList<ListedMessage>(org.herald, path, messagesPerPage, `after=${after}`);
    for (const { body } of found) if (isWriters(body)) bodies.push(body);
    after = found.at(-1)?._id ?? after;
    return [org.id, bodies];
  };
}
