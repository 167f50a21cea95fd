import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { findChromium, launchChromium } from "../console/browser.ts";
import { readPage, root } from "../docs/markdown.ts";
import { type Started, start } from "../docs/process.ts";
import { createFreshCopy, readersEnvironment, type Workspace } from "../docs/workspace.ts";
import { eventually } from "../harness/deadline.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { hasRegistry } from "../harness/engines/installed.ts";

setDefaultTimeout(120_000);

const chromium = findChromium();

/** The pages that lead to a web page of another origin, the files that its reader saves, and what serves it unless a step does. */
const guides = [
  { path: "README.md", files: ["main.ts", "index.html"], serve: "npx vite --port 5173 --strictPort" },
  { path: "docs/how-to/receive.md", files: ["index.html"] },
];

describe.if(chromium !== undefined && hasRegistry()).each(guides)(
  "the steps of $path to a page",
  ({ path, files, serve }) => {
    const steps = readPage(path).blocks.filter(({ how }) => how === "page");
    const stepOf = (name: string): string => {
      const step = steps.find(({ argument }) => argument === name);
      if (step === undefined) throw new Error(`${path} has no step ${name}`);
      return step.text;
    };
    const heraldPort = String(freePort());
    const pagePort = String(freePort());
    const elsewhere = (text: string) => text.replaceAll(":7070", `:${heraldPort}`).replaceAll("5173", pagePort);
    const started: Started[] = [];
    let copy: Workspace;
    let clone: string;
    let browser: Browser;

    function run(script: string, cwd: string): Started {
      const env = readersEnvironment({ HERALD_PORT: heraldPort, npm_config_prefer_offline: "true" });
      const child = start(["bash", "-euc", elsewhere(script)], { cwd, env });
      started.push(child);
      return child;
    }

    async function runToTheEnd(script: string, cwd: string): Promise<void> {
      const child = run(script, cwd);
      if ((await child.ended) !== 0) throw new Error(`${script} failed:\n${child.output}`);
    }

    beforeAll(async () => {
      copy = createFreshCopy("herald");
      clone = join(copy.folder, "herald");
      symlinkSync(join(root, "node_modules"), join(clone, "node_modules")); // as after `npm ci`
      browser = await launchChromium(chromium ?? "");
    });
    afterAll(async () => {
      await browser.close();
      await Promise.all(started.map((child) => child.stop()));
      copy[Symbol.dispose]();
    });

    test("show a message in it, and with another origin, what to do", async () => {
      await run(stepOf("server"), clone).waitFor(/"msg":"listening"/, 30_000);
      await runToTheEnd(stepOf("setup"), clone);
      const folder = join(clone, "../page");
      for (const name of files) writeFileSync(join(folder, name), elsewhere(stepOf(name)));
      if (serve === undefined) run(stepOf("serve"), clone);
      else run(serve, folder);

      const page = await browser.newPage();
      await eventually(() => page.goto(`http://localhost:${pagePort}`).catch(() => undefined), "the page is served");
      await page.getByText("connected").waitFor();
      await runToTheEnd(stepOf("send"), clone);
      await page.getByText("alice Hello, page").waitFor();

      await page.goto(`http://elsewhere.localhost:${pagePort}`);
      await page.getByText("HERALD_ALLOWED_ORIGINS").waitFor();
      expect(await page.getByText("alice").count()).toBe(0);
    });
  },
);
