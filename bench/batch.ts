// Measures batches: `exec bun bench/batch.ts --database sqlite --rounds 5` starts a server and sends, in turns, with 64 callers, each
// with a connection of its own and one request in flight, and with one batch over HTTP from another process (curl). Prints the sends
// per second and the server's CPU of each, and the median of the rounds' own ratios. `--pace 500` measures instead how exactly that
// rate is kept; `--lines 1000000` how much memory the server takes for so many lines.
import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { sendsTo, warmUp } from "./cases/sends.ts";
import { idPlaceholder } from "./harness/clients/lane.ts";
import { startHerald } from "./harness/herald.ts";
import { memoryOf, peakMemoryOf, startMeter } from "./harness/meter.ts";
import { benchOrg, sendBody } from "./harness/organization.ts";
import { median } from "./harness/report/statistics.ts";

const { values } = parseArgs({
  options: {
    database: { type: "string", default: "sqlite" },
    rounds: { type: "string", default: "5" },
    pace: { type: "string" },
    lines: { type: "string" },
  },
});
const callers = 64;
const roundMs = 2_000;
const linesOfRound = 30_000;
const paceMs = 10_000;

const folder = mkdtempSync(join(tmpdir(), "herald-batch-"));
const file = join(folder, "lines");
const template = `${JSON.stringify(sendBody(benchOrg.quiet))}\n`;

/** Writes a file of so many messages, each with a new random id. */
async function write(lines: number): Promise<void> {
  const sink = Bun.file(file).writer({ highWaterMark: 1024 * 1024 });
  for (let index = 0; index < lines; index++) {
    void sink.write(template.replace(idPlaceholder, crypto.randomUUID().replaceAll("-", "")));
    if (index % 10_000 === 0) await sink.flush();
  }
  await sink.end();
}

/** Sends the file in one batch, and calls `onAnswer` with each line of the response. */
async function sendFile(url: string, query: string, onAnswer: (line: string) => void): Promise<void> {
  const headers = ["-H", `Admin-Api-Key: ${benchOrg.key}`, "-H", "Content-Type: application/x-ndjson"];
  const target = `${url}/admin/message/batch${query}`;
  const answers = join(folder, "answers");
  const child = Bun.spawn(["curl", "-sN", "-X", "POST", "-T", file, ...headers, target], { stdout: Bun.file(answers) });
  await child.exited;
  for await (const line of createInterface({ input: createReadStream(answers) })) onAnswer(line);
}

/** Sends the file and requires that every line is stored. Returns how many, and how long it took. */
async function sendAll(url: string, query = ""): Promise<{ lines: number; ms: number }> {
  const startedAt = performance.now();
  let [lines, ms] = [0, 0];
  await sendFile(url, query, (line) => {
    ms ||= performance.now() - startedAt;
    if (!line.includes('"status":201')) throw new Error(`a line was answered with ${line}`);
    lines++;
  });
  return { lines, ms };
}

const shown = (value: number, digits = 0) => value.toLocaleString("en-US", { maximumFractionDigits: digits });
const megabytes = (bytes: number) => Math.round(bytes / 1e6);

const postgres = values.database === "postgres" ? await startPostgres() : undefined;
const settings: Record<string, string> =
  postgres === undefined ? {} : { HERALD_DATABASE_URL: await postgres.createDatabase() };
const herald = await startHerald(folder, settings);
try {
  await herald.putConversation(benchOrg.quiet, []);
  await warmUp(herald, roundMs);
  if (values.pace !== undefined) await measurePace(Number(values.pace));
  else if (values.lines !== undefined) await measureMemory(Number(values.lines));
  else await measureRates(Number(values.rounds));
} finally {
  await herald.stop();
  postgres?.stop();
  rmSync(folder, { recursive: true });
}
process.exit(0);

async function measureRates(rounds: number): Promise<void> {
  const singles = sendsTo(herald, callers);
  const found: Record<"singles" | "batch" | "ratio" | "singlesCpu" | "batchCpu", number[]> = {
    singles: [],
    batch: [],
    ratio: [],
    singlesCpu: [],
    batchCpu: [],
  };
  for (let round = 0; round < rounds; round++) {
    const { perSecond = 0, serverCpuMicros = 0 } = await singles.run(roundMs);
    await write(linesOfRound);
    const stopMeter = startMeter(herald.pid);
    const { lines, ms } = await sendAll(herald.url);
    const { serverCpuMs } = stopMeter();
    const rate = (lines * 1_000) / ms;
    found.singles.push(perSecond);
    found.batch.push(rate);
    found.ratio.push(rate / perSecond);
    found.singlesCpu.push(serverCpuMicros);
    found.batchCpu.push((serverCpuMs * 1_000) / lines);
    console.log(`round ${round + 1}: ${shown(perSecond)}/s by ${callers} callers, ${shown(rate)}/s by a batch`);
  }
  console.log(
    `${values.database}: ${callers} callers ${shown(median(found.singles))}/s, ${shown(median(found.singlesCpu), 1)} µs each; ` +
      `a batch ${shown(median(found.batch))}/s, ${shown(median(found.batchCpu), 1)} µs each; ratio ${shown(median(found.ratio), 2)}`,
  );
}

async function measurePace(rate: number): Promise<void> {
  await write(Math.round((rate * paceMs) / 1_000));
  const { lines, ms } = await sendAll(herald.url, `?rate=${rate}`);
  const found = ((lines - 1) * 1_000) / ms;
  console.log(`${values.database}, rate=${rate}: ${shown(found, 1)}/s, ${shown((found / rate - 1) * 100, 2)} % off`);
}

async function measureMemory(lines: number): Promise<void> {
  await write(lines);
  const before = memoryOf(herald.pid);
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, memoryOf(herald.pid));
  }, 100);
  const { ms } = await sendAll(herald.url);
  clearInterval(timer);
  console.log(
    `${values.database}, ${shown(lines)} lines: ${shown((lines * 1_000) / ms)}/s, ${megabytes(before)} MB before, at most ` +
      `${megabytes(most)} MB, peak since the start ${megabytes(peakMemoryOf(herald.pid))} MB`,
  );
}
