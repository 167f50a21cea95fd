import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { $ } from "bun";
import { eventually } from "../deadline.ts";
import { freePort } from "./free-port.ts";
import { initializedCluster } from "./initialized-postgres.ts";
import { isRoot, reportMissing } from "./installed.ts";
import { fillDisk, insideOf, withSmallDisk } from "./small-disk.ts";

/** A suite's own PostgreSQL server. */
export type Postgres = {
  readonly port: number;
  /** Its main process, which changes with `start`. */
  readonly pid: number;
  /**
   * The URL of the server, without a database. Its user owns what it creates and is not a superuser, so row-level
   * security applies.
   */
  readonly url: string;
  /** The same URL for the superuser, who sees everything. */
  asSuperuser(url: string): string;
  /** Creates an empty database and returns its URL. */
  createDatabase(): Promise<string>;
  /**
   * Shuts the server down and waits for its end. `fast` ends its sessions in order; `immediate` is a crash, with
   * recovery at the next start.
   */
  shutDown(mode: "fast" | "immediate"): Promise<void>;
  /** Starts it again after `shutDown`. Resolves once it accepts connections. */
  start(): Promise<void>;
  /** Fills the disk of its databases (with `diskMegabytes`); returns the function that frees it. */
  fillDisk(): () => void;
  /** SIGKILL to every process of the server, like a power failure. `start` recovers it from its log. */
  kill(): Promise<void>;
  /** Copies the running server (pg_basebackup), and starts the copy with a port and a folder of its own. */
  copy(options?: CopyOptions): Promise<Postgres>;
  /** Promotes a standby. Resolves once it accepts writes. */
  promote(): Promise<void>;
  /** Changes a setting permanently and makes the server load it. */
  configure(setting: string, value: string): Promise<void>;
  /** Shuts down (`immediate`), runs `meanwhile`, and starts again. */
  restart(meanwhile: () => Promise<void>): Promise<void>;
  /** SIGSTOP to every process of the server: it keeps its connections and does nothing. */
  freeze(): void;
  /** SIGCONT. */
  resume(): void;
  stop(): void;
};

/**
 * Without `standby`, a copy is independent. With it, the copy follows under that name; `port` leads to the server it
 * follows.
 */
type CopyOptions = { standby?: { name: string; port: number } };
type Options = {
  diskMegabytes?: number;
  settings?: Readonly<Record<string, string>>;
  copyOf?: { port: number } & CopyOptions;
};

/**
 * For suites that do not test plans: every statement is planned once, not for each of its first five runs on each
 * connection, which is most of what a starting node asks of the server.
 */
export const plannedOnce = { plan_cache_mode: "force_generic_plan" };

const versionsFolder = "/usr/lib/postgresql";

/** The folder of PostgreSQL's programs, where Debian puts them; `undefined` if it is not installed. */
export function findPostgres(): string | undefined {
  const versions = existsSync(versionsFolder) ? readdirSync(versionsFolder) : [];
  const newest = versions.sort((left, right) => Number(right) - Number(left))[0];
  return newest === undefined ? undefined : join(versionsFolder, newest, "bin");
}

/**
 * Starts a server with a free port and a folder of its own; `undefined` if PostgreSQL is not installed, which is a
 * failure under CI. With `diskMegabytes`, its databases (but not the write-ahead log) are on a disk of that size, which
 * needs root and is gone after a shutdown. `settings` are the server's own. With `copyOf`, it is a copy of the server on
 * that port.
 */
export async function startPostgres(options: Options = {}): Promise<Postgres | undefined> {
  const { diskMegabytes, settings, copyOf } = options;
  const programs = findPostgres() ?? reportMissing("PostgreSQL", "postgresql");
  if (programs === undefined) return undefined;
  if (diskMegabytes !== undefined && !isRoot("a small disk")) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "herald-postgres-"));
  const data = join(folder, "data");
  const port = freePort();
  let databases = 0;

  // The server refuses to run as root; then it runs as the user created by Debian's package.
  const owner = userInfo().uid === 0 ? { name: "postgres", uid: idOf("-u"), gid: idOf("-g") } : undefined;
  const disk = join(folder, "disk");
  mkdirSync(disk);
  if (owner !== undefined) for (const path of [folder, disk]) chownSync(path, owner.uid, owner.gid);

  function commandOf(program: string, args: string[]): string[] {
    const command = [join(programs ?? "", program), ...args];
    return owner === undefined ? command : ["runuser", "-u", owner.name, "--", ...command];
  }

  /** Runs a program to its end. Its output goes to a file, which a server it starts keeps open. */
  async function run(program: string, ...args: string[]): Promise<void> {
    const output = Bun.file(join(folder, `${program}.log`));
    const plain = commandOf(program, args);
    const isStart = args[0] === "start";
    const command = isStart && diskMegabytes !== undefined ? withSmallDisk(disk, diskMegabytes, plain) : plain;
    const child = Bun.spawn(command, { cwd: folder, stdin: "ignore", stdout: output, stderr: output });
    if ((await child.exited) !== 0) throw new Error(`${program} failed: ${await output.text()}`);
  }

  function start(): Promise<void> {
    const all = Object.entries({ listen_addresses: "127.0.0.1", max_connections: "300", ...settings });
    const options = [`-p ${port} -k ${folder}`, ...all.map(([name, value]) => `-c ${name}=${value}`)].join(" ");
    return run("pg_ctl", "start", "-w", "-D", data, "-l", join(folder, "log"), "-o", options);
  }

  function shutDown(mode: "fast" | "immediate"): Promise<void> {
    return run("pg_ctl", "stop", "-w", "-m", mode, "-D", data);
  }

  function mainProcess(): number {
    return Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  }

  function signalChildren(signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
    const children = spawnSync("ps", ["-o", "pid=", "--ppid", String(mainProcess())], {
      encoding: "utf8",
    }).stdout.split("\n");
    for (const pid of children) if (pid.trim() !== "") process.kill(Number(pid), signal);
  }

  function freeze(): void {
    process.kill(mainProcess(), "SIGSTOP"); // first, so that it starts no more children
    signalChildren("SIGSTOP");
  }

  function endAtOnce(): void {
    if (!existsSync(folder)) return;
    const [file = "", ...args] = commandOf("pg_ctl", ["stop", "-w", "-m", "immediate", "-D", data]);
    spawnSync(file, args, { cwd: folder });
    rmSync(folder, { recursive: true, force: true });
  }

  async function copyFrom({ port: source, standby }: { port: number } & CopyOptions): Promise<void> {
    const name = standby === undefined ? "" : ` application_name=${standby.name}`;
    const address = `host=127.0.0.1 port=${standby?.port ?? source} user=postgres${name}`;
    const follow = standby === undefined ? [] : ["--write-recovery-conf"];
    await run("pg_basebackup", "-D", data, "-d", address, "--checkpoint=fast", "--no-sync", ...follow);
  }

  process.on("exit", endAtOnce);
  if (copyOf === undefined) await $`cp -a ${await initializedCluster({ programs, owner })} ${data}`.quiet();
  else await copyFrom(copyOf);
  await start();
  const superuser = ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres"];
  if (diskMegabytes !== undefined)
    await run("psql", ...superuser, "-c", `CREATE TABLESPACE disk OWNER herald LOCATION '${disk}'`, "postgres");
  const url = `postgres://herald@127.0.0.1:${port}`;
  return {
    port,
    get pid() {
      return mainProcess();
    },
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
    fillDisk: () => fillDisk(insideOf(mainProcess(), disk)),
    async kill() {
      const main = mainProcess();
      freeze(); // so that nothing completes while the others are killed
      signalChildren("SIGKILL");
      process.kill(main, "SIGKILL");
      await eventually(() => !existsSync(`/proc/${main}`) || undefined, "the end of a killed server");
    },
    async copy(copyOptions = {}) {
      const copy = await startPostgres({ copyOf: { port, ...copyOptions } });
      if (copy === undefined) throw new Error("PostgreSQL is gone");
      return copy;
    },
    promote: () => run("pg_ctl", "promote", "-w", "-D", data),
    async configure(setting, value) {
      await run("psql", ...superuser, "-c", `ALTER SYSTEM SET ${setting} = '${value}'`, "postgres");
      await run("pg_ctl", "reload", "-D", data);
    },
    async restart(meanwhile) {
      await shutDown("immediate");
      try {
        await meanwhile();
      } finally {
        await start();
      }
    },
    freeze,
    resume() {
      signalChildren("SIGCONT");
      process.kill(mainProcess(), "SIGCONT");
    },
    stop: endAtOnce,
  };
}

function idOf(flag: "-u" | "-g"): number {
  return Number(spawnSync("id", [flag, "postgres"], { encoding: "utf8" }).stdout);
}
