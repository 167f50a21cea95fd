import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { $, SQL } from "bun";
import { readPage } from "../docs/markdown.ts";
import { eventually } from "../harness/deadline.ts";
import { findGo } from "../harness/engines/go.ts";
import { hasRegistry } from "../harness/engines/installed.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { findPython, keepEnvironment } from "../harness/engines/python.ts";
import { type Herald, runHerald, startHerald } from "../harness/servers/herald.ts";
import { createOrganization, type Organization } from "../harness/servers/organization.ts";
import { createProject } from "../packages/project.ts";

setDefaultTimeout(180_000);

const { blocks } = readPage("docs/how-to/send-from-a-transaction.md");
const programs = (language: string) =>
  blocks.filter((block) => block.language === language && block.how === "outbox").map(({ text }) => text);
const [transaction = "", lookAtRefused = "", sendAgain = ""] = programs("sql");

const settings = `
from django.conf import settings
import os, django
from urllib.parse import urlparse
url = urlparse(os.environ["SHOP_URL"])
settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": url.path[1:], "USER": url.username,
  "PASSWORD": url.password or "", "HOST": url.hostname, "PORT": url.port}})
django.setup()
`;

const postgres = await startPostgres();
const [go, python] = [await findGo(), await findPython()];
const isReachable = hasRegistry();

describe.skipIf(postgres === undefined)("the outbox's examples send from their transactions:", () => {
  if (postgres === undefined) return;
  let shop: string;
  let herald: Herald;
  let org: Organization;
  const folder = mkdtempSync(join(tmpdir(), "herald-outbox-"));

  beforeAll(async () => {
    shop = await postgres.createDatabase();
    await using sql = new SQL(shop, { max: 1 });
    await sql.unsafe((await runHerald(["outbox", "sql"])).stdout);
    await sql.unsafe("CREATE TABLE orders (customer text, total int)");
    herald = await startHerald({ env: { HERALD_OUTBOX_URL: shop } });
    org = await createOrganization(herald, "demo");
    await org.conversation(["alice", "bob"], "welcome");
  });
  afterAll(async () => {
    await herald[Symbol.asyncDispose]();
    postgres.stop();
    rmSync(folder, { recursive: true });
  });

  /** Runs an example, and expects that its message is heard, and its order stored. */
  async function expectHeard(run: () => Promise<unknown>): Promise<void> {
    await using sql = new SQL(shop, { max: 1 });
    await sql`DELETE FROM orders`;
    using bob = await org.socket("bob");
    await run();
    expect((await bob.next()).message?.body).toBe("Paid: thank you!");
    expect([...(await sql`SELECT customer, total FROM orders`)]).toEqual([{ customer: "bob", total: 4200 }]);
    await org.expectNothingElse(bob);
  }

  test("SQL", async () => {
    await using sql = new SQL(shop, { max: 1 });
    await expectHeard(() => sql.unsafe(transaction));
    expect([...(await sql.unsafe(lookAtRefused))]).toEqual([]);
  });

  test("SQL that sends again what was refused", async () => {
    await using sql = new SQL(shop, { max: 1 });
    await org.leave("welcome", "alice");
    await sql.unsafe(transaction);
    const refused = await eventually(async () => (await sql.unsafe(lookAtRefused))[0], "the row to be refused");
    expect(refused).toMatchObject({ organization: org.id, code: "sender_not_participant" });
    await org.join("welcome", "alice");
    await expectHeard(async () => {
      await sql.unsafe(sendAgain);
      await sql`INSERT INTO orders VALUES ('bob', 4200)`;
    });
    expect([...(await sql.unsafe(lookAtRefused))]).toEqual([]);
  });

  test.skipIf(!isReachable)("Drizzle", async () => {
    const [program = ""] = programs("ts");
    using project = createProject({ "pay.ts": program }, { "drizzle-orm": "0.45.4", pg: "8.23.1" });
    await expectHeard(async () => project.run([process.execPath, "pay.ts"], { SHOP_URL: shop }));
  });

  test.skipIf(python === undefined)("Django", async () => {
    const own = await keepEnvironment(python ?? "", join(import.meta.dir, "requirements.txt"));
    const program = join(folder, "pay.py");
    writeFileSync(program, [settings, ...programs("python"), 'pay("bob", 4200)'].join("\n"));
    await expectHeard(() => $`${own} ${program}`.env({ ...process.env, SHOP_URL: shop }).quiet());
  });

  test.skipIf(go === undefined)("Go", async () => {
    const [program = ""] = programs("go");
    writeFileSync(join(folder, "main.go"), program);
    writeFileSync(
      join(folder, "go.mod"),
      "module example.org/shop\n\ngo 1.24\n\nrequire github.com/jackc/pgx/v5 v5.7.6\n",
    );
    const env = { ...process.env, SHOP_URL: shop, GOFLAGS: "-mod=mod", GOTOOLCHAIN: "local" };
    const built = join(folder, "shop");
    await $`${go} build -o ${built} .`.cwd(folder).env(env).quiet();
    await expectHeard(() => $`${built}`.env(env).quiet());
  });
});
