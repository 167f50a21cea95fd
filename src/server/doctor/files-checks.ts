import { accessSync, constants, existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Config } from "../../config.ts";
import { createId } from "../../lib/text/ids.ts";
import { openBytes } from "../files.ts";
import { type Finding, ok } from "./finding.ts";

const subject = "files";

/** Whether the folder or bucket of files can be used, by every node. */
export async function checkFiles(config: Config): Promise<Finding[]> {
  const { HERALD_FILES_URL: url, HERALD_DATABASE_URL: databaseUrl, HERALD_DATA_DIR: dataDir } = config;
  if (url?.startsWith("s3:") === true) {
    const askedAt = performance.now();
    await openBytes(config).read(createId()); // there is none of that id
    return [ok(subject, `${url} answers in ${Math.round(performance.now() - askedAt)} ms`)];
  }
  const folder = url === undefined ? resolve(dataDir, "files") : fileURLToPath(url);
  const exists = existsSync(folder);
  const detail = exists ? folder : `${folder} does not exist yet; the first upload creates it`;
  accessSync(exists ? folder : existingParentOf(folder), constants.R_OK | constants.W_OK | constants.X_OK);
  if (databaseUrl === undefined || url !== undefined) return [ok(subject, detail)];
  const advice = "set HERALD_FILES_URL to a bucket, or to a folder that all nodes share";
  const warning = "files are in this node's data folder, so other nodes of its database cannot serve them";
  return [{ subject, state: "warning", detail: warning, advice }];
}

function existingParentOf(folder: string): string {
  const parent = join(folder, "..");
  return existsSync(parent) || parent === folder ? parent : existingParentOf(parent);
}
