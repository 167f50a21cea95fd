import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { readPage, root } from "../docs/markdown.ts";
import { type Started, start } from "../docs/process.ts";
import { createFreshCopy, readersEnvironment, type Workspace } from "../docs/workspace.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { hasRegistry } from "../harness/engines/installed.ts";

setDefaultTimeout(180_000);

const { blocks } = readPage("docs/how-to/push-notifications.md");

describe.skipIf(!hasRegistry())("a newcomer with the page on push notifications and an empty folder", () => {
  const [herald, receiver] = [String(freePort()), String(freePort())];
  const env = readersEnvironment({ HERALD_PORT: herald, PORT: receiver });
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
    copy[Symbol.dispose]();
  });

  /** Runs blocks of the page in one shell. */
  function run(...steps: string[]): Started {
    const texts = steps.map((step) => {
      const block = blocks.find(({ how, argument }) => how === "page" && argument === step);
      if (block === undefined) throw new Error(`the page has no step ${step}`);
      return block.text
        .replaceAll("127.0.0.1:7070", `127.0.0.1:${herald}`)
        .replaceAll("127.0.0.1:3000", `127.0.0.1:${receiver}`);
    });
    const child = start(["bash", "-euo", "pipefail", "-c", texts.join("\n")], { cwd: clone, env });
    started.push(child);
    return child;
  }

  test("sees who was not reached, in a call that Herald has signed", async () => {
    const beganAt = performance.now();
    await run("server").waitFor(/"msg":"listening"/, 30_000);
    const backend = run("webhook", "receiver");
    await backend.waitFor(/listening on/, 90_000);
    const sentAt = performance.now();
    const sent = run("send");
    expect(await sent.ended).toBe(0);
    await backend.waitFor(/^message\.unreached: .*bob/m, 30_000);
    const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(1);
    console.log(`the first signed call: ${seconds(beganAt)} s from the first step, ${seconds(sentAt)} s from the send`);
  });
});
