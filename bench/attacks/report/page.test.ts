import { describe, expect, test } from "bun:test";
import { describeSetting } from "../../harness/report/setting.ts";
import { type AttackResults, renderAttacks } from "./page.ts";
import { titleOf } from "./report.ts";

const setting = describeSetting(import.meta.dir);
const run = {
  calmP50Ms: 1,
  calmP99Ms: 5,
  p50Ms: 2,
  p99Ms: 10,
  maxMs: 12,
  victimFailed: 0,
  grownMebibytes: 5,
  told: 1,
  "heard: HTTP 403": 80_000,
  "heard: HTTP 429": 900_000,
};

/** A run of one attack at this hour of the day. */
function resultsAt(hour: string, contender: string, p99Ms: number, flushP99Ms = 4): AttackResults {
  return {
    setting: { ...setting, date: `2026-11-22T${hour}:00:00.000Z`, revision: `at${hour}` },
    pace: { rounds: 1, runMs: 8_000 },
    series: { [titleOf("metrics", "SQLite")]: { [contender]: [{ ...run, p99Ms, flushP99Ms }] } },
    ...(contender === "before" && { against: "base" }),
  };
}

const lineOf = (table: string) => table.split("\n").find((line) => line.includes("/metrics"));

describe("the table of attacks", () => {
  test("shows the newest figures of the victim, and beside them what the attackers got done", () => {
    const table = renderAttacks([resultsAt("03", "herald", 10), resultsAt("02", "herald", 900)]);
    expect(lineOf(table)).toEndWith("| 2 ms / 10 ms | 10,000 answers/s |  |  |");
    expect(table).toContain("SQLite: revision at03; p99 of at most 25 ms in 1 of 1 attacks.");
  });

  test("shows another checkout's beside them, with failures in bold", () => {
    const table = renderAttacks([resultsAt("03", "herald", 10), resultsAt("01", "before", 900)]);
    const before = "| **2 ms / 900 ms** | 10,000 answers/s |  |  |";
    expect(lineOf(table)).toEndWith(`${before} 2 ms / 10 ms | 10,000 answers/s |  |  |`);
    expect(table).toContain("SQLite, before: revision base; p99 of at most 25 ms in 0 of 1 attacks.");
  });

  test("shows how long the disk takes to flush where that is long", () => {
    expect(lineOf(renderAttacks([resultsAt("03", "herald", 60, 80)]))).toContain("| **2 ms / 60 ms, flush 80 ms** |");
  });

  test("omits attacks without figures", () => {
    expect(renderAttacks([resultsAt("01", "before", 9)])).not.toContain("/openapi.json");
    expect(renderAttacks([])).toBe("Nothing was measured yet.");
  });
});
