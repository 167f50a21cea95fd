// Checks the npm packages as they would be published. Of @herald/sdk: its manifest (publint), how its types resolve (attw), and the
// bytes that it adds to a page, and that an editor has something to show for each public member. Of herald: that it has what a server needs, and nothing else.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { buildSdk } from "../build/sdk.ts";
import { undocumentedMembers } from "./public-members.ts";

const folder = "sdk";
// Bytes of what a page loads first, minified and compressed by brotli: without what is imported only when it is needed, and without
// other packages.
const budgets = [
  { what: "client", entries: ["index.js"], atMost: 4_950 },
  { what: "client and React", entries: ["react.js"], atMost: 5_650 },
];
// The package is ESM only, so CommonJS needs a dynamic import, and before Node 16 `exports` was unknown.
const acceptedProblems = new Set(["CJSResolvesToESM", "NoResolution"]);
const oldResolution = "node10";

// What `herald` may have: the sources of the server, of the command line and of the console, which are bundled at the start, and the
// pages that the server shows.
const ofServer =
  /^(bin|console|sdk|src)\/|^docs\/(tutorial|how-to|reference|explanation)\/[\w-]+\.md$|^(CHANGELOG\.md|LICENSE|README\.md|package\.json|tsconfig\.json)$/;
const ofTests = /\.test\.tsx?$|\/testing\//;
const serverAtMost = 1_345_000; // of which the pages are 190,000

buildSdk();
const problems = [
  ...(await lintManifest()),
  ...(await resolveTypes()),
  ...(await weigh()),
  ...listServer(),
  ...findSilent(),
];
if (problems.length > 0) {
  console.log(problems.join("\n"));
  process.exit(1);
}

async function lintManifest(): Promise<string[]> {
  const { messages, pkg } = await publint({ pkgDir: folder, strict: true });
  return messages.map((message) => `publint: ${formatMessage(message, pkg) ?? message.code}`);
}

type Packed = { filename: string; size: number; files: { path: string }[] };

function pack(cwd: string, ...options: string[]): Packed {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["npm", "pack", "--json", "--loglevel=error", ...options], {
    cwd,
  });
  if (exitCode !== 0) throw new Error(`npm pack ended with ${exitCode}: ${stderr}`);
  const [packed]: [Packed] = JSON.parse(stdout.toString());
  return packed;
}

async function resolveTypes(): Promise<string[]> {
  const file = join(folder, pack(folder, "--ignore-scripts").filename);
  const analysis = await checkPackage(createPackageFromTarballData(readFileSync(file)));
  rmSync(file);
  if (analysis.types === false) return ["attw: the package has no types"];
  return analysis.problems
    .filter((problem) => !("resolutionKind" in problem && problem.resolutionKind === oldResolution))
    .filter(({ kind }) => !acceptedProblems.has(kind))
    .map((problem) => `attw: ${JSON.stringify(problem)}`);
}

function findSilent(): string[] {
  const entries = ["index.d.ts", "admin.d.ts", "webhooks.d.ts", "react.d.ts"];
  const members = undocumentedMembers(join(folder, "dist"), entries);
  return members.map((member) => `${member} is public and has no docstring in the declarations`);
}

/** Bundlers make files of their own of what is imported dynamically. */
function leaveOutLater({ path, kind }: { path: string; kind: string }) {
  return kind === "dynamic-import" ? { path, external: true } : undefined;
}

async function weigh(): Promise<string[]> {
  const found = budgets.map(async ({ what, entries, atMost }) => {
    const { outputs } = await Bun.build({
      entrypoints: entries.map((entry) => join(folder, "dist", entry)),
      target: "browser",
      minify: true,
      packages: "external",
      plugins: [{ name: "later", setup: (build) => void build.onResolve({ filter: /./ }, leaveOutLater) }],
    });
    const texts = await Promise.all(outputs.map((output) => output.text()));
    const bytes = texts.reduce((sum, text) => sum + brotliCompressSync(text).length, 0);
    console.log(`${what}: ${bytes} of ${atMost} bytes`);
    return bytes <= atMost
      ? []
      : [`${what}: ${bytes} bytes, and may have ${atMost}: make it smaller, or move what few apps need`];
  });
  return (await Promise.all(found)).flat();
}

function listServer(): string[] {
  const { size, files } = pack(".", "--dry-run");
  console.log(`herald: ${files.length} files, ${size} of ${serverAtMost} bytes`);
  const foreign = files.filter(({ path }) => !ofServer.test(path) || ofTests.test(path));
  return [
    ...foreign.map(({ path }) => `herald: a server does not need ${path}: change \`files\` in package.json`),
    ...(size <= serverAtMost ? [] : [`herald: ${size} bytes packed, and may have ${serverAtMost}`]),
  ];
}
