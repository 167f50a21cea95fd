import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { PageFile } from "../../http/routes/console.ts";

const folder = fileURLToPath(new URL("../../../console/", import.meta.url));
const pages = ["index.html", "demo/index.html"];
const brotliQuality = 9; // 11 makes files 4 % smaller and takes eight times as long

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
    publicPath: "/console/",
    naming: { entry: "[dir]/[name].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
    jsx: { runtime: "automatic", importSource: "preact", development: false },
    define: { "process.env.NODE_ENV": '"production"', heraldCommand: JSON.stringify(command) },
  });
  const files = outputs.map(async (output): Promise<[string, PageFile]> => {
    const identity = new Uint8Array(await output.arrayBuffer());
    const [br, gz] = await Promise.all([compressBrotli(identity), promisify(gzip)(identity)]);
    const etag = `"${Bun.hash(identity).toString(36)}"`;
    const bytes = { identity, br: new Uint8Array(br), gzip: new Uint8Array(gz) };
    return [output.path.replace(/^\.\//, ""), { type: output.type.replace(";charset", "; charset"), etag, bytes }];
  });
  return new Map(await Promise.all(files));
}

async function compressBrotli(bytes: Uint8Array): Promise<Uint8Array> {
  return await promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } });
}
