import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { handshake, postJson, sendJson } from "../harness/clients/handshake.ts";

/** What opens a connection: each text is written once the one before has been answered by so many HTTP heads or frames. */
export type Step = { bytes: Buffer; answers: number };

/** A connection that publishes: its request has a mark, and possibly 32 digits of an id, which are new each time. */
export type Publisher = { opening: readonly Step[]; request: Buffer; answer: "http" | "frame" };

/** How much is published: as much as can be under way at a time, or a number a second, whatever comes back. */
export type Load = {
  port: number;
  listeners: readonly (readonly Step[])[];
  publishers: readonly Publisher[];
  inFlight: number;
  perSecond: number;
  warmUpMs: number;
  runMs: number;
  /** How many connections are opened at a time. */
  openingAtOnce: number;
};

/** Latencies in microseconds: the median, 99 %, 99.9 % and the longest. */
type Latency = readonly [p50: number, p99: number, p999: number, longest: number];

/** What the generator saw. Latencies count from the time a message was to be sent. */
export type Seen = {
  seconds: number;
  published: number;
  answered: number;
  refused: number;
  deliveries: number;
  /** CPU time of the generator, in cores. */
  busy: number;
  /** Seconds until all connections were open. */
  openedIn: number;
  eachUs: Latency;
  lastUs: Latency;
  answerUs: Latency;
};

/** 26 bytes: `~~`, 8 digits of a number, 16 digits of a time. */
export const mark = `~~${"0".repeat(24)}`;
/** 32 hexadecimal digits. */
export const idDigits = "1".repeat(32);

const answers = { http: 1, frame: 2 } as const;
const none = 0xffffffff;
const host = "127.0.0.1";

/** Compiles the generator, unless it is newer than its source. Returns its path. Throws without a C compiler. */
export function buildGenerator(folder: string): string {
  const source = join(import.meta.dir, "generator.c");
  const program = join(folder, "generator");
  if (existsSync(program) && statSync(program).mtimeMs > statSync(source).mtimeMs) return program;
  mkdirSync(folder, { recursive: true });
  execFileSync("cc", ["-O2", "-o", program, source], { stdio: "inherit" });
  return program;
}

/**
 * Runs the load on a core of its own. `onPhase` is called when all connections are open, and when the measured time begins
 * and ends.
 */
export async function generate(
  program: string,
  load: Load,
  core: number,
  onPhase: (phase: "open" | "begin" | "end") => void,
): Promise<Seen> {
  const child = Bun.spawn(["taskset", "-c", String(core), program], {
    stdin: new Uint8Array(planOf(load)),
    stdout: "pipe",
    stderr: "inherit",
  });
  process.on("exit", () => child.kill("SIGKILL"));
  let last = "";
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "open" || line === "begin" || line === "end") onPhase(line);
      else last = line;
    }
  }
  const code = await child.exited;
  if (code !== 0) throw new Error(`the generator ended with code ${code}: ${last}`);
  return JSON.parse(last);
}

function planOf(load: Load): Buffer {
  const { port, listeners, publishers, inFlight, perSecond, warmUpMs, runMs, openingAtOnce } = load;
  const head = [port, listeners.length, publishers.length, inFlight, perSecond, warmUpMs, runMs, openingAtOnce];
  return Buffer.concat([
    ...head.map(numberOf),
    ...listeners.flatMap(openingOf),
    ...publishers.flatMap(({ opening, request, answer }) => [
      ...openingOf(opening),
      numberOf(answers[answer]),
      numberOf(placeOf(request, mark)),
      numberOf(request.includes(idDigits) ? placeOf(request, idDigits) : none),
      ...textOf(request),
    ]),
  ]);
}

function openingOf(steps: readonly Step[]): Buffer[] {
  return [numberOf(steps.length), ...steps.flatMap(({ bytes, answers }) => [numberOf(answers), ...textOf(bytes)])];
}

function textOf(bytes: Buffer): Buffer[] {
  return [numberOf(bytes.length), bytes];
}

function numberOf(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function placeOf(bytes: Buffer, text: string): number {
  const at = bytes.indexOf(text);
  if (at === -1) throw new Error(`the request has no ${text}`);
  return at;
}

/** The request that opens a WebSocket, answered by `answers` heads and frames. */
export function upgrade(path: string, { protocol, answers = 1 }: { protocol?: string; answers?: number } = {}): Step {
  const lines = protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`];
  return { bytes: Buffer.from(handshake(host, path, lines)), answers };
}

/** The request that publishes with POST. */
export function post(path: string, body: string, lines: readonly string[] = []): Buffer {
  return postJson(host, path, body, lines);
}

/** The request that publishes with PUT. */
export function put(path: string, body: string, lines: readonly string[] = []): Buffer {
  return sendJson("PUT", host, path, body, lines);
}
