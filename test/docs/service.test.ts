import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./markdown.ts";
import { start } from "./process.ts";
import { createWorkspace, readersEnvironment, writeSnippet } from "./workspace.ts";

setDefaultTimeout(20_000);

test("the command of deploy/herald.service starts the server, and SIGINT stops it with 0", async () => {
  const unit = readFileSync(join(root, "deploy/herald.service"), "utf8");
  const command = /^ExecStart=(.+)$/m.exec(unit)?.[1] ?? "";
  using workspace = createWorkspace();
  const settings = writeSnippet(workspace, "herald.env", "HERALD_LOG_LEVEL=info\nHERALD_PORT=0\n");
  const here = command.replaceAll("/opt/herald/", `${root}/`).replace("/etc/herald/herald.env", settings).split(" ");
  const server = start(here, {
    cwd: workspace.folder,
    env: readersEnvironment({ HERALD_DATA_DIR: join(workspace.folder, "data") }),
  });
  try {
    await server.waitFor(/"msg":"listening"/, 10_000);
  } finally {
    expect(await server.stop()).toBe(0);
  }
});
