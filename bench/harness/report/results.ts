import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Setting } from "./setting.ts";

const folder = resolve(import.meta.dir, "../../results");

/** Writes the runs of a measurement to `bench/results/<date>-<revision>[-<name>].json`, and returns that path. */
export function saveRuns({ date, revision }: Setting, name: string | undefined, runs: object): string {
  mkdirSync(folder, { recursive: true });
  const parts = [date.slice(0, 10), revision === "" ? "unversioned" : revision, ...(name === undefined ? [] : [name])];
  const file = join(folder, `${parts.join("-")}.json`);
  writeFileSync(file, `${JSON.stringify(runs, undefined, 2)}\n`);
  return file;
}
