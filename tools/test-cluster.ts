// Runs the tests of the contract and of its security again, against three nodes on PostgreSQL and NATS instead of one
// with an embedded database: calls and connections go to the nodes in turn. `npm run test:cluster` runs all, `npm run
// test:cluster -- sse since` two files. With `--workers`, the nodes are three processes on one embedded database.
import { parseArgs } from "node:util";
import { spawn } from "bun";
import { startNats } from "../test/harness/engines/nats.ts";
import { plannedOnce, startPostgres } from "../test/harness/engines/postgres.ts";
import { sourceFiles } from "./checks/source-files.ts";

/**
 * Files that are not run, each with the reason. Others that need a single node say so themselves: `useHerald({ oneNode:
 * … })`.
 */
const leftOut: Readonly<Record<string, string>> = {
  "test/contract/settings.long.test.ts":
    "how one node reads its settings, its data folder and its port, and starts again on them",
  "test/contract/sessions/token-provider.long.test.ts":
    "the settings of one node, which starts again on its data folder with another secret",
  "test/contract/keys/keys-changes.long.test.ts":
    "the files of one node, and its own changes, which it knows at once; of the others: test/cluster/keys.long.test.ts",
  "test/contract/changes/text-is-gone.test.ts": "the files of the embedded database",
  "test/contract/backup.long.test.ts": "the embedded database, which is a file",
  "test/contract/lost-database.long.test.ts": "the files of the embedded database",
  "test/contract/full-disk.long.test.ts": "the disk of the embedded database",
  "test/contract/doctor.test.ts":
    "one node on an embedded database; of a cluster: test/cluster/nodes/doctor.long.test.ts",
  "test/contract/proposals/proposal-expiry.long.test.ts": "steps the clock of one node with its embedded database",
  "test/contract/gauges.long.test.ts": "starts a node on each kind of database by itself",
  "test/security/injection.long.test.ts": "starts one node and three by itself",
  "test/security/erased-text.long.test.ts":
    "the files of the embedded database; of PostgreSQL: erased-text-postgres.long.test.ts",
  "test/security/removed-text.long.test.ts": "starts nodes on each kind of database by itself, one after another",
  "test/security/redaction.test.ts": "all that one node writes, its embedded database too",
  "test/security/secrets.long.test.ts": "all that one node writes, its embedded database too",
};

const { values, positionals: wanted } = parseArgs({
  options: { workers: { type: "boolean", default: false } },
  allowPositionals: true,
});
const files = sourceFiles(["test/contract", "test/security"]).filter(
  (file) =>
    file.endsWith(".test.ts") &&
    !Object.hasOwn(leftOut, file) &&
    (wanted.length === 0 || wanted.some((word) => file.includes(word))),
);

for (const [file, reason] of Object.entries(leftOut)) console.log(`left out: ${file}: ${reason}`);
if (values.workers) process.exit(await run({ TEST_WORKERS: "3" }));

const postgres = await startPostgres({ settings: { ...plannedOnce, fsync: "off" } }); // it outlives what runs on it
const nats = await startNats();
if (postgres === undefined || nats === undefined) process.exit(0);
const code = await run({ TEST_POSTGRES_URL: postgres.url, TEST_NATS_URL: nats.url });
await nats.stop();
postgres.stop();
process.exit(code);

/** Runs the files, and resolves with the exit code. */
async function run(env: Record<string, string>): Promise<number> {
  const tests = spawn(
    [process.execPath, "test", "--timeout=120000", "--parallel=3", ...files.map((file) => `./${file}`)],
    { env: { ...process.env, ...env }, stdio: ["inherit", "inherit", "inherit"] },
  );
  // Ctrl-C reaches the tests directly; the servers end after them.
  process.on("SIGINT", () => undefined).on("SIGTERM", () => tests.kill());
  return await tests.exited;
}
