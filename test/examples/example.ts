import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { start } from "../docs/process.ts";
import { createProject, outsideEnvironment, type Project, packSdk } from "../packages/project.ts";

/** The folder of the examples. */
export const examples = join(import.meta.dir, "../../examples");

const madeHere = /\/(node_modules|\.next)\/|next-env\.d\.ts$|package-lock\.json$/;

/** Copies an example to a folder outside of the repository and installs what it needs, with the packed SDK. */
export function installExample(name: string): Project {
  using sdk = packSdk();
  const folder = join(examples, name);
  const files: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !madeHere.test(path))
      files[relative(folder, path)] = readFileSync(path, "utf8").replaceAll("file:../../sdk", sdk.file);
  }
  return createProject(files, {});
}

/** Starts a program of an example, and waits until it prints its address, which `address` matches. */
export async function startExample(
  { folder }: Project,
  command: string[],
  { env, address }: { env: Record<string, string>; address: RegExp },
) {
  const program = start(command, { cwd: folder, env: outsideEnvironment(env) });
  try {
    const [url] = await program.waitFor(address, 30_000);
    return { url, program, [Symbol.asyncDispose]: async () => void (await program.stop()) };
  } catch (error) {
    await program.stop();
    throw error;
  }
}
