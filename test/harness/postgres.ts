import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort, reportMissing } from "./installed.ts";

/** A PostgreSQL server of a suite's own. */
export type Postgres = {
  /** Of the server, without a database. Its user owns what it makes, and is no superuser: row-level security holds for it. */
  readonly url: string;
  /** The same URL for the superuser, who sees everything. */
  asSuperuser(url: string): string;
  /** Makes an empty database and gives its URL. */
  createDatabase(): Promise<string>;
  /** Ends the server and waits for it. `fast` ends its sessions in order, `immediate` is a crash: it recovers at the next start. */
  shutDown(mode: "fast" | "immediate"): Promise<void>;
  /** Starts it again after `shutDown`. Resolves when it takes connections. */
  start(): Promise<void>;
  /** Shuts down (`immediate`), runs `meanwhile`, and starts again. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** SIGSTOP to every process of the server: it keeps its connections and does nothing. */
  freeze(): void;
  /** SIGCONT. */
  resume(): void;
  stop(): void;
};

const versionsFolder = "/usr/lib/postgresql";

/** The folder of PostgreSQL's programs, in Debian's place; `undefined` where it is not installed. */
export function findPostgres(): string | undefined {
  const versions = existsSync(versionsFolder) ? readdirSync(versionsFolder) : [];
  const newest = versions.sort((left, right) => Number(right) - Number(left))[0];
  return newest === undefined ? undefined : join(versionsFolder, newest, "bin");
}

/** Starts a server on a free port and a folder of its own; `undefined` where PostgreSQL is not installed, which is a failure under CI. */
export async function startPostgres(): Promise<Postgres | undefined> {
  const programs = findPostgres() ?? reportMissing("PostgreSQL", "postgresql");
  if (programs === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "herald-postgres-"));
  const data = join(folder, "data");
  const port = freePort();
  let databases = 0;

  // The server refuses to run as root, so there it runs as the user that Debian's package made.
  const isRoot = userInfo().uid === 0;
  if (isRoot) chownSync(folder, idOf("-u"), idOf("-g"));

  function commandOf(program: string, args: string[]): string[] {
    const command = [join(programs ?? "", program), ...args];
    return isRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
  }

  /** Runs a program to its end. Its output goes to a file, since a server that it starts keeps that open. */
  async function run(program: string, ...args: string[]): Promise<void> {
    const output = Bun.file(join(folder, `${program}.log`));
    const child = Bun.spawn(commandOf(program, args), { cwd: folder, stdin: "ignore", stdout: output, stderr: output });
    if ((await child.exited) !== 0) throw new Error(`${program} failed: ${await output.text()}`);
  }

  function start(): Promise<void> {
    const options = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c max_connections=100`;
    return run("pg_ctl", "start", "-w", "-D", data, "-l", join(folder, "log"), "-o", options);
  }

  function shutDown(mode: "fast" | "immediate"): Promise<void> {
    return run("pg_ctl", "stop", "-w", "-m", mode, "-D", data);
  }

  function mainProcess(): string {
    return readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0] ?? "";
  }

  function signalChildren(signal: "SIGSTOP" | "SIGCONT"): void {
    const children = spawnSync("ps", ["-o", "pid=", "--ppid", mainProcess()], { encoding: "utf8" }).stdout.split("\n");
    for (const pid of children) if (pid.trim() !== "") process.kill(Number(pid), signal);
  }

  function endAtOnce(): void {
    if (!existsSync(folder)) return;
    const [file = "", ...args] = commandOf("pg_ctl", ["stop", "-w", "-m", "immediate", "-D", data]);
    spawnSync(file, args, { cwd: folder });
    rmSync(folder, { recursive: true, force: true });
  }

  await run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-sync");
  await start();
  process.on("exit", endAtOnce);
  await run("createuser", "-h", "127.0.0.1", "-p", String(port), "-U", "postgres", "--createdb", "herald");
  const url = `postgres://herald@127.0.0.1:${port}`;
  return {
    url,
    asSuperuser: (one) => one.replace("//herald@", "//postgres@"),
    async createDatabase() {
      const name = `herald_${++databases}`;
      await run("createdb", "-h", "127.0.0.1", "-p", String(port), "-U", "herald", name);
      return `${url}/${name}`;
    },
    shutDown,
    start,
    async restart(meanwhile) {
      await shutDown("immediate");
      try {
        await meanwhile();
      } finally {
        await start();
      }
    },
    freeze() {
      process.kill(Number(mainProcess()), "SIGSTOP"); // first, so that it makes no more children
      signalChildren("SIGSTOP");
    },
    resume() {
      signalChildren("SIGCONT");
      process.kill(Number(mainProcess()), "SIGCONT");
    },
    stop: endAtOnce,
  };
}

function idOf(flag: "-u" | "-g"): number {
  return Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
}
