import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort, reportMissing } from "./installed.ts";

/** A PostgreSQL server of a suite's own. */
export type Postgres = {
  /** Makes an empty database and gives its URL. */
  createDatabase(): Promise<string>;
  /** Stops the server at once (`immediate`), runs `meanwhile`, and starts it again. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** Freezes every process of the server (SIGSTOP) while `meanwhile` runs. */
  freeze(meanwhile: () => Promise<void>): Promise<void>;
  stop(): void;
};

const versionsFolder = "/usr/lib/postgresql";

/** Where PostgreSQL's programs are, in Debian's place; `undefined` where it is not installed, which is a failure under CI. */
function findPrograms(): string | undefined {
  const versions = existsSync(versionsFolder) ? readdirSync(versionsFolder) : [];
  const newest = versions.sort((left, right) => Number(right) - Number(left))[0];
  if (newest !== undefined) return join(versionsFolder, newest, "bin");
  return reportMissing("PostgreSQL", "postgresql");
}

/** Starts a server on a free port and a folder of its own; `undefined` where PostgreSQL is not installed. */
export async function startPostgres(): Promise<Postgres | undefined> {
  const programs = findPrograms();
  if (programs === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "herald-postgres-"));
  const data = join(folder, "data");
  const port = freePort();
  let databases = 0;

  // The server refuses to run as root, so there it runs as the user that Debian's package made.
  const isRoot = userInfo().uid === 0;
  if (isRoot) chownSync(folder, idOf("-u"), idOf("-g"));

  function run(program: string, ...args: string[]): string {
    const command = [join(programs ?? "", program), ...args];
    const [file = "", ...rest] = isRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
    const { status, stdout, stderr } = spawnSync(file, rest, { encoding: "utf8", cwd: folder });
    if (status !== 0) throw new Error(`${program} failed: ${stderr || stdout}`);
    return stdout;
  }

  function start(): void {
    const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=100`;
    run("pg_ctl", "start", "-w", "-D", data, "-l", join(folder, "log"), "-o", options);
  }

  function signalAll(signal: "SIGSTOP" | "SIGCONT"): void {
    const main = run("pg_ctl", "status", "-D", data).match(/PID: (\d+)/)?.[1] ?? "";
    const children = spawnSync("ps", ["-o", "pid=", "--ppid", main], { encoding: "utf8" }).stdout.split("\n");
    for (const pid of [main, ...children]) if (pid.trim() !== "") process.kill(Number(pid), signal);
  }

  run("initdb", "-D", data, "-A", "trust", "-U", "herald", "-E", "UTF8", "--no-sync");
  start();
  return {
    async createDatabase() {
      const name = `herald_${++databases}`;
      run("createdb", "-h", "127.0.0.1", "-p", String(port), "-U", "herald", name);
      return `postgres://herald@127.0.0.1:${port}/${name}`;
    },
    async restart(meanwhile) {
      run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", data);
      try {
        await meanwhile();
      } finally {
        start();
      }
    },
    async freeze(meanwhile) {
      signalAll("SIGSTOP");
      try {
        await meanwhile();
      } finally {
        signalAll("SIGCONT");
      }
    },
    stop() {
      run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", data);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function idOf(flag: "-u" | "-g"): number {
  return Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
}
