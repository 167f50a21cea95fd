import { expect, test } from "bun:test";
import { SQL } from "bun";
import { readPage } from "../docs/markdown.ts";
import { eventually } from "../harness/deadline.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";

const postgres = await startPostgres({ settings: { max_prepared_transactions: "4" } });

test.skipIf(postgres === undefined)(
  "a transaction that is prepared sends when it is committed, if it says so",
  async () => {
    using server = postgres && { ...postgres, [Symbol.dispose]: postgres.stop };
    if (server === undefined) return;
    const url = await server.createDatabase();
    await using sql = new SQL(url, { max: 1 });
    await sql.unsafe((await runHerald(["outbox", "sql"])).stdout);
    await using herald = await startHerald({ env: { HERALD_OUTBOX_URL: url } });
    const org = await createOrganization(herald, "demo");
    await org.conversation(["alice", "bob"], "welcome");
    using bob = await org.socket("bob");
    const example =
      readPage("docs/how-to/send-from-a-transaction.md").blocks.find(({ how }) => how === "prepared")?.text ?? "";
    const notifying = example.replace(/^SET LOCAL .*\n/m, "");
    expect([example.includes("PREPARE TRANSACTION 'order-4711'"), notifying.includes("SET")]).toEqual([true, false]);

    await expect(sql.unsafe(notifying)).rejects.toThrow("LISTEN, UNLISTEN, or NOTIFY");
    await sql.unsafe("ROLLBACK");
    await sql.unsafe(example.replaceAll("order-4711", "order-4712"));
    await sql.unsafe("ROLLBACK PREPARED 'order-4712'");
    await sql.unsafe(example);
    await org.expectNothingElse(bob);
    await sql.unsafe("COMMIT PREPARED 'order-4711'");
    expect((await bob.next()).message?.body).toBe("Paid: thank you!");
    await eventually(async () => {
      const [row] = await sql`SELECT count(*)::int AS count FROM herald.outbox`;
      return row.count === 0 ? true : undefined;
    }, "the outbox to be empty");
    await org.expectNothingElse(bob);
    await herald.stop();
  },
);
