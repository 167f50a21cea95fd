import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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

/** The saved runs of files whose names match, newest first; `file` is the path in the repository. */
export function readRuns<Runs extends { setting: Setting }>(names: RegExp): { file: string; runs: Runs }[] {
  return readdirSync(folder)
    .filter((name) => names.test(name))
    .map((name): { file: string; runs: Runs } => ({
      file: `bench/results/${name}`,
      runs: JSON.parse(readFileSync(join(folder, name), "utf8")),
    }))
    .sort((left, right) => right.runs.setting.date.localeCompare(left.runs.setting.date));
}
