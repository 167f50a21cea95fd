import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { valuesOf } from "../../harness/report/rounds.ts";
import { describeSetting } from "../../harness/report/setting.ts";
import type { Measured } from "../../harness/report/side-by-side.ts";
import { median } from "../../harness/report/statistics.ts";
import type { Durability } from "../peer.ts";
import { renderChart } from "./chart.ts";
import {
  busyOf,
  type Figure,
  figuresOf,
  type LoadResults,
  loadsOf,
  own,
  type PeerResults,
  type Standing,
  standingsOf,
} from "./figures.ts";
import { readNewest, renderFiles, renderSection } from "./page.ts";

const measured: Measured = {
  sends: ["sends", "/s"],
  peakMebibytes: ["peak memory", "MiB"],
  generatorIdle: ["idle", ""],
};
const server = (name: string, durability: Durability) => ({ name, version: "1.2", durability, settings: "`a b`" });

/** Results in which each server had these sends a second in the rounds, under every load. */
function resultsOf(sends: Record<string, readonly number[]>): PeerResults {
  const runsOf = (rounds: readonly number[]) =>
    rounds.map((value, round) => {
      return { sends: value, cpuMicrosOfSend: 100, peakMebibytes: 100 + round, generatorIdle: 0.5 };
    });
  const series = Object.fromEntries(Object.entries(sends).map(([name, rounds]) => [name, runsOf(rounds)]));
  const titles = ["9 callers, nobody listens", "5 listeners, 1 in flight", "5 listeners, 16 in flight"];
  return {
    setting: { ...describeSetting(import.meta.dir), revision: "abc" },
    pace: { rounds: 3, runMs: 2000 },
    peers: Object.keys(sends).map((name) => server(name, name === own ? "flushed" : "in memory")),
    found: Object.fromEntries(
      [...titles, "5 listeners, 7 messages a second"].map((title) => [title, { measured, series }]),
    ),
  };
}

const figure = (better: Figure["better"], values: Record<string, readonly number[]>): Figure => {
  return { what: "A <figure>", unit: "/s", better, values: new Map(Object.entries(values)) };
};

describe("the page of Herald's performance", () => {
  test("shows the newest results that were saved, and so does its chart", () => {
    for (const [path, text] of renderFiles()) expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("says in its text what the newest results show", () => {
    const { runs } = readNewest();
    const [one = [], sixteen = [], , , sends = [], cpuOfSend = [], answer = [], memory = []] =
      figuresOf(runs).map(standingsOf);
    const flushing = new Set(runs.peers.filter(({ durability }) => durability === "flushed").map(({ name }) => name));
    const isFlushing = ({ name }: Standing) => flushing.has(name);
    const isAhead = ({ place }: Standing) => place === "ahead";
    const leastFactor = (standings: Standing[], names: RegExp) =>
      Math.min(...standings.filter(({ name }) => names.test(name)).map(({ factor }) => factor));
    const busyWith = ({ series }: LoadResults, name: string) => median((series[name] ?? []).map(busyOf));

    const [bare, bareCpu] = [one, cpuOfSend].map((standings) => standings.find(({ name }) => name.startsWith("Bun")));
    expect(bare).toMatchObject({ place: "ahead", factor: expect.closeTo(1.25, 1) }); // by about a quarter
    expect(bareCpu?.place).toBe("ahead");
    expect(sixteen.filter(isAhead)).toEqual([
      expect.objectContaining({ name: bare?.name, factor: expect.closeTo(1.1, 1) }), // a little
    ]);
    expect(leastFactor(sixteen, /^(?!Bun)/)).toBeGreaterThan(3); // several times
    const memoryOnly = new Set(
      runs.peers.filter(({ durability }) => durability === "in memory").map(({ name }) => name),
    );
    for (const figure of [sends, cpuOfSend, answer]) {
      const others = figure.filter(({ name }) => memoryOnly.has(name));
      expect(others.filter(isAhead)).toEqual(others);
      expect(leastFactor(others, /./)).toBeGreaterThan(3); // several times
    }
    expect(leastFactor(sends, /NATS/)).toBeCloseTo(3, 0); // about three times
    expect(sends.filter(isFlushing).filter(isAhead)).toEqual([]);
    expect(leastFactor(sends, /ejabberd|Synapse/)).toBeGreaterThan(3);
    expect(leastFactor(memory.filter(isAhead), /nchan|Mosquitto/)).toBeGreaterThan(4); // a small part

    const loads = loadsOf(runs);
    expect(busyWith(loads.sends, own)).toBeGreaterThan(0.85);
    for (const load of Object.values(loads)) {
      const names = Object.keys(load.series);
      const loading = names.filter((name) => median(valuesOf(load.series, name, "generatorIdle")) < 0.2);
      const others = loading.filter((name) => busyWith(load, name) < 0.9);
      expect(others).toEqual(load === loads.sixteen ? [bare?.name ?? ""] : []); // otherwise the server was the limit
    }
  });
});

describe("the tables", () => {
  test("show medians with the least and the most, and the settings of each server", () => {
    const section = renderSection(
      "bench/results/x.json",
      resultsOf({ Herald: [1000, 3000, 2000], Other: [10, 20, 30] }),
    );
    expect(section).toContain("medians of 3 rounds of 2 s");
    expect(section).toContain("### 9 callers, nobody listens\n\n|  | sends (/s) | idle | the server's core busy |");
    expect(section).toContain("| Herald | 2 k (1 k – 3 k) | 0.5 (0.5 – 0.5) | 0.2 (0.1 – 0.3) |");
    expect(section).toContain("| Other | 1.2 | in memory | 102 | `a b` |");
    expect(section).toContain("| Sends of 64 callers, nobody listens | 2 k /s | none | none | Other (100 ×) |");
  });

  test("call nothing ahead or behind while rounds overlap", () => {
    const values = { Herald: [10, 20], Above: [21, 30], Within: [12, 13], Around: [1, 99], Below: [1, 9] };
    const placesOf = (better: Figure["better"]) => standingsOf(figure(better, values)).map(({ place }) => place);
    expect(placesOf("more")).toEqual(["ahead", "close", "close", "behind"]);
    expect(placesOf("less")).toEqual(["behind", "close", "close", "ahead"]);
  });

  test("leave out a server where a load was not measured", () => {
    const results = resultsOf({ Herald: [1, 2], Other: [3, 4] });
    const title = "5 listeners, 1 in flight";
    const { series } = resultsOf({ Herald: [1, 2] }).found[title] ?? { series: {} };
    const found = { ...results.found, [title]: { measured, series } };
    const [, table = ""] = renderSection("x", { ...results, found }).split(`### ${title}`);
    expect(table.split("###")[0]).not.toContain("| Other |");
    expect(table).toContain("| Other |");
  });

  test("need every load", () => {
    expect(() => renderSection("x", { ...resultsOf({ Herald: [1] }), found: {} })).toThrow("1 in flight");
  });
});

describe("the chart", () => {
  const values = { Herald: [10, 30, 20], "A & B": [40, 40, 40] };
  const durabilities = new Map<string, Durability>([
    [own, "flushed"],
    ["A & B", "in memory"],
  ]);
  const draw = (better: Figure["better"]) => renderChart([figure(better, values)], durabilities);

  test("has the best server on top, Herald in a colour of its own, and durability in the fill", () => {
    const isFirst = (better: Figure["better"]) =>
      draw(better).indexOf(">A &amp; B<") < draw(better).indexOf(">Herald<");
    expect([isFirst("more"), isFirst("less")]).toEqual([true, false]);
    expect(draw("more")).toMatch(
      /<g class="own">\n<text[^>]*>Herald<\/text>\n<rect class="flushed" x="172" width="95"/,
    );
    expect(draw("more")).toMatch(
      /<g class="others">\n<text[^>]*>A &amp; B<\/text>\n<rect class="in-memory" x="172" width="190"/,
    );
    expect(draw("more")).toContain(">A &lt;figure&gt;<");
  });

  test("shows the range of the rounds, unless all are the same", () => {
    expect([...draw("more").matchAll(/<path d="([^"]*)"/g)].map(([, path]) => path)).toEqual([
      "M219.5 3v6M219.5 6H314.5M314.5 3v6",
    ]);
  });

  test("follows the system's theme and loads nothing", () => {
    expect(draw("more")).toContain("@media (prefers-color-scheme: dark)");
    expect(draw("more")).not.toMatch(/href|url\(|@import|<script/);
  });
});
