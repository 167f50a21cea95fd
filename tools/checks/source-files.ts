import { Glob } from "bun";

/** Our own TypeScript below these folders, sorted; a folder that does not exist yet has none. */
export const sourceFiles = (folders: readonly string[]): string[] =>
  folders
    .flatMap((folder) => [...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync({ cwd: ".", onlyFiles: true })])
    .filter((path) => !path.includes("node_modules/"))
    .sort();
