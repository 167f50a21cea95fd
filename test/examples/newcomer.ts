import { afterAll, beforeAll } from "bun:test";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Locator } from "playwright-core";
import { type Block, readPage, root } from "../docs/markdown.ts";
import { type Started, start } from "../docs/process.ts";
import { createFreshCopy, readersEnvironment, type Workspace } from "../docs/workspace.ts";
import { freePort } from "../harness/engines/free-port.ts";

type Options = {
  /** Variables of the environment, besides the port of the server. */
  env?: Record<string, string>;
  /** What stands for an address of the page, besides that of the server. */
  addresses?: Record<string, string>;
};

/** A newcomer who follows a page of the documentation in a clone, after `npm ci`, for the tests of a `describe`. */
export function useNewcomer(page: string, { env = {}, addresses = {} }: Options = {}) {
  const port = String(freePort());
  const all = { "127.0.0.1:7070": `127.0.0.1:${port}`, ...addresses };
  const environment = readersEnvironment({ HERALD_PORT: port, ...env });
  const { blocks } = readPage(page);
  const started: Started[] = [];
  let copy: Workspace | undefined;

  function clone(): string {
    if (copy === undefined) throw new Error("the clone is there while tests run");
    return join(copy.folder, "herald");
  }

  beforeAll(() => {
    copy = createFreshCopy("herald");
    symlinkSync(join(root, "node_modules"), join(clone(), "node_modules"));
  });
  afterAll(async () => {
    await Promise.all(started.map((child) => child.stop()));
    copy?.[Symbol.dispose]();
  });

  return {
    blocks,
    /** The text of the block with this step of the page. */
    step(name: string): string {
      const block = blocks.find(({ how, argument }: Block) => how === "page" && argument === name);
      if (block === undefined) throw new Error(`the page has no step ${name}`);
      return block.text;
    },
    /** Runs scripts in one shell. */
    run(...scripts: string[]): Started {
      const text = Object.entries(all).reduce((all, [shown, real]) => all.replaceAll(shown, real), scripts.join("\n"));
      const child = start(["bash", "-euo", "pipefail", "-c", text], { cwd: clone(), env: environment });
      started.push(child);
      return child;
    },
    /** Opens the demo page, and resolves with the part of it that is Bob's, once he is online. */
    async openDemo(browser: Browser): Promise<Locator> {
      const tab = await browser.newPage();
      await tab.goto(`http://127.0.0.1:${port}/console/demo`);
      await tab.getByLabel("Admin API key").fill(readFileSync(join(clone(), "data/admin-api-key"), "utf8").trim());
      await tab.keyboard.press("Enter");
      const bob = tab.getByRole("region", { name: "Bob" });
      await bob.getByRole("status").filter({ hasText: "online" }).waitFor();
      return bob;
    },
  };
}

/** Seconds since a time of `performance.now`, to a tenth. */
export function secondsSince(from: number): string {
  return ((performance.now() - from) / 1000).toFixed(1);
}
