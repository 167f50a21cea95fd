// Measures files: `exec bun bench/files.ts --store disk --mebibytes 1024` uploads a file to a node, downloads it, and opens a
// download that nobody reads, while a caller sends messages one after another. Prints the time, by how much the memory of the
// node grew at most, and how long the sends took. `--store s3` keeps files in moto, which holds objects in memory and on the
// disk; then an upload follows over a line to the store of 20 MB/s, much slower than the caller.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { growthDuring } from "../test/files/memory.ts";
import { startSpoiltLine } from "../test/harness/clients/spoilt-line.ts";
import { openUnreadStream } from "../test/harness/clients/unread-stream.ts";
import { s3Settings, startS3 } from "../test/harness/engines/s3.ts";
import { startHerald, TEST_KEY } from "../test/harness/servers/herald.ts";
import { createOrganization, type Organization } from "../test/harness/servers/organization.ts";

const { values } = parseArgs({
  options: { store: { type: "string", default: "disk" }, mebibytes: { type: "string", default: "1024" } },
});
const mebibyte = 1_048_576;
const size = Number(values.mebibytes) * mebibyte;
const warmBytes = 32 * mebibyte;
const slowBytes = Math.min(size, 256 * mebibyte);
const slowBytesPerSecond = 20_000_000;
const unreadMs = 5_000;
const headers = { "Admin-Api-Key": TEST_KEY };

/** Sends messages one after another until `work` is over. Returns how long they took, in milliseconds, sorted. */
async function sendDuring(org: Organization, work: () => Promise<unknown>): Promise<number[]> {
  let isOver = false;
  const times: number[] = [];
  const sending = (async () => {
    while (!isOver) {
      const from = performance.now();
      await org.sent("alice", { cid: "room", body: "x" });
      times.push(performance.now() - from);
    }
  })();
  await work();
  isOver = true;
  await sending;
  return times.toSorted((one, other) => one - other);
}

const s3 = values.store === "s3" ? await startS3() : undefined;
if (values.store === "s3" && s3 === undefined) process.exit(0);
const line = s3 && (await startSpoiltLine(s3.port));
const lifted = { HERALD_LIMIT_REQUESTS_PER_SECOND: "0", HERALD_LIMIT_ORGANIZATION_REQUESTS_PER_SECOND: "0" };
const env = { HERALD_LIMIT_FILE_BYTES: "0", ...lifted, ...(line && s3Settings(`http://127.0.0.1:${line.port}`)) };
const node = await startHerald({ env });
const org = await createOrganization(node);
await org.conversation(["alice"], "room");

async function call(path: string, way: "up" | "down", bytes: number): Promise<string> {
  const script = join(import.meta.dir, "processes/file-caller.ts");
  const child = Bun.spawn([process.execPath, script, node.url + path, TEST_KEY, way, String(bytes)]);
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${way} failed`);
  return text.trim();
}

const upload = (bytes: number) => call(`${org.path("files")}?name=a`, "up", bytes);
const download = (id: string, bytes: number) => call(`/files/${id}`, "down", bytes);

async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  let ms = 0;
  let times: number[] = [];
  const growth = await growthDuring(node.pid, async () => {
    times = await sendDuring(org, async () => {
      const from = performance.now();
      await work();
      ms = performance.now() - from;
    });
  });
  const at = (share: number) => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(1);
  console.log(
    `| ${values.store} | ${what} | ${(ms / 1000).toFixed(1)} s | ${Math.max(0, Math.round(growth / mebibyte))} MiB | ${at(0.5)} ms | ${at(0.99)} ms | ${at(1)} ms |`,
  );
}

await download(await upload(warmBytes), warmBytes);
console.log("| Store | What | Time | Memory grew by | Sends: p50 | p99 | worst |");
console.log("|---|---|--:|--:|--:|--:|--:|");
const large = `${values.mebibytes} MiB`;
let id = "";
await measure("nothing, for 5 s", () => Bun.sleep(unreadMs));
await measure(`upload of ${large}`, async () => {
  id = await upload(size);
});
await measure(`download of ${large}`, () => download(id, size));
await measure(`download of ${large} that nobody reads, for 5 s`, async () => {
  using _unread = await openUnreadStream(node.url, `/files/${id}`, headers);
  await Bun.sleep(unreadMs);
});
if (line !== undefined) {
  line.slow(0, slowBytesPerSecond);
  await measure(`upload of ${slowBytes / mebibyte} MiB, with 20 MB/s to the store`, () => upload(slowBytes));
}
await node.kill();
await s3?.kill();
line?.stop();
