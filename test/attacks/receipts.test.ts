import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { messageBecomes } from "../harness/reading/reports.ts";
import { useHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const herald = useHerald({
  oneNode: "it looks into the embedded database",
  env: { HERALD_LIMIT_REQUESTS_PER_CONNECTION: "0" },
});

const messages = 20;
const repeats = 12;

/** The number of rows in all tables. */
function countRows(): number {
  using database = new Database(join(herald().dataDir, "herald.db"), { readonly: true });
  const tables = database.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  const sum = tables.map(({ name }) => `(SELECT COUNT(*) FROM "${name}")`).join(" + ");
  return database.query<{ count: number }, []>(`SELECT ${sum} AS count`).get()?.count ?? Number.NaN;
}

describe("repeated acknowledgements of the same messages (row 7)", () => {
  test("are stored once per message and user", async () => {
    const org = await createOrganization(herald());
    const [cid, other] = [await org.conversation(["alice", "bob"]), await org.conversation(["alice", "bob"])];
    const ids: string[] = [];
    for (let count = 0; count < messages; count++) {
      const { server_mid } = await org.sent("alice", { cid, body: `${count}` });
      ids.push(server_mid);
    }
    using bob = await org.socket("bob");

    /**
     * Repeats a request, and waits until its effect is stored: a later acknowledgement is stored later. Returns the
     * number of rows added.
     */
    async function rowsOf(ask: () => Promise<unknown>): Promise<number> {
      const before = countRows();
      for (let count = 0; count < repeats; count++) {
        await ask();
        const { server_mid } = await org.sent("alice", { cid: other, body: `round ${count}` });
        expect(await bob.request("ack", { ids: [server_mid] })).toMatchObject({ success: true });
        await messageBecomes(org, server_mid, { acknowledged_users: 1 });
      }
      return countRows() - before;
    }

    const acknowledge = async () => expect(await bob.request("ack", { ids })).toMatchObject({ success: true });
    await rowsOf(acknowledge);
    for (const id of ids) await messageBecomes(org, id, { acknowledged_users: 1 });
    const without = await rowsOf(async () => undefined);
    expect(await rowsOf(acknowledge)).toBeLessThan(without + repeats / 2);
  });
});
