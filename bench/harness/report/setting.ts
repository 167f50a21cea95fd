import { Database } from "bun:sqlite";
import { execFileSync } from "node:child_process";
import { readFileSync, statfsSync } from "node:fs";
import { cpus, totalmem, version } from "node:os";

/** By the magic number of statfs(2). */
const fileSystems = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs (memory: flushes cost nothing there)"],
  [0x794c7630, "overlayfs"],
]);

/** Where and with what the figures were measured. */
export type Setting = {
  date: string;
  revision: string;
  /** Whether files differed from the revision. */
  isModified: boolean;
  machine: { cpu: string; cores: number; memoryGiB: number; kernel: string; fileSystem: string };
  versions: { bun: string; sqlite: string; hono: string; zod: string };
};

/** Says when, at which revision and on what something was measured. */
export function renderSetting({ date, revision, isModified, machine, versions }: Setting): string {
  return (
    `${date.slice(0, 10)}, revision ${revision}${isModified ? " with changes" : ""}, Bun ${versions.bun}, SQLite ${versions.sqlite}, ` +
    `${machine.cores} cores (${machine.cpu}), ${machine.fileSystem}`
  );
}

/** Describes this machine and checkout. `dataDir` is where the run's databases are. */
export function describeSetting(dataDir: string): Setting {
  const { type } = statfsSync(dataDir);
  return {
    date: new Date().toISOString(),
    revision: git("rev-parse", "--short", "HEAD"),
    isModified: git("status", "--porcelain") !== "",
    machine: {
      cpu: cpus()[0]?.model ?? "unknown",
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      kernel: version(),
      fileSystem: fileSystems.get(type) ?? `0x${type.toString(16)}`,
    },
    versions: { bun: Bun.version, sqlite: sqliteVersion(), hono: versionOf("hono"), zod: versionOf("zod") },
  };
}

function git(...command: string[]): string {
  try {
    return execFileSync("git", command, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "";
  }
}

function sqliteVersion(): string {
  using database = new Database(":memory:");
  return database.query<{ version: string }, []>("SELECT sqlite_version() AS version").get()?.version ?? "unknown";
}

function versionOf(dependency: string): string {
  const file = new URL(`../../../node_modules/${dependency}/package.json`, import.meta.url);
  return String(JSON.parse(readFileSync(file, "utf8")).version);
}
