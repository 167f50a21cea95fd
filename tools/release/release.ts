// Makes everything that a release consists of, in dist/release/, as the release workflow does: `npm run release -- --tag v1.2.3`
//
//   -- --tag v1.2.3  the tag that is released; it must name the version of package.json
//   -- --dry-run     needs no tag, leaves out what the tools of this machine cannot make, and says so
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { $ } from "bun";
import packageJson from "../../package.json" with { type: "json" };
import sdkPackageJson from "../../sdk/package.json" with { type: "json" };
import { findDeployTools } from "../../test/harness/engines/deploy-tools.ts";
import { binaryOf, targets } from "../build/targets.ts";

const folder = "dist/release";
const { version } = packageJson;
const { values } = parseArgs({ options: { tag: { type: "string" }, "dry-run": { type: "boolean", default: false } } });
const isDryRun = values["dry-run"];

/** A part of the release. Its `make` returns the files that it made; it throws, or says what is missing. */
type Part = { readonly name: string; make(): Promise<readonly string[] | { missing: string }> };

const parts: readonly Part[] = [
  {
    name: "binaries",
    async make() {
      await $`npm run --silent build:binary -- --all`.quiet();
      return [...targets.map(binaryOf), "dist/third-party-licences.txt"];
    },
  },
  {
    name: "npm packages",
    async make() {
      if (sdkPackageJson.version !== version)
        throw new Error(`sdk/package.json has the version ${sdkPackageJson.version}, not ${version}`);
      await $`npm pack --silent --workspace sdk --pack-destination dist`.quiet();
      await $`npm pack --silent --pack-destination dist`.quiet();
      // Under another name: the chart's is `herald-<version>.tgz`, too.
      return ["herald", "herald-sdk"].map((name) => {
        const file = `dist/${name}-npm-${version}.tgz`;
        renameSync(`dist/${name}-${version}.tgz`, file);
        return file;
      });
    },
  },
  {
    name: "Debian packages",
    async make() {
      if (Bun.which("dpkg-deb") === null) return { missing: "dpkg-deb is not installed" };
      await $`npm run --silent build:deb -- --all`.quiet();
      return filesOf("dist", /\.deb$/);
    },
  },
  {
    name: "image for this architecture",
    async make() {
      if (Bun.which("buildah") === null) return { missing: "buildah is not installed" };
      await $`npm run --silent build:image`.quiet();
      return filesOf("dist", /^herald-image-.*\.tar$/);
    },
  },
  {
    name: "chart",
    async make() {
      const tools = await findDeployTools();
      if (tools === undefined) return { missing: "Python with venv is not installed, which installs Helm's builder" };
      await $`${tools.helm} package deploy/helm/herald --destination dist --version ${version} --app-version ${version}`.quiet();
      return [`dist/herald-${version}.tgz`];
    },
  },
  {
    name: "compose files",
    async make() {
      const file = `dist/herald-${version}-compose.tar.gz`;
      const options = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--exclude=secrets"];
      await $`tar --create --gzip ${options} --file ${file} --directory deploy compose`.quiet();
      return [file];
    },
  },
  {
    name: "bill of materials",
    async make() {
      await $`npm run --silent sbom`.quiet();
      return ["dist/herald.cdx.json"];
    },
  },
];

const filesOf = (path: string, pattern: RegExp): string[] =>
  readdirSync(path)
    .filter((name) => pattern.test(name))
    .map((name) => join(path, name));

const fail = (message: string): never => {
  console.error(message);
  process.exit(1);
};

if (!isDryRun && values.tag !== `v${version}`)
  fail(
    `--tag must be v${version}, the version of package.json, not ${values.tag ?? "missing"}; --dry-run needs no tag`,
  );

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { name, make } of parts) {
  const startedAt = performance.now();
  const made = await make();
  if ("missing" in made) {
    if (!isDryRun) fail(`${name}: ${made.missing}`);
    console.log(`${name.padEnd(28)} left out: ${made.missing}`);
    continue;
  }
  for (const file of made) copyFileSync(file, join(folder, basename(file)));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${name.padEnd(28)} ${made.length} files  ${seconds} s`);
}

const sums = readdirSync(folder)
  .sort()
  .map(
    (name) =>
      `${createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex")}  ${name}\n`,
  );
writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
console.log(`${folder}/SHA256SUMS: ${sums.length} files`);
if (isDryRun)
  console.log("not made here: the image for other architectures, the provenance attestation, and what is published");
