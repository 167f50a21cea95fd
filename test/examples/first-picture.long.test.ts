import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { findChromium, launchChromium } from "../console/browser.ts";
import { readPage, root } from "../docs/markdown.ts";
import { type Started, start } from "../docs/process.ts";
import { createFreshCopy, readersEnvironment, type Workspace } from "../docs/workspace.ts";
import { freePort } from "../harness/engines/free-port.ts";

setDefaultTimeout(180_000);

const chromium = findChromium();
const commands = readPage("docs/how-to/send-files.md").blocks.filter(({ how }) => how === "run");
const sends = commands.findIndex(({ text }) => text.includes("/admin/message"));

describe.skipIf(chromium === undefined)("a newcomer with the page on files and an empty folder", () => {
  const port = String(freePort());
  const env = readersEnvironment({ HERALD_PORT: port });
  const started: Started[] = [];
  let copy: Workspace;
  let clone: string;
  let browser: Browser;

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

  function run(script: string): Started {
    const text = script.replaceAll("127.0.0.1:7070", `127.0.0.1:${port}`);
    const child = start(["bash", "-euo", "pipefail", "-c", text], { cwd: clone, env });
    started.push(child);
    return child;
  }

  test("sees a picture that curl has sent", async () => {
    const beganAt = performance.now();
    await run("npm start").waitFor(/"msg":"listening"/, 30_000);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/console/demo`);
    await page.getByLabel("Admin API key").fill(readFileSync(join(clone, "data/admin-api-key"), "utf8").trim());
    await page.keyboard.press("Enter");
    const bob = page.getByRole("region", { name: "Bob" });
    await bob.getByRole("status").filter({ hasText: "online" }).waitFor();
    const sentAt = performance.now();
    const sent = run(
      commands
        .slice(0, sends + 1)
        .map(({ text }) => text)
        .join("\n"),
    );
    expect([await sent.ended, sent.output]).toEqual([0, expect.stringContaining('"ask"')]);
    const picture = bob.getByRole("img", { name: "photo.png" });
    await picture.waitFor();
    await page.waitForFunction(
      () => [...document.images].length === 3 && [...document.images].every((image) => image.naturalWidth > 0),
    );
    const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(1);
    console.log(`the first picture: ${seconds(beganAt)} s from the first step, ${seconds(sentAt)} s from the upload`);
  });
});
