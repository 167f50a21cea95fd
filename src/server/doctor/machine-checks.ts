import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../../config.ts";
import { readDiskSpace } from "../../lib/disk-space.ts";
import { secretFiles } from "../secrets.ts";
import { type Finding, failure, ok, warning } from "./finding.ts";

const gibibyte = 2 ** 30;
const littleBytes = gibibyte;
const littleShare = 0.1;
const fewFiles = 16_384;
const othersMayRead = 0o077;

/** Whether the data folder can be used. */
export function checkDataFolder({ HERALD_DATA_DIR: given }: Config): Finding[] {
  const subject = "data folder";
  const folder = resolve(given);
  if (!existsSync(folder)) return [ok(subject, `${folder} does not exist yet; the first start creates it`)];
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  return [ok(subject, folder)];
}

/** How much room the disk of the embedded database has. */
export async function checkDisk(config: Config): Promise<Finding[]> {
  const { HERALD_DATA_DIR: folder, HERALD_DATABASE_URL: databaseUrl } = config;
  if (databaseUrl !== undefined || !existsSync(folder)) return [];
  const { freeBytes: free, sizeBytes: all } = await readDiskSpace(folder);
  const detail = `${(free / gibibyte).toFixed(1)} of ${(all / gibibyte).toFixed(1)} GiB are free`;
  if (free >= littleBytes && free >= all * littleShare) return [ok("disk", detail)];
  const advice = "free some room, or set retention (HERALD_RETENTION_…): once the disk is full, sends are answered 507";
  return [(free < littleBytes ? failure : warning)("disk", detail, advice)];
}

/** Whether only their owner can read the generated secrets. */
export function checkSecrets(config: Config): Finding[] {
  const { HERALD_DATA_DIR: folder, HERALD_DATABASE_URL: databaseUrl } = config;
  const files = secretFiles.map((name) => join(folder, name)).filter((file) => existsSync(file));
  const open = files.filter((file) => (statSync(file).mode & othersMayRead) !== 0);
  const findings = open.map((file) => {
    const advice = `run \`chmod 600 ${resolve(file)}\`, and rotate what it holds`;
    return failure("secrets", `other users of this machine can read ${resolve(file)}`, advice);
  });
  const own = [config.HERALD_ADMIN_API_KEY, config.HERALD_TOKEN_SECRET].filter((value) => value === undefined);
  if (databaseUrl !== undefined && own.length > 0) {
    const advice = "set HERALD_ADMIN_API_KEY and HERALD_TOKEN_SECRET, the same on every node";
    const detail = "this node generates secrets that other nodes of its database do not know";
    findings.push(warning("cluster", detail, advice));
  }
  if (findings.length > 0) return findings;
  return [ok("secrets", files.length === 0 ? "no files yet" : "only their owner can read them")];
}

/** How many connections the system allows this user's processes. */
export function checkOpenFiles(): Finding[] {
  const file = "/proc/self/limits";
  if (!existsSync(file)) return []; // not Linux
  const [, soft = "unlimited"] = /^Max open files\s+(\S+)/m.exec(readFileSync(file, "utf8")) ?? [];
  const detail = `${soft} per process; every connection needs one`;
  if (soft === "unlimited" || Number(soft) >= fewFiles) return [ok("open files", detail)];
  const advice = "raise it where the server is started: `LimitNOFILE=65536` in the systemd unit, or `ulimit -n 65536`";
  return [warning("open files", detail, advice)];
}
