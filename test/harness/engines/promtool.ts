import { existsSync } from "node:fs";
import { reportMissing } from "./installed.ts";

const program = "/usr/bin/promtool";

/** Runs Prometheus' own tool to its end; returns its output, and whether it succeeded. */
export type Promtool = (args: string[], input?: string) => { isContent: boolean; output: string };

/** Finds Prometheus' own tool; `undefined` if it is not installed, which is a failure under CI. */
export function findPromtool(): Promtool | undefined {
  if (!existsSync(program)) return reportMissing("promtool", "prometheus");
  return (args, input = "") => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args], { stdin: Buffer.from(input) });
    return { isContent: exitCode === 0, output: stdout.toString() + stderr.toString() };
  };
}
