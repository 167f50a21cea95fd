import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findChromium, launchChromium } from "../console/browser.ts";
import { start } from "../docs/process.ts";
import { readersEnvironment } from "../docs/workspace.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { hasRegistry } from "../harness/engines/installed.ts";
import { startHerald } from "../harness/servers/herald.ts";
import { createOrganization } from "../harness/servers/organization.ts";
import { createProject, type Project, packSdk, type Tarball } from "./project.ts";

setDefaultTimeout(120_000);

const folder = "examples/react";
const mostLines = 180;
const chromium = findChromium();

describe.if(hasRegistry() && chromium !== undefined)("the example in React", () => {
  let tarball: Tarball;
  let project: Project;
  beforeAll(() => {
    tarball = packSdk();
    const files = Object.fromEntries(
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
    );
    const { "package.json": manifest = "{}", ...rest } = files;
    const { dependencies, devDependencies } = JSON.parse(manifest);
    project = createProject(rest, { ...dependencies, ...devDependencies, "@herald/sdk": tarball.file });
  });
  afterAll(() => {
    project[Symbol.dispose]();
    tarball[Symbol.dispose]();
  });

  test("is shorter than 180 lines", () => {
    const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"));
    expect(lines.length).toBeLessThan(mostLines);
  });

  test("is built by Vite, and shows a conversation from another origin, with edits and recalls", async () => {
    const port = freePort();
    const origin = `http://127.0.0.1:${port}`;
    await using herald = await startHerald({ env: { HERALD_ALLOWED_ORIGINS: origin } });
    const org = await createOrganization(herald);
    const cid = await org.conversation(["alice", "bob"], "room");
    const first = (await org.sent("alice", { cid, body: "first" })).server_mid;
    const second = (await org.sent("alice", { cid, body: "second" })).server_mid;
    await org.sentSystem("alice", { id: "paid", uids: ["bob"], keep_days: 7, x: { text: "sent while away" } });
    const vite = ["node_modules/.bin/vite"];
    project.run([...vite, "build", "--logLevel", "warn"], { HERALD_URL: herald.url });
    const preview = start([...vite, "preview", "--host", "127.0.0.1", "--port", `${port}`, "--strictPort"], {
      cwd: project.folder,
      env: readersEnvironment({ HERALD_URL: herald.url, HERALD_ADMIN_API_KEY: herald.key, HERALD_ORG: org.id }),
    });
    const browser = await launchChromium(chromium ?? "");
    try {
      await preview.waitFor(/Local:/, 60_000);
      const page = await browser.newPage();
      await page.goto(`${origin}/?user=bob`);
      await page.getByText("bob is connected").waitFor();
      await page.getByText("Inbox (1)").click();
      await page.getByText('{"text":"sent while away"} new').waitFor();
      await page.getByRole("button", { name: "Mark all as read" }).click();
      await page.getByText("Inbox (1)").waitFor({ state: "detached" });
      await page.getByText("new", { exact: true }).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "room (2)" }).click();
      await page.getByText("second").waitFor();
      await org.edited("alice", { id: second, body: "changed" });
      await page.getByText("changed edited").waitFor();
      await org.recalled("alice", cid, first);
      await page.getByText("first").waitFor({ state: "detached" });
      await org.sentSystem("alice", { uids: ["bob"], x: { text: "a notice" } });
      await page.getByText('{"text":"a notice"}').waitFor();
    } finally {
      await browser.close();
      await preview.stop();
      await herald.stop();
    }
  });
});
