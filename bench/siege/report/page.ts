import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { withSection } from "../../harness/report/report.ts";
import type { Measures } from "../../harness/report/rounds.ts";
import type { Setting } from "../../harness/report/setting.ts";
import { median } from "../../harness/report/statistics.ts";
import { busRaids } from "../bus.ts";
import { raids } from "../raids/all.ts";
import { ms, type SiegeSeries, short, titleOf } from "./report.ts";
import { asked, judge } from "./verdict.ts";

/** What a run of the siege saved in `bench/results`. */
export type SiegeResults = {
  setting: Setting;
  pace: { rounds: number; runMs: number };
  series: SiegeSeries;
  /** The revision of `before`. */
  against?: string;
};

type Found = { rounds: readonly Measures[]; revision: string; seconds: number };

const contenders = ["before", "herald"] as const;
const stores = ["SQLite", "PostgreSQL"] as const;
const worthTelling = 100; // MiB
const folder = resolve(import.meta.dir, "../../results");
const page = resolve(import.meta.dir, "../../../docs/explanation/security.md");

/** Writes the table of the newest results into the page, and returns the page's path. */
export function writePage(): string {
  writeFileSync(page, withSection(readFileSync(page, "utf8"), `\n${renderSiege(readResults())}\n`));
  return page;
}

/** All results of sieges, newest first. */
function readResults(): SiegeResults[] {
  return readdirSync(folder)
    .filter((name) => /-siege-\d+\.json$/.test(name))
    .map((name): SiegeResults => JSON.parse(readFileSync(join(folder, name), "utf8")))
    .sort((left, right) => right.setting.date.localeCompare(left.setting.date));
}

/** Renders the table: a row per raid, with the newest figures of each store, before and now. */
export function renderSiege(results: readonly SiegeResults[]): string {
  const lengths = new Set<number>();
  const revisions = { before: new Set<string>(), herald: new Set<string>() };
  const lines = [...raids, ...busRaids].flatMap(({ name, row, who }) => {
    const cells = contenders.flatMap((contender) =>
      stores.map((store) => {
        const found = newest(results, titleOf(name, store), contender);
        if (found !== undefined) revisions[contender].add(found.revision);
        if (found?.rounds.some(hasVictim)) lengths.add(found.seconds);
        return found === undefined ? "" : cellOf(found.rounds);
      }),
    );
    return cells.every((cell) => cell === "") ? [] : [`| ${[row ?? "", who, ...cells].join(" | ")} |`];
  });
  const setting = results[0]?.setting;
  const where =
    setting === undefined
      ? "Nothing was measured yet."
      : `${setting.date.slice(0, 10)}, ${setting.machine.cores} cores (${setting.machine.cpu}), raids of ${[...lengths].join(" and ")} s; ` +
        `*before* is revision ${[...revisions.before].join(", ") || "–"}, *now* ${[...revisions.herald].join(", ") || "–"}.`;
  const head = [
    "Row",
    "Who, with what",
    ...contenders.flatMap((one) => stores.map((store) => `${names[one]}, ${store}`)),
  ];
  return [where, "", `| ${head.join(" | ")} |`, `|--:|---${"|---".repeat(4)}|`, ...lines].join("\n");
}

const names = { before: "Before", herald: "Now" } as const;

function newest(results: readonly SiegeResults[], title: string, contender: "before" | "herald"): Found | undefined {
  for (const { series, setting, pace, against } of results) {
    const rounds = series[title]?.[contender];
    if (rounds === undefined) continue;
    const revision = contender === "before" ? (against ?? setting.revision) : setting.revision;
    return { rounds, revision, seconds: pace.runMs / 1_000 };
  }
  return undefined;
}

/** Raids on the bus have none. */
const hasVictim = ({ calmP99Ms }: Measures) => calmP99Ms !== undefined;

/** The victim's p99, undisturbed and under attack, and what failed. */
function cellOf(rounds: readonly Measures[]): string {
  const of = (name: string) => median(rounds.map((round) => round[name] ?? Number.NaN));
  const { ratio, wrongs } = judge(rounds);
  const grown = Math.max(...rounds.map(({ grownMebibytes = 0 }) => grownMebibytes));
  const parts = rounds.some(hasVictim)
    ? [`${ms(of("calmP99Ms"))} → ${ms(of("p50Ms"))} / ${ms(of("p99Ms"))}, ×${short(ratio)}`]
    : [];
  if (grown > worthTelling) parts.push(`+${short(grown)} MiB`);
  parts.push(...wrongs.filter((wrong) => wrong !== "waits" && !(wrong === "memory" && grown > asked.grownMebibytes)));
  const text = parts.length === 0 ? "holds" : parts.join(", ");
  return wrongs.length === 0 ? text : `**${text}**`;
}
