import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { readersEnvironment } from "../docs/workspace.ts";
import { within } from "../harness/deadline.ts";
import { createProject, type Project, type Tarball } from "../packages/project.ts";

/** The folder of the examples. */
export const examples = join(import.meta.dir, "../../examples");

/** Copies an example to a folder outside of the repository and installs what it needs, with the packed SDK. */
export function installExample(name: string, sdk: Tarball): Project {
  const folder = join(examples, name);
  const files: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !/\/(node_modules|\.next)\//.test(path))
      files[relative(folder, path)] = readFileSync(path, "utf8").replaceAll("file:../../sdk", sdk.file);
  }
  return createProject(files, {});
}

/** A program that runs. */
export type Running = { url: string; output(): string; [Symbol.asyncDispose](): Promise<void> };

/** Starts a program of a project, and waits until it prints its address, which `address` matches. */
export async function startProgram(
  { folder }: Project,
  command: string[],
  { env, address }: { env: Record<string, string>; address: RegExp },
): Promise<Running> {
  const child = Bun.spawn(command, { cwd: folder, env: readersEnvironment(env), stdout: "pipe", stderr: "pipe" });
  const listening = Promise.withResolvers<string>();
  let printed = "";
  async function read(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const piece of stream) {
      printed += decoder.decode(piece, { stream: true });
      const url = address.exec(printed)?.[0];
      if (url !== undefined) listening.resolve(url);
    }
  }
  const output = Promise.all([read(child.stdout), read(child.stderr)]);
  void child.exited.then((code) => listening.reject(new Error(`it ended with ${code}:\n${printed}`)));
  const end = async () => {
    child.kill("SIGTERM");
    await child.exited;
    await output;
  };
  try {
    const url = await within(
      listening.promise,
      () => `${command.join(" ")} to listen; it printed:\n${printed}`,
      30_000,
    );
    return { url, output: () => printed, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}
