import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort, isRoot, reportMissing } from "./installed.ts";
import { fillDisk, insideOf, withSmallDisk } from "./small-disk.ts";

/** A PostgreSQL server of a suite's own. */
export type Postgres = {
  readonly port: number;
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
  /** Fills the disk that its databases are on, with `diskMegabytes`; gives what frees it. */
  fillDisk(): () => void;
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

/**
 * Starts a server on a free port and a folder of its own; `undefined` where PostgreSQL is not installed, which is a failure under
 * CI. With `diskMegabytes` its databases are on a disk of that size (the write-ahead log is not), which needs root and is gone
 * when it is shut down.
 */
export async function startPostgres(options: { diskMegabytes?: number } = {}): Promise<Postgres | undefined> {
  const { diskMegabytes } = options;
  const programs = findPostgres() ?? reportMissing("PostgreSQL", "postgresql");
  if (programs === undefined) return undefined;
  if (diskMegabytes !== undefined && !isRoot("a small disk")) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "herald-postgres-"));
  const data = join(folder, "data");
  const port = freePort();
  let databases = 0;

  // The server refuses to run as root, so there it runs as the user that Debian's package made.
  const runsAsRoot = userInfo().uid === 0;
  const disk = join(folder, "disk");
  mkdirSync(disk);
  if (runsAsRoot) for (const path of [folder, disk]) chownSync(path, idOf("-u"), idOf("-g"));

  function commandOf(program: string, args: string[]): string[] {
    const command = [join(programs ?? "", program), ...args];
    return runsAsRoot ? ["runuser", "-u", "postgres", "--", ...command] : command;
  }

  /** Runs a program to its end. Its output goes to a file, since a server that it starts keeps that open. */
  async function run(program: string, ...args: string[]): Promise<void> {
    const output = Bun.file(join(folder, `${program}.log`));
    const plain = commandOf(program, args);
    const isStart = args[0] === "start";
    const command = isStart && diskMegabytes !== undefined ? withSmallDisk(disk, diskMegabytes, plain) : plain;
    const child = Bun.spawn(command, { cwd: folder, stdin: "ignore", stdout: output, stderr: output });
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
  process.on("exit", endAtOnce);
  await start();
  const superuser = ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres"];
  await run("createuser", ...superuser, "--createdb", "herald");
  if (diskMegabytes !== undefined)
    await run("psql", ...superuser, "-c", `CREATE TABLESPACE disk OWNER herald LOCATION '${disk}'`, "postgres");
  const url = `postgres://herald@127.0.0.1:${port}`;
  return {
    port,
    url,
    asSuperuser: (one) => one.replace("//herald@", "//postgres@"),
    async createDatabase() {
      const name = `herald_${++databases}`;
      const place = diskMegabytes === undefined ? [] : ["-D", "disk"];
      await run("createdb", ...place, "-h", "127.0.0.1", "-p", String(port), "-U", "herald", name);
      return `${url}/${name}`;
    },
    shutDown,
    start,
    fillDisk: () => fillDisk(insideOf(Number(mainProcess()), disk)),
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
