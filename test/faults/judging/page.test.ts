import { expect, test } from "bun:test";
import { withAll, withSome } from "./page.ts";
import type { Judged } from "./report.ts";

const resultOf = (name: string, acknowledged: number, faults: string[] = []): Judged => ({
  ...{ name, row: `What ${name} breaks`, expected: "nothing", seed: 7, rounds: 1, acknowledged, faults },
  ...{ lostByDatabase: 0, refusedElsewhere: 0, otherAnswers: {}, connections: 1, brokenConnections: 0 },
  ...{ brokenSlowConnections: 0, closeCodes: [], holes: 0, slowestDeliveryMs: 1, lost: 0, doubled: 0, misordered: 0 },
  ...{ unstored: 0, gapsAdmitted: 0, untold: 0, ghosts: 0 },
  ...{ sendsAgainMs: [1], currentAgainMs: [1], heardMeanwhileMs: [] },
});
const empty = "before\n<!-- figures: begin -->\n<!-- figures: end -->\nafter\n";
const rows = ["a", "b", "c", "d"].map((name) => `What ${name} breaks`);
const namesIn = (page: string) => Array.from(page.matchAll(/^\| What (\w) breaks/gm), ([, name]) => name);
const notesIn = (page: string) => page.split("\n").filter((line) => line.startsWith("- "));

test("a run of some scenarios replaces their rows, adds those that are new in order, and leaves the others", () => {
  const whole = withAll(empty, [resultOf("a", 111), resultOf("b", 222, ["a fault"]), resultOf("d", 444)], "Monday.");
  const page = withSome(whole, [resultOf("c", 333), resultOf("b", 999)], "Tuesday.", rows);
  expect(namesIn(page)).toEqual(["a", "b", "c", "d"]);
  for (const count of [111, 999, 333, 444]) expect(page).toContain(`| 1, 7 | ${count} |`);
  expect(page).not.toContain("222");
  expect(page.match(/^\| Fault/gm)).toHaveLength(1);
  expect(page).toStartWith("before\n<!-- figures: begin -->\n\nMonday.\n\n| Fault");
  expect(page).toEndWith("<!-- figures: end -->\nafter\n");
  expect(notesIn(page)).toEqual(["- `c`: Tuesday.", "- `b`: Tuesday."]);
});

test("a later run of a scenario replaces its note, too, and a run of all leaves none", () => {
  const whole = withAll(empty, [resultOf("a", 1), resultOf("b", 1)], "Monday.");
  const once = withSome(whole, [resultOf("a", 2), resultOf("b", 2)], "Tuesday.", rows);
  expect(notesIn(withSome(once, [resultOf("a", 3)], "Wednesday.", rows))).toEqual([
    "- `b`: Tuesday.",
    "- `a`: Wednesday.",
  ]);
  expect(notesIn(withAll(once, [resultOf("a", 3)], "Thursday."))).toEqual([]);
});
