import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { root } from "./markdown.ts";

const notCopied = new Set([".git", "node_modules", "data", "coverage", "dist"]);
const isBuilding = (name: string) => name.endsWith(".bun-build"); // for moments, while a binary is built by another test

/** A folder in which a page's commands run. */
export type Workspace = { folder: string; [Symbol.dispose](): void };

function createFolder(): Workspace {
  const folder = mkdtempSync(join(tmpdir(), "herald-docs-"));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** What a reader has after `npm ci`: the repository, here as links into it, with a data folder of its own. */
export function createWorkspace(): Workspace {
  const workspace = createFolder();
  for (const name of readdirSync(root)) {
    if (name !== "data" && name !== ".git") symlinkSync(join(root, name), join(workspace.folder, name));
  }
  mkdirSync(join(workspace.folder, "data"));
  return workspace;
}

/** What a reader has after cloning the repository, into the workspace itself or a folder in it. */
export function createFreshCopy(name = ""): Workspace {
  const workspace = createFolder();
  cpSync(root, join(workspace.folder, name), {
    recursive: true,
    filter: (source) => {
      const name = source.slice(root.length + 1);
      return !notCopied.has(name) && !isBuilding(name);
    },
  });
  return workspace;
}

/** The environment of a reader's terminal: without our settings, and without what `npm test` adds. */
export function readersEnvironment(extra: Record<string, string>): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !/^(HERALD_|npm_|NODE_ENV$|INIT_CWD$)/i.test(name)) environment[name] = value;
  }
  const path = (environment.PATH ?? "").split(delimiter).filter((part) => !part.includes("node_modules"));
  return {
    ...environment,
    PATH: path.join(delimiter),
    NO_COLOR: "1",
    XDG_CONFIG_HOME: "/nonexistent",
    npm_config_loglevel: "error",
    ...extra,
  };
}

/** Writes a snippet into the workspace and returns its path. */
export function writeSnippet({ folder }: Workspace, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The names of the scripts in package.json. */
export function packageScripts(): Set<string> {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return new Set(Object.keys(scripts));
}
