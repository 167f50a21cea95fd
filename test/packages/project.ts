import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildSdk } from "../../tools/build/sdk.ts";
import { readersEnvironment } from "../docs/workspace.ts";

const root = join(import.meta.dir, "../..");

/** What `npm publish` would send. */
export type Tarball = { file: string; [Symbol.dispose](): void };

/** Builds and packs `@herald/sdk`, beside what other tests build at the same time. */
export function packSdk(): Tarball {
  const folder = mkdtempSync(join(tmpdir(), "herald-sdk-"));
  buildSdk(join(folder, "dist"));
  for (const name of ["package.json", "README.md", "LICENSE"])
    copyFileSync(join(root, "sdk", name), join(folder, name));
  try {
    return pack(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Packs `herald`. */
export function packHerald(): Tarball {
  return pack(root);
}

function pack(path: string): Tarball {
  const folder = mkdtempSync(join(tmpdir(), "herald-packed-"));
  run(["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", folder], path);
  const [name = "nothing was packed"] = readdirSync(folder);
  return { file: join(folder, name), [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A project outside of the repository. */
export type Project = {
  folder: string;
  /** Runs a command to its end. Returns what it printed; throws with that if it fails. */
  run(command: string[], env?: Record<string, string>): string;
  [Symbol.dispose](): void;
};

/** Creates a project with these files, and installs its packages; versions may be paths of tarballs. */
export function createProject(files: Record<string, string>, dependencies: Record<string, string>): Project {
  const folder = mkdtempSync(join(tmpdir(), "herald-project-"));
  const manifest = { name: "a-project", private: true, type: "module", dependencies };
  for (const [name, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  run(["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--silent"], folder);
  return {
    folder,
    run: (command, env) => run(command, folder, env),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The environment of a shell outside of the repository. */
export const outsideEnvironment = (env: Record<string, string> = {}): Record<string, string> =>
  readersEnvironment({ npm_config_update_notifier: "false", NEXT_TELEMETRY_DISABLED: "1", ...env });

function run(command: string[], cwd: string, env: Record<string, string> = {}): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd, env: outsideEnvironment(env) });
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}:\n${stdout}${stderr}`);
  return stdout.toString();
}
