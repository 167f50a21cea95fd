import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { findChromium, launchChromium } from "../console/browser.ts";
import { findPostgres, startPostgres } from "../harness/engines/postgres.ts";
import { secondsSince, useNewcomer } from "./newcomer.ts";

setDefaultTimeout(180_000);

const chromium = findChromium();
const postgres = chromium === undefined ? undefined : await startPostgres();
afterAll(() => postgres?.stop());

describe.skipIf(postgres === undefined)("a newcomer with the page on transactions and an empty folder", () => {
  const { port = 0, url = "" } = postgres ?? {};
  const { blocks, run, step, openDemo } = useNewcomer("docs/how-to/send-from-a-transaction.md", {
    env: {
      PGHOST: "127.0.0.1",
      PGPORT: `${port}`,
      PGUSER: "herald",
      PATH: `${findPostgres()}:${process.env.PATH}`,
    },
    addresses: { "postgres://localhost": url },
  });
  const [sql = ""] = blocks.flatMap(({ how, text }) => (how === "outbox" ? [text] : []));
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(() => browser.close());

  test("sees in the browser what a transaction sends when it is committed, and nothing of one that is not", async () => {
    const beganAt = performance.now();
    expect(await run(step("database")).ended).toBe(0);
    await run(step("server")).waitFor(/"msg":"listening"/, 30_000);
    const bob = await openDemo(browser);
    const psql = (text: string) => run(`psql --set ON_ERROR_STOP=1 shop <<'END'\n${text}\nEND`).ended;
    expect(await psql(sql.replace("Paid: thank you!", "Never paid").replace("COMMIT", "ROLLBACK"))).toBe(0);
    const sentAt = performance.now();
    expect(await psql(sql)).toBe(0);
    const paid = bob.getByText("Paid: thank you!");
    await paid.first().waitFor();
    console.log(
      `the first transaction: ${secondsSince(beganAt)} s from the first step, ${secondsSince(sentAt)} s from psql`,
    );
    expect([await paid.count(), await bob.getByText("Never paid").count()]).toEqual([1, 0]);
  });
});
