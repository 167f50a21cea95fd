import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { replay } from "./replay.ts";
import { folder, readFixtures, type Script, scriptsOf } from "./scripts.ts";

const fixtures = readFixtures();
const scripts = fixtures.flatMap(scriptsOf);

describe("the client follows the rules of docs/reference/sdk-behaviour.md", () => {
  test.each(scripts.map((script): [string, Script] => [script.title, script]))("%s", (_title, script) => {
    const runs = Array.from({ length: script.runs ?? 1 }, () => replay(script));
    for (const step of runs[0]?.keys() ?? []) {
      const positions = runs.map((positions) => positions.get(step) ?? Number.NaN);
      expect(positions.some((position) => position < 0.5)).toBe(true);
      expect(positions.some((position) => position > 0.5)).toBe(true);
    }
  });
});

test("every rule has a fixture, and every fixture has a rule", () => {
  const page = readFileSync(join(folder, "../sdk-behaviour.md"), "utf8");
  const rules = [...page.matchAll(/^\| (\d+\.\d+) \|/gm)].map(([, rule = ""]) => rule);
  expect(new Set(rules).size).toBe(rules.length);
  expect([...new Set(fixtures.map(({ rule }) => rule))].sort()).toEqual(rules.toSorted());
});
