// Makes the container image of deploy/Dockerfile from a fresh binary and this machine's glibc, without pulling a base image:
// dist/herald-image-amd64.tar, for `docker load` and `podman load`. Needs buildah. `npm run build:image`
//
//   -- --arch arm64 --libraries DIR   for another architecture, with Debian's glibc of that architecture, and its `copyright`, in DIR
//   -- --output FILE                  another archive
//   -- --root-only                    only lays out dist/image/, as the Dockerfile does within its build
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { $ } from "bun";
import packageJson from "../../package.json" with { type: "json" };
import { compileHerald } from "../build/compile.ts";
import { createFolder } from "../build/folder.ts";
import { renderNotices } from "../build/notices.ts";
import { binaryOf, findTarget } from "../build/targets.ts";
import { layOut, ownLibraryFolder } from "./image-root.ts";

const root = resolve(import.meta.dir, "../..");
const own = process.arch === "arm64" ? "arm64" : "amd64";
const targets = { amd64: "linux-x64", arm64: "linux-arm64" } as const;

const { values } = parseArgs({
  options: {
    arch: { type: "string", default: own },
    libraries: { type: "string", default: ownLibraryFolder() },
    output: { type: "string" },
    "root-only": { type: "boolean", default: false },
  },
});

const fail = (message: string): never => {
  console.error(message);
  process.exit(1);
};

const { arch } = values;
if (arch !== "amd64" && arch !== "arm64") throw fail(`--arch is amd64 or arm64, not ${arch}`);
if (arch !== own && values.libraries === ownLibraryFolder()) fail(`give Debian's glibc for ${arch} with --libraries`);

const layOutImage = async (folder: string): Promise<void> => {
  const target = arch === own ? undefined : findTarget(targets[arch]);
  const binary = join(root, target === undefined ? "dist/herald" : binaryOf(target));
  await compileHerald(binary, target);
  const { libraries } = values;
  const glibc = libraries === ownLibraryFolder() ? "/usr/share/doc/libc6/copyright" : join(libraries, "copyright");
  const documents = {
    LICENSE: readFileSync(join(root, "LICENSE"), "utf8"),
    "third-party-licences.txt": renderNotices(),
    "glibc-licence.txt": readFileSync(glibc, "utf8"),
  };
  layOut(folder, { binary, libraryFolder: libraries, documents });
};

/** What git says, or `unknown` outside a clone. */
const ask = async (...args: string[]): Promise<string> => {
  const { exitCode, stdout } = await $`git ${args}`.cwd(root).nothrow().quiet();
  return exitCode === 0 ? stdout.toString().trim() : "unknown";
};

const build = async (output: string): Promise<void> => {
  if (Bun.which("buildah") === null)
    fail("buildah is not installed (apt-get install buildah). Or run: docker build --file deploy/Dockerfile .");
  using context = createFolder(tmpdir());
  await layOutImage(join(context.path, "built/image"));
  const [revision, seconds] = await Promise.all([ask("rev-parse", "HEAD"), ask("log", "-1", "--format=%ct")]);
  // The time of the commit, so that the same commit gives the same layer.
  const timestamp = seconds === "unknown" ? 0 : Number(seconds);
  const created = new Date(timestamp * 1000).toISOString();
  const facts = { VERSION: packageJson.version, REVISION: revision, CREATED: created };
  const args = Object.entries(facts).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]);
  // A store of its own, which is gone afterwards. Nothing is run in the build, so no runtime is needed.
  const store = [
    "--root",
    join(context.path, "store"),
    "--runroot",
    join(context.path, "run"),
    "--storage-driver",
    "vfs",
  ];
  const tag = `herald:${packageJson.version}`;
  const options = [
    "--format",
    "docker",
    "--identity-label=false",
    "--arch",
    arch,
    "--timestamp",
    String(timestamp),
    "--file",
  ];
  const built = `built=${join(context.path, "built")}`;
  const file = join(root, "deploy/Dockerfile");
  await $`buildah ${store} build --build-context ${built} ${args} ${options} ${file} --tag ${tag} ${context.path}`.quiet();
  rmSync(output, { force: true });
  await $`buildah ${store} push --quiet ${tag} docker-archive:${output}:${tag}`.quiet();
};

const startedAt = performance.now();
mkdirSync(join(root, "dist"), { recursive: true });
if (values["root-only"]) {
  await layOutImage(join(root, "dist/image"));
  console.log("dist/image/  laid out");
} else {
  const output = resolve(values.output ?? join(root, `dist/herald-image-${arch}.tar`));
  await build(output);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${output}  ${(statSync(output).size / 1e6).toFixed(1)} MB  ${seconds} s`);
}
