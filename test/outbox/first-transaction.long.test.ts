import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findChromium, launchChromium } from "../console/browser.ts";
import { readPage, root } from "../docs/markdown.ts";
import { type Started, start } from "../docs/process.ts";
import { createFreshCopy, readersEnvironment, type Workspace } from "../docs/workspace.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { findPostgres, startPostgres } from "../harness/engines/postgres.ts";

setDefaultTimeout(120_000);

const { blocks } = readPage("docs/how-to/send-from-a-transaction.md");
const textOf = (language: string, how: string, argument = ""): string => {
  const block = blocks.find((one) => one.language === language && one.how === how && one.argument === argument);
  if (block === undefined) throw new Error(`the page has no block ${language} ${how} ${argument}`);
  return block.text;
};

const chromium = findChromium();
const postgres = await startPostgres();

describe.skipIf(chromium === undefined || postgres === undefined)(
  "a newcomer with the page and an empty folder",
  () => {
    if (chromium === undefined || postgres === undefined) return;
    const port = String(freePort());
    const env = readersEnvironment({
      HERALD_PORT: port,
      PGHOST: "127.0.0.1",
      PGPORT: String(postgres.port),
      PGUSER: "herald",
      PATH: `${findPostgres()}:${process.env.PATH}`,
    });
    const started: Started[] = [];
    let copy: Workspace;
    let clone: string;

    beforeAll(() => {
      copy = createFreshCopy("herald");
      clone = join(copy.folder, "herald");
      symlinkSync(join(root, "node_modules"), join(clone, "node_modules")); // as after `npm ci`
    });
    afterAll(async () => {
      await Promise.all(started.map((child) => child.stop()));
      postgres.stop();
      copy[Symbol.dispose]();
    });

    function run(script: string): Started {
      const text = script.replaceAll("postgres://localhost", postgres?.url ?? "");
      const child = start(["bash", "-euo", "pipefail", "-c", text], { cwd: clone, env });
      started.push(child);
      return child;
    }

    async function runToTheEnd(script: string): Promise<void> {
      const child = run(script);
      if ((await child.ended) !== 0) throw new Error(`${script} failed:\n${child.output}`);
    }

    test("sees what a transaction sends in the browser, and not what it takes back", async () => {
      const beganAt = performance.now();
      await runToTheEnd(textOf("sh", "page", "database"));
      await run(textOf("sh", "page", "server")).waitFor(/"msg":"listening"/, 30_000);
      const browser = await launchChromium(chromium);
      try {
        const page = await browser.newPage();
        await page.goto(`http://127.0.0.1:${port}/console/demo`);
        await page.getByLabel("Admin API key").fill(readFileSync(join(clone, "data/admin-api-key"), "utf8").trim());
        await page.keyboard.press("Enter");
        const bob = page.getByRole("region", { name: "Bob" });
        await bob.getByRole("status").filter({ hasText: "online" }).waitFor();
        const paid = bob.getByText("Paid: thank you!");

        const transaction = textOf("sql", "outbox");
        writeFileSync(join(clone, "back.sql"), transaction.replace("COMMIT", "ROLLBACK"));
        writeFileSync(join(clone, "pay.sql"), transaction);
        await runToTheEnd("psql shop --set ON_ERROR_STOP=1 -f back.sql");
        const sentAt = performance.now();
        await runToTheEnd("psql shop --set ON_ERROR_STOP=1 -f pay.sql");
        await paid.first().waitFor();
        const now = performance.now();
        expect(await paid.count()).toBe(1);
        const seconds = (from: number) => ((now - from) / 1000).toFixed(1);
        console.log(
          `a transaction in the browser: ${seconds(beganAt)} s from the first step, ${seconds(sentAt)} s from psql`,
        );
      } finally {
        await browser.close();
      }
    });
  },
);
