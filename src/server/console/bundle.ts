import { fileURLToPath } from "node:url";
import { type PageFile, packFile } from "../../http/answers/pack-file.ts";

const folder = fileURLToPath(new URL("../../../console/", import.meta.url));
const pages = ["index.html", "demo/index.html", "docs/search.ts"];

/**
 * Bundles the console from source, in tens of milliseconds, and returns its files by name. `command` is what a person
 * types to run Herald. In the binary, which has no sources, `tools/build` replaces this module with one that contains
 * the files.
 */
export async function bundleConsole(command = "npx herald"): Promise<Map<string, PageFile>> {
  const { outputs } = await Bun.build({
    entrypoints: pages.map((page) => folder + page),
    root: folder,
    target: "browser",
    minify: true,
    splitting: true,
    naming: { entry: "[dir]/[name].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
    jsx: { runtime: "automatic", importSource: "preact", development: false },
    define: { "process.env.NODE_ENV": '"production"', heraldCommand: JSON.stringify(command) },
  });
  const files = outputs.map(async (output): Promise<[string, PageFile]> => {
    const type = output.type.replace(";charset", "; charset");
    // Scripts find each other beside themselves. The address of a page is no folder, so its links name all of their path.
    const bytes = type.startsWith("text/html")
      ? (await output.text()).replaceAll(/"\.\.?\/assets\//g, '"/console/assets/')
      : new Uint8Array(await output.arrayBuffer());
    return [output.path.replace(/^\.\//, ""), await packFile(type, bytes)];
  });
  return new Map(await Promise.all(files));
}
