import { afterAll, beforeAll, expect, setDefaultTimeout } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Problem } from "../clients/wire.ts";
import { within } from "../deadline.ts";
import { clusterSettings, nodesOfCluster, workersOfService } from "./on-cluster.ts";

const root = resolve(import.meta.dir, "../../..");
/** With it, Herald is this file instead of the sources, as in CI (`tools/test-all.ts`). */
const { TEST_HERALD_BINARY: binary } = process.env;

/** How Herald names its own command in what it prints. */
export const typedCommand = binary ?? "npx herald";

/** The key of every test server: 32 to 200 visible ASCII characters, as the contract requires. */
export const TEST_KEY = "test-key-0123456789abcdefghijklmnopqrstuvwxyz";
/** The secret with which tests sign tokens of their own. */
export const TEST_TOKEN_SECRET = "test-secret-0123456789abcdefghijklmnopqrstuvwxyz";

export type Answer<T> = { status: number; headers: Headers; body: T; text: string };
export type LogLine = { level?: number; msg?: string; url?: string; [member: string]: unknown };

/** A running server. `admin` sends JSON with the key; `http` sends exactly what it is given. */
export type Herald = {
  url: string;
  key: string;
  dataDir: string;
  pid: number;
  admin<T = Problem>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<T>>;
  http<T = Problem>(
    method: string,
    path: string,
    init?: { body?: BodyInit; headers?: Record<string, string> },
  ): Promise<Answer<T>>;
  /** SIGTERM; waits for the end and expects exit code 0. */
  stop(): Promise<void>;
  /** SIGKILL; waits for the end. */
  kill(): Promise<void>;
  signal(name: "SIGHUP" | "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
  exited: Promise<number>;
  logs(): string;
  logLines(): LogLine[];
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * `key: null` starts without `HERALD_ADMIN_API_KEY`. A given `dataDir` is not removed at the end. `prefix` is a command
 * that prepares the environment and becomes the server (`exec`). `ca` is the certificate that TLS requests trust.
 * `revision` is the folder of another revision of Herald to start instead of this one, and `program` a command that is
 * Herald itself, as the binary is.
 */
export type HeraldOptions = {
  env?: Record<string, string>;
  dataDir?: string;
  key?: string | null;
  args?: string[];
  prefix?: string[];
  ca?: string;
  revision?: string;
  program?: string[];
};

const running = new Set<Bun.Subprocess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

function cleanEnvironment(env: Record<string, string>): Record<string, string> {
  const clean: Record<string, string> = { NO_COLOR: "1" };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !name.startsWith("HERALD_")) clean[name] = value;
  }
  return { ...clean, ...env };
}

type Surroundings = Pick<HeraldOptions, "prefix" | "revision" | "program">;

/** The command that is Herald, without arguments. */
function commandOf({ revision, program }: Surroundings): string[] {
  if (program !== undefined) return program;
  if (revision !== undefined) return [join(revision, "node_modules/.bin/bun"), join(revision, "src/cli/herald.ts")];
  return binary === undefined ? [process.execPath, join(root, "src/cli/herald.ts")] : [binary];
}

function spawnHerald(args: string[], env: Record<string, string>, surroundings: Surroundings = {}) {
  const { prefix = [], revision = root } = surroundings;
  const child = Bun.spawn([...prefix, ...commandOf(surroundings), ...args], {
    cwd: revision,
    env: cleanEnvironment(env),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  return child;
}

/** Runs a command of Herald to its end. */
export async function runHerald(
  args: string[],
  env: Record<string, string> = {},
  surroundings: Surroundings = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawnHerald(args, env, surroundings);
  const ended = Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
  try {
    const [code, stdout, stderr] = await within(ended, `herald ${args.join(" ")} to end`);
    return { code, stdout, stderr };
  } finally {
    child.kill("SIGKILL");
  }
}

async function readLines(stream: ReadableStream<Uint8Array>, onLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  }
  if (rest !== "") onLine(rest);
}

function parseLogLine(line: string): LogLine | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null ? (parsed as LogLine) : undefined;
  } catch {
    return undefined;
  }
}

export async function readAnswer<T>(response: Response): Promise<Answer<T>> {
  const isEndless = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isEndless) await response.body?.cancel();
  const text = isEndless ? "" : await response.text();
  const isJson = /[/+]json\b/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson && text !== "" ? JSON.parse(text) : text) as T,
    text,
  };
}

/** How to call a server at a URL with a key. */
export function callsTo(
  url: string,
  { key, ca }: { key: string; ca?: string | undefined },
): Pick<Herald, "url" | "key" | "http" | "admin"> {
  const http: Herald["http"] = async (method, path, init = {}) =>
    readAnswer(
      await within(
        fetch(url + path, {
          method,
          ...(init.headers === undefined ? {} : { headers: init.headers }),
          ...(init.body === undefined ? {} : { body: init.body }),
          ...(ca === undefined ? {} : { tls: { ca } }),
        }),
        `the answer to ${method} ${path}`,
      ),
    );
  return {
    url,
    key,
    http,
    admin: (method, path, body, headers = {}) =>
      http(method, path, {
        headers: {
          "Admin-Api-Key": key,
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
}

/** Starts a server in a folder of its own and waits until it listens. */
export async function startHerald(options: HeraldOptions = {}): Promise<Herald> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "herald-test-"));
  const key = options.key === null ? "" : (options.key ?? TEST_KEY);
  const settings = {
    ...(options.env?.HERALD_DATABASE_URL === undefined && (await clusterSettings(TEST_TOKEN_SECRET))),
    HERALD_PORT: "0",
    HERALD_DATA_DIR: dataDir,
    ...(options.key === null ? {} : { HERALD_ADMIN_API_KEY: key }),
    ...options.env,
  };
  const child = spawnHerald(["serve", ...(options.args ?? [])], settings, options);
  const lines: string[] = [];
  const logs = () => lines.join("\n");
  const listening = Promise.withResolvers<string>();
  const onLine = (line: string) => {
    lines.push(line);
    const log = parseLogLine(line);
    if (log?.msg === "listening" && typeof log.url === "string") listening.resolve(log.url.replace(/\/$/, ""));
  };
  const output = Promise.all([readLines(child.stdout, onLine), readLines(child.stderr, onLine)]);
  void child.exited.then(async (code) => {
    await output;
    listening.reject(new Error(`herald ended with code ${code} before it listened:\n${logs()}`));
  });

  const kill = async () => {
    child.kill("SIGKILL");
    await within(child.exited, "the killed server to end");
    await output;
  };
  let url: string;
  try {
    url = await within(listening.promise, () => `"listening" in the logs of herald serve; they say:\n${logs()}`);
  } catch (error) {
    await kill();
    throw error;
  }

  return {
    ...callsTo(url, { key, ca: options.ca }),
    dataDir,
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      const code = await within(child.exited, () => `herald to end after SIGTERM; its logs:\n${logs()}`);
      await output;
      if (code !== 0) throw new Error(`herald ended with code ${code} after SIGTERM; its logs:\n${logs()}`);
    },
    kill,
    signal: (name) => child.kill(name),
    exited: child.exited,
    logs,
    logLines: () => lines.map(parseLogLine).filter((line) => line !== undefined),
    async [Symbol.asyncDispose]() {
      await kill();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Summarizes what the server logged at pino's level `error` or above, each entry once: a test that provokes only
 * mistakes of callers must leave none.
 */
export function errorsLogged(herald: Herald): string[] {
  const errors = herald.logLines().filter((line) => (line.level ?? 0) >= 50);
  const short = errors.map(({ msg, err }) => {
    const { type, message } = (typeof err === "object" && err !== null ? err : {}) as {
      type?: string;
      message?: string;
    };
    return type === undefined ? String(msg) : `${msg}: ${type}: ${message}`;
  });
  return [...new Set(short)];
}

/**
 * Presents nodes on one database as one service: every call and every connection goes to the next node. Other methods
 * apply to all of them.
 */
function inTurn(nodes: [Herald, ...Herald[]]): Herald {
  const [first] = nodes;
  let turn = 0;
  const next = (): Herald => nodes[turn++ % nodes.length] ?? first;
  const all = async (act: (node: Herald) => Promise<void>) => {
    await Promise.all(nodes.map(act));
  };
  return {
    ...first,
    get url() {
      return next().url;
    },
    http: (...call) => next().http(...call),
    admin: (...call) => next().admin(...call),
    stop: () => all((node) => node.stop()),
    kill: () => all((node) => node.kill()),
    logs: () => nodes.map((node) => node.logs()).join("\n"),
    logLines: () => nodes.flatMap((node) => node.logLines()),
    [Symbol.asyncDispose]: () => all((node) => node[Symbol.asyncDispose]()),
  };
}

/** Starts what the tests of a file use: one server or, under `npm run test:cluster`, three nodes as one service. */
async function startService({ oneNode, ...options }: ServiceOptions): Promise<Herald> {
  if (nodesOfCluster === 1 || oneNode !== undefined) return await startHerald(options);
  if (workersOfService > 1) return await startHerald({ ...options, args: ["--workers", String(workersOfService)] });
  const env = { ...(await clusterSettings(TEST_TOKEN_SECRET)), ...options.env };
  const first = await startHerald({ ...options, env });
  const others = Array.from({ length: nodesOfCluster - 1 }, () => startHerald({ ...options, env }));
  return inTurn([first, ...(await Promise.all(others))]);
}

/** `oneNode` says why a file's tests concern a single node, so that they get one under `npm run test:cluster`, too. */
type ServiceOptions = HeraldOptions & { oneNode?: string };

/**
 * Provides one service for the tests of a file: starts it before the first, stops it after the last (exit code 0), and
 * expects that it logged no errors of its own.
 */
export function useHerald(options: ServiceOptions = {}): () => Herald {
  setDefaultTimeout(120_000);
  let herald: Herald | undefined;
  beforeAll(async () => {
    herald = await startService(options);
  });
  afterAll(async () => {
    if (herald === undefined) return;
    await using server = herald;
    await server.stop();
    expect(errorsLogged(server)).toEqual([]);
  });
  return () => {
    if (herald === undefined) throw new Error("the server of this file has not started");
    return herald;
  };
}
