import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");
const startMayTakeMs = 20_000;

/** A server in a process of its own. */
export type Peer = { name: string; url: string; pid: number; stop(): Promise<void> };

/** A new folder on the disk of the repository, where a flush is a flush: `/tmp` may be memory. */
export function createDataDir(): { path: string; remove(): void } {
  const parent = join(root, "bench/data");
  mkdirSync(parent, { recursive: true });
  const path = mkdtempSync(join(parent, "run-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Starts a script of the repository and waits until it logs the line `{"msg":"listening","url":…}`. */
export async function startPeer(
  name: string,
  command: readonly string[],
  env: Record<string, string> = {},
): Promise<Peer> {
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: root,
    env: { ...withoutSettings(process.env), NODE_ENV: "production", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  process.on("exit", () => child.kill("SIGKILL"));
  const timer = setTimeout(() => child.kill("SIGKILL"), startMayTakeMs);
  const url = await readUrl(child.stdout);
  clearTimeout(timer);
  if (url === undefined) throw new Error(`${name} ended with code ${await child.exited} before it listened`);
  return {
    name,
    url,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

/** What a script says when it is ready. */
export function sayListening(port: number | undefined): void {
  console.log(JSON.stringify({ msg: "listening", url: `http://127.0.0.1:${port}` }));
}

async function readUrl(stdout: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const reader = stdout.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return undefined;
    text += decoder.decode(value, { stream: true });
    const line = text.split("\n").find((candidate) => candidate.includes('"listening"') && candidate.endsWith("}"));
    if (line === undefined) continue;
    drain(reader).catch(() => undefined);
    return new URL(String(JSON.parse(line).url)).origin;
  }
}

/** Reads on, so that a log that nobody wants does not fill the pipe. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

function withoutSettings(env: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("HERALD_")));
}
