import { readFileSync, renameSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Glob } from "bun";
import packageJson from "../../package.json" with { type: "json" };
import { bundleConsole } from "../../src/server/console/bundle.ts";
import { listGuides, readGuide } from "../../src/server/guides/files.ts";
import { createFolder } from "./folder.ts";
import { fetchRuntime } from "./runtime.ts";
import type { Target } from "./targets.ts";

const root = resolve(import.meta.dir, "../..");
const startOfThread = /new URL\("(\.\/[\w-]+\.ts)", import\.meta\.url\)/g;

/**
 * Compiles Herald and Bun into one executable file: for this machine, or for `target`. The same sources give the same
 * bytes in the same folder.
 */
export async function compileHerald(outfile: string, target?: Target): Promise<void> {
  if (Bun.version !== packageJson.dependencies.bun)
    throw new Error(`this is Bun ${Bun.version}, not ${packageJson.dependencies.bun}: run it with npm`);
  // Bun leaves source maps beside the file, although it embeds them.
  using folder = createFolder(dirname(outfile));
  const { outputs } = await Bun.build({
    entrypoints: [resolve(root, "src/cli/herald.ts"), ...threadScripts()],
    // All in one folder of the binary, so that `new URL("./worker.ts", import.meta.url)` is the thread's script.
    naming: "[name].[ext]",
    target: "bun",
    format: "esm",
    splitting: true,
    bytecode: true,
    sourcemap: "inline",
    files: {
      [resolve(root, "src/server/console/bundle.ts")]: await embeddedConsole(),
      [resolve(root, "src/server/guides/files.ts")]: await embeddedGuides(),
    },
    compile: {
      outfile: join(folder.path, "herald"),
      ...(target && { target: target.compile, executablePath: await fetchRuntime(target.runtime, folder.path) }),
      // Settings come from the environment and from `--config`, not from what lies in the folder.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  });
  const [binary] = outputs;
  if (binary === undefined) throw new Error("the bundler made no file");
  renameSync(binary.path, outfile);
}

/** The scripts of the threads that Herald starts: the bundler does not find them, as it does not know `new Worker`. */
function threadScripts(): string[] {
  const sources = [...new Glob("src/**/*.ts").scanSync({ cwd: root, absolute: true })];
  return sources
    .filter((source) => !source.endsWith(".test.ts"))
    .flatMap((source) =>
      [...readFileSync(source, "utf8").matchAll(startOfThread)].map(([, script = ""]) =>
        resolve(dirname(source), script),
      ),
    );
}

/** A module like `src/server/console/bundle.ts` that contains the console's files. */
async function embeddedConsole(): Promise<string> {
  const bundle = [...(await bundleConsole("herald"))].toSorted(([name], [other]) => (name < other ? -1 : 1));
  const files = bundle.map(([name, { type, etag, bytes }]) => {
    const { identity, br, gzip } = bytes;
    return [name, { type, etag, bytes: { identity: identity.toBase64(), br: br.toBase64(), gzip: gzip.toBase64() } }];
  });
  return `
    const files = ${JSON.stringify(files)};
    const decode = ({ identity, br, gzip }) => ({
      identity: Uint8Array.fromBase64(identity),
      br: Uint8Array.fromBase64(br),
      gzip: Uint8Array.fromBase64(gzip),
    });
    export const bundleConsole = async () =>
      new Map(files.map(([name, { type, etag, bytes }]) => [name, { type, etag, bytes: decode(bytes) }]));
  `;
}

/** A module like `src/server/guides/files.ts` that contains the pages. */
async function embeddedGuides(): Promise<string> {
  const pages = await Promise.all((await listGuides()).map(async (name) => [name, await readGuide(name)] as const));
  return `
    const pages = new Map(${JSON.stringify(pages)});
    export const listGuides = async () => [...pages.keys()];
    export const readGuide = async (name) => pages.get(name) ?? "";
  `;
}
