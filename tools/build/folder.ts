import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A folder for a build. Disposing removes it with its content. */
export type Folder = { readonly path: string } & Disposable;

/** Creates a folder below `parent`, which is created if needed. */
export function createFolder(parent: string): Folder {
  mkdirSync(parent, { recursive: true });
  const path = mkdtempSync(join(parent, ".build-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
