import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * The folder of this name below the system's folder for temporary files, which is made where it is missing, and kept. `make`
 * gets an empty folder and returns what of it to keep: only what is complete gets the name, from whoever is first.
 */
export async function madeOnce(name: string, make: (unfinished: string) => Promise<string>): Promise<string> {
  const folder = join(tmpdir(), name);
  if (existsSync(folder)) return folder;
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    renameSync(await make(unfinished), folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // otherwise another process was first
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}
