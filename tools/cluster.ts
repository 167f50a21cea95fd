// `npm run cluster`: PostgreSQL, NATS and three nodes on this machine, for developers. The process in the terminal only
// holds a pipe; a second one, in a session of its own, keeps the servers until that pipe closes. So Ctrl-C does not
// reach the servers directly, they end in order, and nothing is left behind if the first process is killed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "bun";
import { createOutput } from "../src/cli/output/output.ts";
import { listenCommand, row, sendCommand } from "../src/cli/output/welcome.ts";
import { eventually } from "../test/harness/deadline.ts";
import { freePort } from "../test/harness/engines/free-port.ts";
import { findNats, startNats } from "../test/harness/engines/nats.ts";
import { findPostgres, startPostgres } from "../test/harness/engines/postgres.ts";

const wantedPorts = [7070, 7071, 7072];
const script = join(import.meta.dir, "../src/cli/herald.ts");
const demo = { organization: "demo", users: ["alice", "bob", "carol"], conversation: "welcome" };
const output = createOutput();

type Node = { url: string; pid: number; log: string; exited: Promise<number>; stop(): Promise<void> };

function isFree(port: number): boolean {
  try {
    Bun.listen({ hostname: "127.0.0.1", port, socket: { data: () => undefined } }).stop(true);
    return true;
  } catch {
    return false;
  }
}

/** Starts a node and waits until it is ready. Rejects with the end of its log if it ends before. */
async function startNode(env: Record<string, string>, port: number, log: string): Promise<Node> {
  const url = `http://127.0.0.1:${port}`;
  const { HERALD_ADMIN_API_KEY: _, ...inherited } = process.env; // the printed page refers to the key in the data folder
  const child = spawn([process.execPath, script, "serve"], {
    env: { ...inherited, ...env, HERALD_HOST: "127.0.0.1", HERALD_PORT: String(port) },
    stdio: ["ignore", Bun.file(log), Bun.file(log)],
  });
  process.on("exit", () => child.kill("SIGKILL"));
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`a node ended with ${child.exitCode}:\n${await Bun.file(log).text()}`);
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    return answer?.ok || undefined;
  }, `${url}/readyz`);
  return {
    url,
    pid: child.pid,
    log,
    exited: child.exited,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

function renderPage(nodes: Node[], dataDir: string, engines: { postgres: string; nats: string }): string {
  const { bold, cyan } = output.resultStyle;
  const started = nodes.map(({ url }) => ({
    url,
    adminUrl: url,
    adminKey: { value: "", file: join(dataDir, "admin-api-key"), isShown: false },
    demo,
    dataDir,
    configFile: undefined,
  }));
  const [first, ...others] = started;
  if (first === undefined) throw new Error("a cluster has nodes");
  return [
    "",
    `  ${bold("Herald")}, ${nodes.length} nodes on one PostgreSQL database and one NATS server`,
    "",
    ...nodes.map(({ url, pid }, index) => row(`Node ${index + 1}`, `${cyan(url)}  (process ${pid})`)),
    "",
    `  ${bold("1.")} Listen on the others, each in a terminal of its own:`,
    "",
    ...others.map((other, index) => `     ${listenCommand(other, demo.organization, demo.users[index + 1] ?? "bob")}`),
    "",
    `  ${bold("2.")} Send to node 1, in another:`,
    "",
    ...sendCommand(first, demo),
    "",
    row("Admin API key", first.adminKey.file),
    row("Logs", nodes.map(({ log }) => log).join("\n".padEnd(18))),
    row("PostgreSQL", engines.postgres),
    row("NATS", engines.nats),
    row("Documentation", `${first.url}/docs`),
    "",
    "  Ctrl-C stops all of it and leaves nothing behind.",
    "",
  ].join("\n");
}

/** Runs the cluster until standard input closes. */
async function keep(): Promise<void> {
  const released = Bun.stdin.text();
  await using engines = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "herald-cluster-"));
  engines.defer(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = await startPostgres();
  engines.defer(() => postgres?.stop());
  const nats = await startNats();
  engines.defer(() => nats?.stop());
  if (postgres === undefined || nats === undefined) return;
  const database = await postgres.createDatabase();
  const dataDir = join(folder, "data");
  const env = { HERALD_DATABASE_URL: database, HERALD_BUS_URL: nats.url, HERALD_DATA_DIR: dataDir, HERALD_DEMO: "1" };
  const ports = wantedPorts.map((port) => (isFree(port) ? port : freePort()));
  const nodes: Node[] = [];
  engines.defer(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
  // In sequence: the first creates the secrets, which the others find in the same folder, and the demo.
  for (const [index, port] of ports.entries()) {
    const node = await startNode(env, port, join(folder, `node-${index + 1}.log`));
    nodes.push(node);
  }
  output.result(renderPage(nodes, dataDir, { postgres: database, nats: nats.url }));
  let isStopping = false;
  for (const [index, { exited }] of nodes.entries()) {
    void exited.then((code) => {
      if (!isStopping) output.note(`node ${index + 1} has ended, with ${code}; the others go on`);
    });
  }
  await released;
  isStopping = true;
  output.note("stopping the nodes, then NATS, then PostgreSQL …");
}

/** Holds the pipe of a keeper. Resolves with its exit code. */
async function hold(): Promise<number> {
  const missing = [
    ...(findPostgres() === undefined ? ["postgresql"] : []),
    ...(findNats() === undefined ? ["nats-server"] : []),
  ];
  if (missing.length > 0) {
    output.note(`npm run cluster needs what is not installed here: apt-get install ${missing.join(" ")}`);
    return 1;
  }
  const keeper = spawn([process.execPath, import.meta.path, "keep"], {
    detached: true,
    stdio: ["pipe", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void keeper.stdin.end());
  return await keeper.exited;
}

if (process.argv[2] === "keep") {
  await keep();
  process.exit(0);
}
process.exit(await hold());
