import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { type Started, start } from "../../docs/process.ts";
import { readersEnvironment } from "../../docs/workspace.ts";
import { eventually } from "../../harness/deadline.ts";
import { reportMissing } from "../../harness/engines/installed.ts";
import { findNats } from "../../harness/engines/nats.ts";
import { findPostgres } from "../../harness/engines/postgres.ts";

setDefaultTimeout(120_000);

const root = new URL("../../..", import.meta.url).pathname;
const startMs = 60_000;

/** Starts `npm run cluster` like a terminal, and returns what it printed once ready. */
async function startCluster(): Promise<{ process: Started; page: string; folder: string }> {
  const process = start(["npm", "run", "cluster"], { cwd: root, env: readersEnvironment({}) });
  await process.waitFor(/Ctrl-C stops all of it/, startMs);
  const page = process.output;
  return { process, page, folder: dirname(/^ +Logs +(\S+)$/m.exec(page)?.[1] ?? "") };
}

/** Expects that nothing listens at the printed addresses, and that no file is left. */
async function expectNothingLeft(page: string, folder: string): Promise<void> {
  expect(folder).toStartWith(tmpdir());
  await eventually(() => !existsSync(folder) || undefined, "the folder to go");
  const addresses = [...page.matchAll(/\w+:\/\/(?:herald@)?(127\.0\.0\.1):(\d+)/g)].map(([, , port]) => Number(port));
  expect(new Set(addresses).size).toBe(5);
  for (const port of addresses) {
    const attempt = Bun.connect({ hostname: "127.0.0.1", port, socket: { data: () => undefined } });
    await expect(attempt).rejects.toThrow();
  }
}

const isInstalled =
  (findPostgres() ?? reportMissing("PostgreSQL", "postgresql")) !== undefined &&
  (findNats() ?? reportMissing("NATS", "nats-server")) !== undefined;
if (isInstalled) {
  test("npm run cluster: what it prints works when pasted; messages to node 1 are heard on 2 and 3; Ctrl-C leaves nothing", async () => {
    const { process, page, folder } = await startCluster();
    try {
      const commands = [...page.matchAll(/^ +(HERALD_DATA_DIR=\S+ npx herald listen .+)$/gm)].map(
        ([, line = ""]) => line,
      );
      const curl = /^ +(curl (?:.+\\\n)+.+)$/m.exec(page)?.[1] ?? "";
      const nodes = [...page.matchAll(/^ +Node \d +(\S+)/gm)].map(([, url = ""]) => url);
      expect(curl).toStartWith(`curl ${nodes[0]}/admin/message`);
      expect(commands.map((command) => command.split("--url ")[1])).toEqual(nodes.slice(1));

      const environment = { cwd: root, env: readersEnvironment({}) };
      const listeners = commands.map((command) => start(["bash", "-c", command], environment));
      try {
        for (const listener of listeners) await listener.waitFor(/connected to/, startMs);
        const sent = start(["bash", "-c", curl], { ...environment, cwd: tmpdir() });
        expect({ code: await sent.ended, output: sent.output }).toEqual({
          code: 0,
          output: expect.stringMatching(/"ask":\{"mid":"[^"]+","server_mid":"[^"]+","t":\d+\}/),
        });
        for (const listener of listeners) await listener.waitFor(/welcome {2}alice {2}Hello from Herald/, startMs);
      } finally {
        for (const listener of listeners) await listener.stop();
      }
    } finally {
      await process.stop();
    }
    expect(await process.ended).toBe(0);
    await expectNothingLeft(page, folder);
  });

  test("npm run cluster leaves nothing behind when killed", async () => {
    const { process, page, folder } = await startCluster();
    process.kill();
    await process.ended;
    await expectNothingLeft(page, folder);
  });
}
