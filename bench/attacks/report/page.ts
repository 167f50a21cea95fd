import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { withSection } from "../../harness/report/report.ts";
import { readRuns } from "../../harness/report/results.ts";
import type { Measures } from "../../harness/report/rounds.ts";
import type { Setting } from "../../harness/report/setting.ts";
import { median } from "../../harness/report/statistics.ts";
import { busAttacks } from "../bus.ts";
import { attacks } from "../kinds/all.ts";
import { type AttackSeries, ms, short, throughputOf, titleOf } from "./report.ts";
import { asked, countUsual, hasVictim, judge, type Verdict } from "./verdict.ts";

/** What `npm run attacks` saved in `bench/results`. */
export type AttackResults = {
  setting: Setting;
  pace: { rounds: number; runMs: number };
  series: AttackSeries;
  /** The revision of `before`. */
  against?: string;
};

type Contender = "before" | "herald";
type Found = { rounds: readonly Measures[]; revision: string; runMs: number };
type Column = { contender: Contender; store: string; verdicts: Verdict[]; revisions: Set<string> };

const stores = ["SQLite", "PostgreSQL"] as const;
const names = { before: "before", herald: "now" } as const;
const worthTelling = 100; // MiB
const page = resolve(import.meta.dir, "../../../docs/explanation/security.md");

/** Writes the table of the newest results into the page, and returns the page's path. */
export function writePage(): string {
  const results = readRuns<AttackResults>(/-attacks-\d+\.json$/).map(({ runs }) => runs);
  writeFileSync(page, withSection(readFileSync(page, "utf8"), `\n${renderAttacks(results)}\n`));
  return page;
}

/**
 * Renders the table of results, newest first: a row per attack, with the newest figures of each store, and of `before` if
 * there are any.
 */
export function renderAttacks(results: readonly AttackResults[]): string {
  const [first] = results;
  if (first === undefined) return "Nothing was measured yet.";
  const hasBefore = results.some(({ series }) => Object.values(series).some(({ before }) => before !== undefined));
  const contenders: readonly Contender[] = hasBefore ? ["before", "herald"] : ["herald"];
  const columns = contenders.flatMap((contender) =>
    stores.map((store): Column => ({ contender, store, verdicts: [], revisions: new Set() })),
  );
  const seconds = new Set<number>();
  const lines = [...attacks.map(withLeast), ...busAttacks.map(withLeast)].flatMap(({ name, row, who, leastMs }) => {
    const cells = columns.flatMap((column) => {
      const found = newest(results, titleOf(name, column.store), column.contender);
      if (found === undefined) return ["", ""];
      column.verdicts.push(judge(found.rounds));
      column.revisions.add(found.revision);
      if (found.rounds.some(hasVictim)) seconds.add(found.runMs / 1_000);
      return cellsOf(found.rounds, Math.max(found.runMs, leastMs) / 1_000);
    });
    return cells.every((cell) => cell === "") ? [] : [`| ${[row ?? "", who, ...cells].join(" | ")} |`];
  });
  const { date, machine } = first.setting;
  const measured = columns.filter(({ revisions }) => revisions.size > 0);
  const head = columns.flatMap(({ contender, store }) => [
    hasBefore ? `${store}, ${names[contender]}` : store,
    "Attackers",
  ]);
  return [
    `${date.slice(0, 10)}, ${machine.cores} cores (${machine.cpu}), attacks of ${[...seconds].join(" and ")} s.`,
    ...measured.map(summaryOf(hasBefore)),
    "",
    `| ${["Row", "Who, with what", ...head].join(" | ")} |`,
    `|--:|---${"|---".repeat(head.length)}|`,
    ...lines,
  ].join("\n");
}

const withLeast = <Kind extends { name: string; who: string; row?: number; leastMs?: number }>(attack: Kind) => ({
  ...attack,
  leastMs: attack.leastMs ?? 0,
});

/** Says how many attacks a column is about, and how many of them leave the victim's p99 as usual. */
function summaryOf(hasBefore: boolean): (column: Column) => string {
  return ({ contender, store, verdicts, revisions }) => {
    const { usual, all } = countUsual(verdicts);
    const who = hasBefore ? `${store}, ${names[contender]}` : store;
    return `${who}: revision ${[...revisions].join(", ")}; p99 of at most ${asked.usualP99Ms} ms in ${usual} of ${all} attacks.`;
  };
}

function newest(results: readonly AttackResults[], title: string, contender: Contender): Found | undefined {
  for (const { series, setting, pace, against } of results) {
    const rounds = series[title]?.[contender];
    if (rounds === undefined) continue;
    const revision = contender === "before" ? (against ?? setting.revision) : setting.revision;
    return { rounds, revision, runMs: pace.runMs };
  }
  return undefined;
}

/** The victim's p50 and p99 under attack and what failed; and what the attackers got done. */
function cellsOf(rounds: readonly Measures[], seconds: number): [victim: string, attackers: string] {
  const { p50Ms, p99Ms, wrongs } = judge(rounds);
  const grown = Math.max(...rounds.map(({ grownMebibytes = 0 }) => grownMebibytes));
  const parts = p50Ms === undefined || p99Ms === undefined ? [] : [`${ms(p50Ms)} / ${ms(p99Ms)}`];
  const flushMs = median(rounds.map(({ flushP99Ms = 0 }) => flushP99Ms));
  if (flushMs > asked.usualP99Ms) parts.push(`flush ${ms(flushMs)}`);
  if (grown > worthTelling) parts.push(`+${short(grown)} MiB`);
  parts.push(...wrongs.filter((wrong) => wrong !== "waits" && !(wrong === "memory" && grown > asked.grownMebibytes)));
  const text = parts.length === 0 ? "holds" : parts.join(", ");
  return [wrongs.length === 0 ? text : `**${text}**`, rounds.some(hasVictim) ? throughputOf(rounds, seconds) : ""];
}
