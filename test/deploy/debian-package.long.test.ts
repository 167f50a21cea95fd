import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packDeb } from "../../tools/build/debian-package.ts";
import { start } from "../docs/process.ts";
import { readersEnvironment } from "../docs/workspace.ts";
import { reportMissing } from "../harness/engines/installed.ts";

setDefaultTimeout(120_000);

const unit = readFileSync("deploy/herald.service", "utf8");
const systemdAnalyze = "/usr/bin/systemd-analyze";
const maxExposure = 2.5;

const folder = mkdtempSync(join(tmpdir(), "herald-deb-"));
afterAll(() => rmSync(folder, { recursive: true }));
const inFolder = (path: string) => join(folder, "installed", path);

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stdout}${stderr}`);
  return stdout.toString();
}

if (existsSync(systemdAnalyze) || reportMissing("systemd-analyze", "systemd"))
  test(`systemd rates the exposure of deploy/herald.service at ${maxExposure} of 10 or lower`, () => {
    run(systemdAnalyze, "security", "--offline=yes", `--threshold=${maxExposure * 10}`, "deploy/herald.service");
  });

if (existsSync("/usr/bin/dpkg-deb") || reportMissing("dpkg-deb", "dpkg"))
  describe("the Debian package", () => {
    let file = "";
    beforeAll(async () => {
      ({ file } = await packDeb({ architecture: "amd64", folder, compression: ["-Zgzip", "-z1"] }));
      run("dpkg-deb", "--extract", file, inFolder(""));
      run("dpkg-deb", "--control", file, inFolder("DEBIAN"));
    });

    test("contains the program, the unit, the settings, and what its licences require", () => {
      const listed = run("dpkg-deb", "--contents", file).trim().split("\n");
      const files = listed.flatMap((line) => {
        const [mode = "", owner = "", , , , path = ""] = line.split(/\s+/);
        return mode.startsWith("-") ? [`${mode} ${owner} ${path}`] : [];
      });
      expect(files).toEqual([
        "-rw-r----- root/root ./etc/herald/herald.env",
        "-rwxr-xr-x root/root ./usr/bin/herald",
        "-rw-r--r-- root/root ./usr/lib/systemd/system/herald.service",
        "-rw-r--r-- root/root ./usr/share/bash-completion/completions/herald",
        "-rw-r--r-- root/root ./usr/share/doc/herald/changelog.gz",
        "-rw-r--r-- root/root ./usr/share/doc/herald/copyright",
        "-rw-r--r-- root/root ./usr/share/doc/herald/third-party-licences.txt.gz",
        "-rw-r--r-- root/root ./usr/share/fish/vendor_completions.d/herald.fish",
        "-rw-r--r-- root/root ./usr/share/lintian/overrides/herald",
        "-rw-r--r-- root/root ./usr/share/zsh/vendor-completions/_herald",
      ]);
      expect(listed.filter((line) => line.startsWith("d") && !line.startsWith("drwxr-xr-x root/root"))).toEqual([]);
      const notices = run("gzip", "-dc", inFolder("usr/share/doc/herald/third-party-licences.txt.gz"));
      for (const name of ["Bun", "hono", "preact", "zod"]) expect(notices).toContain(`\n${name} `);
    });

    test("keeps the settings over an upgrade, and has maintainer scripts that the shell can read", () => {
      expect(readFileSync(inFolder("DEBIAN/conffiles"), "utf8")).toBe("/etc/herald/herald.env\n");
      for (const script of ["postinst", "prerm", "postrm"]) run("sh", "-n", inFolder(`DEBIAN/${script}`));
    });

    test("needs no newer C library than it says", () => {
      const control = readFileSync(inFolder("DEBIAN/control"), "utf8");
      const [, said = ""] = /libc6 \(>= 2\.(\d+)\)/.exec(control) ?? [];
      const program = readFileSync(inFolder("usr/bin/herald"), "latin1");
      const needed = [...program.matchAll(/\0GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
      expect(Math.max(...needed)).toBe(Number(said));
    });

    test("starts the server with the unit's command and the settings, and SIGINT stops it with 0", async () => {
      expect(readFileSync(inFolder("usr/lib/systemd/system/herald.service"), "utf8")).toBe(unit);
      const command = /^ExecStart=(.+)$/m.exec(unit)?.[1] ?? "";
      writeFileSync(inFolder("etc/herald/herald.env"), "HERALD_PORT=0\n", { flag: "a" });
      const data = inFolder("var/lib/herald");
      const server = start(
        command.split(" ").map((word) => (word.startsWith("/") ? inFolder(word) : word)),
        {
          cwd: folder,
          env: readersEnvironment({ HERALD_DATA_DIR: data }),
        },
      );
      try {
        await server.waitFor(/"msg":"listening"/, 10_000);
        expect(readdirSync(data)).toContain("admin-api-key");
      } finally {
        expect(await server.stop()).toBe(0);
      }
    });
  });
