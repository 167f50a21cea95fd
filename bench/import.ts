// Measures imports: `exec bun bench/import.ts --lines 200000 --database sqlite` starts a server and imports files of users,
// messages, and both with conversations over HTTP from another process (curl), each into an organization of its own and then
// again. Meanwhile another organization sends every 20 ms, unless `--quiet`. Prints lines per second, how long those sends
// took (the median, the 99th percentile and the longest, and before it those of a second without an import), and the server's
// peak memory.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../test/harness/engines/postgres.ts";
import { startHerald } from "../test/harness/servers/herald.ts";
import { createKey } from "../test/harness/servers/keys.ts";
import { createOrganization, type Organization } from "../test/harness/servers/organization.ts";
import { beginSending } from "./harness/steady-sends.ts";

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "200000" },
    database: { type: "string", default: "sqlite" },
    only: { type: "string" },
    quiet: { type: "boolean", default: false },
  },
});
const lines = Number(values.lines);
const sendEveryMs = 20;
const firstMessageAt = Date.UTC(2024, 0, 1);
const conversations = 1_000;

const user = (index: number) => ({ user: { id: `user-${String(index).padStart(8, "0")}`, name: `User ${index}` } });
const conversation = (index: number, participants: string[]) => ({ conversation: { id: `c${index}`, participants } });
const message = (index: number) => ({
  message: {
    id: `old-${index}`,
    cid: `c${index % conversations}`,
    senderId: `u${index % 5_000}`,
    body: `This is message ${index} of a long history, about as long as messages are.`,
    x: { number: index },
    created_at: new Date(firstMessageAt + index * 1_000).toISOString(),
  },
});

/** The line with this number of each kind of file. */
const kinds: Record<string, (index: number) => object> = {
  users: user,
  messages: (index) => (index < conversations ? conversation(index, []) : message(index)),
  mixed(index) {
    if (index < lines * 0.3) return user(index);
    if (index < lines * 0.4)
      return conversation(index - Math.ceil(lines * 0.3), [`u${index % 5_000}`, `u${index % 4_999}`]);
    return message(index);
  },
};

async function write(file: string, lineOf: (index: number) => object): Promise<void> {
  const sink = Bun.file(file).writer({ highWaterMark: 1024 * 1024 });
  for (let index = 0; index < lines; index++) {
    void sink.write(`${JSON.stringify(lineOf(index))}\n`);
    if (index % 10_000 === 0) await sink.flush();
  }
  await sink.end();
}

function describe(took: number[]): string {
  const sorted = took.toSorted((left, right) => left - right);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
  return `sends ${at(0.5)} / ${at(0.99)} / ${at(1)} ms`;
}

async function importFile(org: Organization, key: string, file: string): Promise<number> {
  const { url } = org.herald;
  const target = `${url}${org.path("import")}`;
  const headers = ["-H", `Admin-Api-Key: ${key}`, "-H", "Content-Type: application/x-ndjson"];
  const startedAt = performance.now();
  const child = Bun.spawn(["curl", "-sN", "-X", "POST", "-T", file, ...headers, target], { stdout: "pipe" });
  const text = await new Response(child.stdout).text();
  const end: { done: boolean; failed: number } = JSON.parse(text.trim().split("\n").at(-1) ?? "{}");
  if (!end.done || end.failed > 0) throw new Error(`the import ended with ${JSON.stringify(end)}`);
  return lines / ((performance.now() - startedAt) / 1_000);
}

const peakMegabytes = (pid: number) =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024);

const folder = mkdtempSync(join(tmpdir(), "herald-import-"));
const postgres = values.database === "postgres" ? await startPostgres() : undefined;
const env = postgres === undefined ? {} : { HERALD_DATABASE_URL: await postgres.createDatabase() };
const herald = await startHerald({ env });
try {
  const sender = await createOrganization(herald);
  const { key } = await createKey(herald);
  const cid = await sender.conversation(["alice"]);
  console.log(`${values.database}, ${lines.toLocaleString("en-US")} lines`);
  if (!values.quiet) {
    const sending = beginSending(sender, cid, sendEveryMs);
    await Bun.sleep(1_000);
    console.log(`without an import: ${describe(await sending.stop())}`);
  }
  for (const [kind, lineOf] of Object.entries(kinds)) {
    if (values.only !== undefined && values.only !== kind) continue;
    const file = join(folder, kind);
    await write(file, lineOf);
    const org = await createOrganization(herald);
    for (const time of ["first", "again"]) {
      const sending = values.quiet ? undefined : beginSending(sender, cid, sendEveryMs);
      const rate = await importFile(org, key, file);
      const sent = sending === undefined ? "nobody sends" : describe(await sending.stop());
      console.log(
        `${kind.padEnd(8)} ${time}: ${Math.round(rate).toLocaleString("en-US")} lines/s, ${sent}, peak ${peakMegabytes(herald.pid)} MB`,
      );
    }
  }
} finally {
  await herald.kill();
  postgres?.stop();
  rmSync(folder, { recursive: true });
}
process.exit(0);
