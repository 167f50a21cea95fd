import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

/** The nice value of a thread of this process (proc(5), field 19 of `stat`). */
function niceOf(thread: number): number {
  const stat = readFileSync(`/proc/self/task/${thread}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
}

test.skipIf(process.platform !== "linux")("a thread lowers its own priority, and no other's", async () => {
  const folder = mkdtempSync(join(tmpdir(), "herald-threads-"));
  const script = join(folder, "thread.ts");
  writeFileSync(
    script,
    `
    import { readlinkSync } from "node:fs";
    import { parentPort } from "node:worker_threads";
    import { lowerThreadPriority } from ${JSON.stringify(`${import.meta.dir}/thread-priority.ts`)};
    lowerThreadPriority();
    parentPort.on("message", () => process.exit(0));
    parentPort.postMessage(Number(readlinkSync("/proc/thread-self").split("/").at(-1)));
  `,
  );
  const before = niceOf(process.pid);
  const worker = new Worker(script);
  const thread = await new Promise<number>((resolve) => worker.once("message", resolve));
  expect({ thread: niceOf(thread), main: niceOf(process.pid) }).toEqual({
    thread: Math.max(before, 10),
    main: before,
  });
  worker.postMessage("end");
  await new Promise((resolve) => worker.once("exit", resolve));
  rmSync(folder, { recursive: true });
});
