import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config.ts";
import { startHerald } from "../../src/server.ts";

/** The routes of a node, as reported at run time: `GET /admin/organizations/{org}`; `ALL` is any method. */
export async function servedRoutes(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "herald-routes-"));
  const settings = { HERALD_PORT: "0", HERALD_DATA_DIR: folder, HERALD_LOG_LEVEL: "silent" };
  const node = await startHerald(loadConfig(settings));
  await node.stop();
  rmSync(folder, { recursive: true, force: true });
  return node.routes.map((route) => route.replaceAll(/:(\w+)/g, "{$1}"));
}
