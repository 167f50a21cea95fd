import { Glob } from "bun";

/** Our own TypeScript files below these folders, sorted; a missing folder has none. */
export const sourceFiles = (folders: readonly string[]): string[] =>
  folders
    .flatMap((folder) => [...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync({ cwd: ".", onlyFiles: true })])
    .filter((path) => !/(^|\/)(node_modules|dist)\//.test(path))
    .sort();
