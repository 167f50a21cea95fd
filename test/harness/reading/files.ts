import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The files below a folder that contain a text. */
export function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesWith(path, text);
    return readFileSync(path).includes(text) ? [name] : [];
  });
}
