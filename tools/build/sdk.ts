// Builds the npm package @herald/sdk into sdk/dist: `npm run build:sdk`. One file for each module, with declarations and source maps.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const relativeSpecifier = /(from |import\()"(\.{1,2}\/[^"]+)\.tsx?"/g;

/**
 * Builds sdk/dist anew, or another folder. Throws with the compiler's output if the code does not compile for Node's module
 * resolution.
 */
export function buildSdk(dist = join(root, "sdk/dist")): void {
  rmSync(dist, { recursive: true, force: true });
  const compiler = join(root, "node_modules/@typescript/native/bin/tsc");
  const { exitCode, stdout } = Bun.spawnSync(
    [compiler, "-p", "sdk/tsconfig.build.json", "--outDir", dist, "--pretty", "false"],
    { cwd: root },
  );
  if (exitCode !== 0) throw new Error(`the SDK does not compile:\n${stdout}`);
  // The compiler rewrites the endings of imports in JavaScript, and leaves them in declarations.
  for (const name of readdirSync(dist, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".d.ts")) continue;
    const file = join(dist, name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(relativeSpecifier, '$1"$2.js"'));
  }
}

if (import.meta.main) buildSdk();
