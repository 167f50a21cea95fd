import { describe, expect, test } from "bun:test";
import { describeSetting } from "../../harness/report/setting.ts";
import { renderSiege, type SiegeResults } from "./page.ts";
import { titleOf } from "./report.ts";

const setting = describeSetting(import.meta.dir);
const run = { calmP50Ms: 1, calmP99Ms: 5, p50Ms: 2, p99Ms: 10, maxMs: 12, victimFailed: 0, grownMebibytes: 5, told: 1 };

/** A run of one raid at this hour of the day. */
function resultsAt(hour: string, contender: string, p99Ms: number): SiegeResults {
  return {
    setting: { ...setting, date: `2026-11-22T${hour}:00:00.000Z`, revision: `at${hour}` },
    pace: { rounds: 1, runMs: 8_000 },
    series: { [titleOf("metrics", "SQLite")]: { [contender]: [{ ...run, p99Ms }] } },
    against: "base",
  };
}

const lineOf = (table: string) => table.split("\n").find((line) => line.includes("/metrics"));

describe("the table of the siege", () => {
  test("shows the newest figures of before and now, with failures in bold", () => {
    const table = renderSiege([
      resultsAt("03", "herald", 10),
      resultsAt("02", "herald", 900),
      resultsAt("01", "before", 900),
    ]);
    expect(lineOf(table)).toContain("| **5 ms → 2 ms / 900 ms, ×180** |  | 5 ms → 2 ms / 10 ms, ×2 |  |");
    expect(table).toContain("*before* is revision base, *now* at03");
  });

  test("omits raids without figures", () => {
    expect(renderSiege([resultsAt("01", "before", 9)])).not.toContain("/openapi.json");
    expect(renderSiege([])).toContain("Nothing was measured yet.");
  });
});
