import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a finished command left. */
export type Finished = { code: number; stdout: string; stderr: string };

/** How a command is run: its environment on top of one without any `HERALD_*` or profile, its folder, its standard input. */
export type RunOptions = { env?: Record<string, string>; cwd?: string; stdin?: string | Uint8Array };

/** A command that runs; `lines` and `errorLines` are those of stdout and stderr, as they come. Disposing kills it. */
export type Running = {
  pid: number;
  lines: AsyncGenerator<string, undefined>;
  errorLines: AsyncGenerator<string, undefined>;
  exited: Promise<number>;
  kill(signal: NodeJS.Signals): void;
} & AsyncDisposable;

const script = new URL("../herald.ts", import.meta.url).pathname;

function environment(extra: Record<string, string> = {}): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("HERALD_"));
  return { ...Object.fromEntries(inherited), XDG_CONFIG_HOME: "/nonexistent", ...extra };
}

/** How `herald` is started with these arguments. */
export function commandLine(args: string[], { env, cwd = tmpdir() }: RunOptions = {}) {
  return { command: [process.execPath, script, ...args], env: environment(env), cwd };
}

/** Starts `herald` with these arguments and does not wait. */
export function startHeraldCommand(args: string[], options: RunOptions = {}): Running {
  const { stdin = "" } = options;
  const input = typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin;
  const { command, env, cwd } = commandLine(args, options);
  const child = Bun.spawn(command, { env, cwd, stdin: input, stdout: "pipe", stderr: "pipe" });
  return {
    pid: child.pid,
    lines: readLines(child.stdout),
    errorLines: readLines(child.stderr),
    exited: child.exited,
    kill: (signal) => child.kill(signal),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Runs `herald` with these arguments to its end. */
export async function runHerald(args: string[], options: RunOptions = {}): Promise<Finished> {
  const running = startHeraldCommand(args, options);
  const [stdout, stderr] = await Promise.all([collect(running.lines), collect(running.errorLines)]);
  return { code: await running.exited, stdout, stderr };
}

/** All lines to the end, as one text. */
export async function collect(lines: AsyncGenerator<string, undefined>): Promise<string> {
  return (await Array.fromAsync(lines, (line) => `${line}\n`)).join("");
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}

/** A server in a process and a folder of its own. Disposing stops it and removes the folder. */
export type TestServer = { url: string; env: Record<string, string>; cwd: string; process: Running } & AsyncDisposable;

/** Starts `herald serve` with a demo organization, or other settings, and waits until it listens. */
export async function startServer(settings: Record<string, string> = { HERALD_DEMO: "1" }): Promise<TestServer> {
  const cwd = mkdtempSync(join(tmpdir(), "herald-cli-"));
  const env = { HERALD_HOST: "127.0.0.1", HERALD_PORT: "0", ...settings };
  const running = startHeraldCommand(["serve"], { env, cwd });
  const dispose = async () => {
    await running[Symbol.asyncDispose]();
    rmSync(cwd, { recursive: true, force: true });
  };
  for (let line = await running.lines.next(); !line.done; line = await running.lines.next()) {
    const url = listeningUrl(line.value);
    if (url !== undefined) return { url, env: settings, cwd, process: running, [Symbol.asyncDispose]: dispose };
  }
  const stderr = await collect(running.errorLines);
  await dispose();
  throw new Error(`herald serve ended before it listened: ${stderr}`);
}

function listeningUrl(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  const { msg, url }: { msg?: unknown; url?: unknown } = JSON.parse(line);
  return msg === "listening" && typeof url === "string" ? url : undefined;
}
