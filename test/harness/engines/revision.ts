import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const repository = resolve(import.meta.dir, "../../..");

/**
 * Installs a revision of this repository with its dependencies below the system's folder for temporary files, and
 * returns its folder. An existing installation is reused. Rejects with advice if git lacks the commit.
 */
export async function installRevision(commit: string): Promise<string> {
  const folder = join(tmpdir(), `herald-revision-${commit}`);
  if (existsSync(folder)) return folder;
  await fetchCommit(commit);
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    await run(repository, "sh", "-c", 'git archive "$0" | tar -x -C "$1"', commit, unfinished);
    await run(unfinished, "npm", "ci", "--omit=dev", "--no-audit", "--no-fund");
    if (!existsSync(folder)) renameSync(unfinished, folder); // only a complete installation gets its final name
  } catch (error) {
    if (!existsSync(folder)) throw error; // otherwise another process was faster
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return folder;
}

/** Fetches the commit, which a shallow clone may lack. */
async function fetchCommit(commit: string): Promise<void> {
  const isThere = () =>
    run(repository, "git", "cat-file", "-e", `${commit}^{commit}`).then(
      () => true,
      () => false,
    );
  if (await isThere()) return;
  console.log(`the clone does not have commit ${commit}: fetching it`);
  try {
    await run(repository, "git", "fetch", "--quiet", "--depth=1", "origin", commit);
  } catch (cause) {
    const remedy = "run `git fetch --unshallow` (in CI: check out with the whole history) and start again";
    throw new Error(`git does not have commit ${commit} and cannot fetch it; ${remedy}`, { cause });
  }
}

async function run(cwd: string, ...command: string[]): Promise<void> {
  const child = Bun.spawn(command, { cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${stdout}${stderr}`);
}
