#!/usr/bin/env node
// Herald runs on Bun, which `npm install` installs. This script finds Bun and runs Herald with it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The Bun of the `bun` dependency or, without one, the Bun on the PATH. Where install scripts do not run, Bun is still in the
 * package for this system, from which the script of `bun` would have moved it.
 */
function findBun() {
  const folders = [];
  try {
    const manifest = createRequire(import.meta.url).resolve("bun/package.json");
    const require = createRequire(manifest);
    for (const name of Object.keys(require(manifest).optionalDependencies)) {
      try {
        folders.push(dirname(require.resolve(`${name}/package.json`)));
      } catch {
        // For another system.
      }
    }
    folders.push(dirname(manifest));
  } catch {
    // Not installed with Herald.
  }
  const files = folders.flatMap((folder) => ["bun", "bun.exe"].map((name) => join(folder, "bin", name)));
  return files.find((file) => existsSync(file)) ?? "bun";
}

const script = fileURLToPath(new URL("../src/cli/herald.ts", import.meta.url));
const child = spawn(findBun(), [script, ...process.argv.slice(2)], { stdio: "inherit" });

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2"]) process.on(signal, () => child.kill(signal));

child.on("error", (error) => {
  const isMissing = "code" in error && error.code === "ENOENT";
  console.error(
    isMissing
      ? "herald: cannot find Bun, which Herald runs on. Run `npm ci` in Herald's folder, or install Bun: https://bun.com"
      : `herald: cannot start Bun: ${error.message}`,
  );
  process.exitCode = 1;
});
child.on("exit", (code, signal) => {
  process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  // Exit only now: until Bun has stopped, the signal listeners keep this process alive.
  process.exit();
});
