import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The user that the image runs as, who has no name and no home elsewhere. */
const user = 65532;

/** What Bun is linked against: the loader, and glibc, which finds hosts by itself since 2.34. */
const libraries = [/^ld-linux-.*\.so\.\d$/, /^libc\.so\.6$/, /^libm\.so\.6$/, /^libpthread\.so\.0$/, /^libdl\.so\.2$/];

const texts: Readonly<Record<string, string>> = {
  "etc/passwd": `herald:x:${user}:${user}:Herald:/data:/nonexistent\n`,
  "etc/group": `herald:x:${user}:\n`,
  "etc/nsswitch.conf": "hosts: files dns\n",
};

const documentFolder = "usr/share/doc/herald";

/** What goes into an image: the binary, glibc, and the licences that go with them, by file name. */
type Contents = {
  readonly binary: string;
  readonly libraryFolder: string;
  readonly documents: Readonly<Record<string, string>>;
};

/**
 * Lays out the image's files in `folder`, which is emptied first: `root` has the program, the C library that it is linked
 * against, and what programs expect to find; `owned` has what belongs to Herald's user. Throws if a library is missing.
 */
export function layOut(folder: string, { binary, libraryFolder, documents }: Contents): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "owned/data"), { recursive: true });
  chmodSync(join(folder, "owned/data"), 0o700);
  const root = join(folder, "root");
  for (const name of ["etc", "lib", "tmp", "usr/bin", documentFolder]) mkdirSync(join(root, name), { recursive: true });
  chmodSync(join(root, "tmp"), 0o1777);
  symlinkSync("lib", join(root, "lib64")); // where the loader is on x64
  const found = readdirSync(libraryFolder);
  for (const pattern of libraries) {
    const name = found.find((file) => pattern.test(file));
    if (name === undefined) throw new Error(`${libraryFolder} has no ${pattern.source}: give Debian's folder of glibc`);
    copyFileSync(join(libraryFolder, name), join(root, "lib", name));
    chmodSync(join(root, "lib", name), 0o755);
  }
  for (const [path, text] of Object.entries(texts)) writeFileSync(join(root, path), text);
  for (const [name, text] of Object.entries(documents)) writeFileSync(join(root, documentFolder, name), text);
  copyFileSync(binary, join(root, "usr/bin/herald"));
  chmodSync(join(root, "usr/bin/herald"), 0o755);
}

/** The folder of this machine's glibc, as Debian names it. */
export const ownLibraryFolder = (): string => `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`;
