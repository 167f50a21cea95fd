import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { $, Glob } from "bun";
import packageJson from "../../package.json" with { type: "json" };
import { compileHerald } from "./compile.ts";
import { createFolder } from "./folder.ts";
import { renderNotices } from "./notices.ts";
import type { Target } from "./targets.ts";

const root = resolve(import.meta.dir, "../..");
const deploy = (file: string) => join(root, "deploy", file);
const maintainer = "The Herald maintainers <maintainers@herald.invalid>";
const version = packageJson.version.replace("-", "~"); // 1.0.0~rc.1 is older than 1.0.0

const completions = {
  bash: "usr/share/bash-completion/completions/herald",
  zsh: "usr/share/zsh/vendor-completions/_herald",
  fish: "usr/share/fish/vendor_completions.d/herald.fish",
};

type Options = {
  /** What Debian calls the machine. */
  architecture: string;
  /** The machine; this one if it is missing. */
  target?: Target;
  /** The folder of the package. */
  folder?: string;
  /** Options of dpkg-deb. By default it makes the package small, which takes most of a minute. */
  compression?: string[];
};

/**
 * Makes a Debian package with the binary, the systemd unit, the settings file and completions. The times of its files are
 * those of the last commit, or `SOURCE_DATE_EPOCH`, so that the same commit gives the same package.
 */
export async function packDeb({
  architecture,
  target,
  folder = "dist",
  compression = ["-Zxz"],
}: Options): Promise<{ file: string; bytes: number }> {
  const epoch = process.env.SOURCE_DATE_EPOCH ?? (await $`git -C ${root} log -1 --format=%ct`.text()).trim();
  using stage = createFolder(folder);
  chmodSync(stage.path, 0o755);
  const add = (path: string, content: string | Uint8Array, mode = 0o644): void => {
    const file = join(stage.path, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content, { mode });
    chmodSync(file, mode);
  };
  const addDocument = (name: string, text: string) =>
    add(`usr/share/doc/herald/${name}.gz`, gzipSync(text, { level: 9 }));

  await compileHerald(join(stage.path, "usr/bin/herald"), target);
  add("usr/lib/systemd/system/herald.service", readFileSync(deploy("herald.service")));
  add("etc/herald/herald.env", readFileSync(deploy("debian/herald.env")), 0o640);
  add("usr/share/doc/herald/copyright", readFileSync(deploy("debian/copyright")));
  add("usr/share/lintian/overrides/herald", readFileSync(deploy("debian/lintian-overrides")));
  for (const [shell, path] of Object.entries(completions))
    add(path, await $`${process.execPath} ${root}/src/cli/herald.ts completion ${shell}`.text());
  addDocument("changelog", renderChangelog(new Date(Number(epoch) * 1000)));
  addDocument("third-party-licences.txt", renderNotices());

  const installed = [...new Glob("**/*").scanSync({ cwd: stage.path })].toSorted();
  const bytes = installed.reduce((sum, file) => sum + statSync(join(stage.path, file)).size, 0);
  for (const script of ["postinst", "prerm", "postrm"])
    add(`DEBIAN/${script}`, readFileSync(deploy(`debian/${script}`)), 0o755);
  add("DEBIAN/conffiles", "/etc/herald/herald.env\n");
  add(
    "DEBIAN/md5sums",
    installed
      .filter((file) => !file.startsWith("etc/"))
      .map(renderSum)
      .join(""),
  );
  add("DEBIAN/control", renderControl(architecture, bytes));

  const file = join(folder, `herald_${version}_${architecture}.deb`);
  await $`dpkg-deb --root-owner-group ${compression} --build ${stage.path} ${file}`
    .env({ ...process.env, SOURCE_DATE_EPOCH: epoch })
    .quiet();
  return { file, bytes: statSync(file).size };

  function renderSum(path: string): string {
    return `${createHash("md5")
      .update(readFileSync(join(stage.path, path)))
      .digest("hex")}  ${path}\n`;
  }
}

function renderControl(architecture: string, bytes: number): string {
  return `Package: herald
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: adduser, libc6 (>= 2.17)
Section: net
Priority: optional
Description: real-time delivery of messages to users who are online
 A backend makes one HTTP call; Herald stores the message and immediately
 pushes it to every open connection of every recipient. A client that was
 disconnected receives what it missed, in order.
 .
 The package contains the program with its runtime, and a systemd service.
`;
}

function renderChangelog(date: Date): string {
  const when = date.toUTCString().replace("GMT", "+0000");
  return `herald (${version}) unstable; urgency=medium\n\n  * See CHANGELOG.md of this version.\n\n -- ${maintainer}  ${when}\n`;
}
