import { expect, setDefaultTimeout, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { startNats } from "../harness/engines/nats.ts";
import { startPostgres } from "../harness/engines/postgres.ts";
import { readPage } from "./markdown.ts";
import { start } from "./process.ts";
import { createWorkspace, readersEnvironment, writeSnippet } from "./workspace.ts";

setDefaultTimeout(120_000);

const postgres = await startPostgres();
const nats = await startNats();
if (postgres !== undefined && nats !== undefined) {
  test("the command and the settings of the page about clusters start workers, apart from the servers' addresses", async () => {
    const { blocks } = readPage("docs/how-to/run-a-cluster.md");
    const command = blocks.find(({ text }) => text.includes("--workers"))?.text ?? "";
    const settings = blocks.find(({ how }) => how === "settings")?.text ?? "";
    const here = settings
      .replace(/^(HERALD_DATABASE_URL)=.+$/m, `$1=${await postgres.createDatabase()}`)
      .replace(/^(HERALD_BUS_URL)=.+$/m, `$1=${nats.url}`)
      .replace(/^(HERALD_HOST)=.+$/m, "$1=127.0.0.1");
    using workspace = createWorkspace();
    writeSnippet(workspace, "herald.env", here);
    const secrets = blocks.find(({ text }) => text.includes("/dev/urandom"))?.text ?? "";
    execFileSync("bash", ["-c", secrets], { cwd: workspace.folder });
    const env = { HERALD_PORT: "0", HERALD_DATA_DIR: join(workspace.folder, "data") };
    const herald = start(["bash", "-c", command], { cwd: workspace.folder, env: readersEnvironment(env) });
    try {
      await herald.waitFor(/"workers":4,"msg":"listening"/, 30_000);
      expect(herald.output).not.toContain("generated secrets that nodes with another data folder");
      await herald.stop();
      expect(herald.output).toMatch(/\n\{[^\n]*Z","msg":"stopped"\}\n/); // from the parent process
    } finally {
      await herald.stop();
      await nats.stop();
      postgres.stop();
    }
  });
}
