import { expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { eventually, within } from "../harness/deadline.ts";
import { freePort } from "../harness/engines/free-port.ts";
import { reportMissing } from "../harness/engines/installed.ts";
import { readMetrics, sampleOf } from "../harness/reading/metrics.ts";

setDefaultTimeout(120_000);

const root = resolve(import.meta.dir, "../..");
const rounds = 10;
const callsAtOnce = 200;

test("a server on a terminal that nobody reads answers all the same, and says how many lines were dropped", async () => {
  const [script, mkfifo] = ["script", "mkfifo"].map((program) => Bun.which(program));
  if (!script || !mkfifo) return reportMissing("script", "bsdutils");
  const folder = mkdtempSync(join(tmpdir(), "herald-unread-"));
  const fifo = join(folder, "terminal");
  spawnSync(mkfifo, [fifo]);
  const unread = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK); // `script` stops reading the terminal once this is full
  const url = `http://127.0.0.1:${freePort()}`;
  const herald = process.env.TEST_HERALD_BINARY ?? `${process.execPath} ${join(root, "src/cli/herald.ts")}`;
  const output = openSync(fifo, constants.O_WRONLY);
  const child = Bun.spawn([script, "-qfec", `exec ${herald} serve`, "/dev/null"], {
    env: {
      ...process.env,
      HERALD_PORT: new URL(url).port,
      HERALD_DATA_DIR: folder,
      HERALD_LOG_LEVEL: "debug",
      NO_COLOR: "1",
    },
    stdin: "ignore",
    stdout: output,
    stderr: "ignore",
  });
  closeSync(output);
  const headers = { "X-Request-Id": "a long line in the log ".replaceAll(" ", "-").repeat(5) };
  const ask = async (path: string) => (await fetch(url + path, { headers })).text();
  try {
    await eventually(() => ask("/healthz").catch(() => undefined), "the server to listen");
    for (let round = 0; round < rounds; round++)
      await within(
        Promise.all(Array.from({ length: callsAtOnce }, () => ask("/healthz"))),
        "answers beside an unread terminal",
      );
    const dropped = async () => {
      const { samples } = readMetrics(await ask("/metrics"));
      return sampleOf(samples, "herald_log_lines_dropped_total", {}) || undefined;
    };
    for (let more = 0; more < 50 && (await dropped()) === undefined; more++)
      await within(Promise.all(Array.from({ length: callsAtOnce }, () => ask("/healthz"))), "more answers");
    expect(await dropped()).toBeGreaterThan(0);
    let shown = "";
    const buffer = Buffer.alloc(65_536);
    const line = await eventually(() => {
      try {
        shown += buffer.toString("utf8", 0, readSync(unread, buffer));
      } catch {
        // nothing to read at the moment
      }
      return /^.*lines were dropped.*$/m.exec(shown)?.[0];
    }, "the line about dropped lines");
    expect(line).toMatch(/"lines":\d+/);
  } finally {
    child.kill("SIGTERM");
    await child.exited;
    closeSync(unread);
    rmSync(folder, { recursive: true });
  }
});
