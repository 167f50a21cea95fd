import { accessSync, constants, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Config } from "../../config.ts";
import { createId } from "../../lib/text/ids.ts";
import type { FileBytes } from "../../store/files/ports.ts";
import { openBytes } from "../files.ts";
import { type Finding, ok, warning } from "./finding.ts";

const subject = "files";

/** Whether the folder or bucket of files can be used, by every node. */
export async function checkFiles(config: Config): Promise<Finding[]> {
  const { HERALD_FILES_URL: url, HERALD_DATABASE_URL: databaseUrl, HERALD_DATA_DIR: dataDir } = config;
  if (url?.startsWith("s3:") === true) {
    const askedAt = performance.now();
    await tryOut(openBytes(config));
    const took = Math.round(performance.now() - askedAt);
    return [ok(subject, `${url} stored a file, gave it back and removed it in ${took} ms`)];
  }
  const folder = url === undefined ? resolve(dataDir, "files") : fileURLToPath(url);
  const exists = existsSync(folder);
  const detail = exists ? folder : `${folder} does not exist yet; the first upload creates it`;
  accessSync(exists ? folder : existingParentOf(folder), constants.R_OK | constants.W_OK | constants.X_OK);
  if (databaseUrl === undefined || url !== undefined) return [ok(subject, detail)];
  const advice = "set HERALD_FILES_URL to a bucket, or to a folder that all nodes share";
  return [
    warning(subject, "files are in this node's data folder, so other nodes of its database cannot serve them", advice),
  ];
}

/** Stores, reads and removes a file, as a bucket that is missing looks like an empty one, and a key may do less than all. */
async function tryOut(bytes: FileBytes): Promise<void> {
  const id = createId();
  await bytes.write(id, Readable.from([new TextEncoder().encode("written by herald doctor")]));
  const stored = await bytes.read(id);
  await new Response(stored?.part(0, 1)).bytes();
  await bytes.remove(id);
}

function existingParentOf(folder: string): string {
  const parent = join(folder, "..");
  return existsSync(parent) || parent === folder ? parent : existingParentOf(parent);
}
