import { open, rm } from "node:fs/promises";
import { join } from "node:path";

const everyMs = 50; // as often as the victim sends
const page = Buffer.alloc(8_192);

/** Measures the disk beside an attack: how long a flush takes that nobody else waits for. */
export type FlushProbe = {
  /** The milliseconds of each flush since the last call. */
  take(): number[];
  stop(): Promise<void>;
};

/** Writes and flushes 8 KiB to a file in the folder every 50 ms, unless the last flush has not ended. */
export async function startFlushProbe(folder: string): Promise<FlushProbe> {
  const path = join(folder, "flush-probe");
  const file = await open(path, "w");
  let times: number[] = [];
  let flushing: Promise<void> | undefined;

  async function flush(): Promise<void> {
    const startedAt = performance.now();
    await file.write(page, 0, page.length, 0);
    await file.datasync();
    times.push(performance.now() - startedAt);
    flushing = undefined;
  }

  const timer = setInterval(() => {
    flushing ??= flush();
  }, everyMs);
  return {
    take() {
      const taken = times;
      times = [];
      return taken;
    },
    async stop() {
      clearInterval(timer);
      await flushing;
      await file.close();
      await rm(path);
    },
  };
}
