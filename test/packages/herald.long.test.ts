import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "../docs/process.ts";
import { readersEnvironment } from "../docs/workspace.ts";
import { hasRegistry } from "../harness/engines/installed.ts";
import { packHerald, type Tarball } from "./project.ts";

setDefaultTimeout(120_000);

describe.if(hasRegistry())("the packed server", () => {
  let tarball: Tarball;
  const folder = mkdtempSync(join(tmpdir(), "herald-npx-"));
  beforeAll(() => {
    tarball = packHerald();
  });
  afterAll(() => {
    tarball[Symbol.dispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test("runs by npx in an empty folder, with its console and its documentation", async () => {
    const server = start(["npx", "--yes", "--prefer-offline", "--package", tarball.file, "herald", "serve"], {
      cwd: folder,
      env: readersEnvironment({ HERALD_PORT: "0", npm_config_audit: "false", npm_config_fund: "false" }),
    });
    try {
      await server.waitFor(/"msg":"listening"/, 90_000);
      const url = /"url":"(http:[^"]+?)\/?"/.exec(server.output)?.[1] ?? "";
      for (const path of ["/healthz", "/docs", "/openapi.json", "/console", "/llms.txt", "/docs/how-to/receive.md"]) {
        const response = await fetch(url + path);
        expect([path, response.status]).toEqual([path, 200]);
        await response.text();
      }
      const page = await (await fetch(`${url}/console`)).text();
      const script = /src="(\/console\/[^"]+\.js)"/.exec(page)?.[1] ?? "";
      expect((await fetch(url + script)).status).toBe(200);
    } finally {
      await server.stop();
    }
  });
});
