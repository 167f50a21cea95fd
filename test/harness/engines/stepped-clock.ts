import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reportMissing } from "./installed.ts";

/** The clock of a process, which a test can step. */
export type SteppedClock = {
  /** Environment variables that give the clock to a process. */
  env: Record<string, string>;
  /** Offsets it from the machine's clock by this many seconds. */
  set(seconds: number): void;
  [Symbol.dispose](): void;
};

/**
 * Creates a clock with libfaketime; `undefined` if that is not installed. As in a real step, the clock for durations
 * (CLOCK_MONOTONIC) is not affected.
 */
export function createSteppedClock(): SteppedClock | undefined {
  const [library] = new Bun.Glob("usr/lib/*/faketime/libfaketimeMT.so.1").scanSync({ cwd: "/" });
  if (library === undefined) return reportMissing("libfaketime", "libfaketime");
  const folder = mkdtempSync(join(tmpdir(), "herald-clock-"));
  const file = join(folder, "offset");
  const set = (seconds: number) => writeFileSync(file, `${seconds < 0 ? "" : "+"}${seconds}\n`);
  set(0);
  return {
    env: {
      LD_PRELOAD: `/${library}`,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      DONT_FAKE_MONOTONIC: "1",
    },
    set,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
