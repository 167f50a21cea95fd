import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const home = "/home/herald";
const nobody = 65_534;

/**
 * A machine for one program: it has that program, the C library, `/proc` and `/dev`, and nothing else. Only the home of
 * its user can be written to. `herald` is the command that runs the program there; arguments follow.
 */
export type BareMachine = { readonly herald: string[]; readonly home: string } & Disposable;

/** Creates a bare machine in a folder, which is the root of everything that runs there. Needs root. */
export function createBareMachine(program: string): BareMachine {
  const root = mkdtempSync(join(tmpdir(), "herald-bare-"));
  chmodSync(root, 0o755);
  for (const folder of ["/proc", "/dev", home]) mkdirSync(join(root, folder), { recursive: true });
  for (const library of librariesOf(program)) {
    mkdirSync(dirname(join(root, library)), { recursive: true });
    copyFileSync(library, join(root, library));
  }
  copyFileSync(program, join(root, "herald"));
  chownSync(join(root, home), nobody, nobody);
  const mounts = [
    'mount --bind "$0" "$0"',
    `mount --bind "$0${home}" "$0${home}"`,
    'mount --rbind /proc "$0/proc"',
    'mount --rbind /dev "$0/dev"',
    'mount -o remount,bind,ro "$0"',
  ];
  const enter = `exec unshare --root "$0" --wd ${home} --setgid ${nobody} --setuid ${nobody} -- "$@"`;
  return {
    herald: ["unshare", "--mount", "sh", "-c", [...mounts, enter].join(" && "), root, "/herald"],
    home: join(root, home),
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  };
}

/** The files that the system's loader reads to start a program. */
function librariesOf(program: string): string[] {
  const { stdout } = spawnSync("ldd", [program], { encoding: "utf8" });
  return [...stdout.matchAll(/\/\S+/g)].map(([file]) => file);
}
