import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../..");
const startMayTakeMs = 20_000;

/** A server in a process of its own. */
export type Peer = { name: string; url: string; pid: number; stop(): Promise<void> };

/** Creates a folder on the repository's disk, where a flush is a real flush: `/tmp` may be in memory. */
export function createDataDir(): { path: string; remove(): void } {
  const parent = join(root, "bench/data");
  mkdirSync(parent, { recursive: true });
  const path = mkdtempSync(join(parent, "run-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** The checkout to start a peer from (this one by default), and what to call with each line that it writes. */
export type PeerOptions = { root?: string | undefined; onLine?: ((line: string) => void) | undefined };

/** Starts a script of the repository and waits until it logs the line `{"msg":"listening","url":…}`. */
export async function startPeer(
  name: string,
  command: readonly string[],
  env: Record<string, string> = {},
  { root: cwd = root, onLine }: PeerOptions = {},
): Promise<Peer> {
  const child = Bun.spawn([process.execPath, ...command], {
    cwd,
    env: { ...withoutSettings(process.env), NODE_ENV: "production", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  process.on("exit", () => child.kill("SIGKILL"));
  const timer = setTimeout(() => child.kill("SIGKILL"), startMayTakeMs);
  const url = await readUrl(child.stdout, onLine);
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

/** Prints the line by which a script says that it is ready. */
export function sayListening(port: number | undefined): void {
  console.log(JSON.stringify({ msg: "listening", url: `http://127.0.0.1:${port}` }));
}

/** Resolves with the address once the script prints it, and keeps reading: an unread log would fill the pipe. */
function readUrl(stdout: ReadableStream<Uint8Array>, onLine?: (line: string) => void): Promise<string | undefined> {
  const { promise, resolve: found } = Promise.withResolvers<string | undefined>();
  const decoder = new TextDecoder();
  let rest = "";
  const take = (chunk: Uint8Array) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.includes('"listening"')) found(new URL(String(JSON.parse(line).url)).origin);
      onLine?.(line);
    }
  };
  stdout.pipeTo(new WritableStream({ write: take })).then(
    () => found(undefined),
    () => found(undefined),
  );
  return promise;
}

function withoutSettings(env: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("HERALD_")));
}
