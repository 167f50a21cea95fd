import { type Measures, type Series, valuesOf } from "../../harness/report/rounds.ts";
import type { Setting } from "../../harness/report/setting.ts";
import type { Measured } from "../../harness/report/side-by-side.ts";
import { median } from "../../harness/report/statistics.ts";
import type { Compared } from "../peer.ts";

/** What `npm run bench:peers` saved in `bench/results`. */
export type PeerResults = {
  setting: Setting;
  /** Results before 2026-11-27 do not have it. */
  pace?: { rounds: number; runMs: number };
  peers: readonly Pick<Compared, "name" | "version" | "durability" | "settings">[];
  /** The runs of each load, by its title. */
  found: Readonly<Record<string, { measured: Measured; series: Series }>>;
};

/** A figure of all servers: its value in each round, by server. */
export type Figure = {
  what: string;
  unit: string;
  better: "more" | "less";
  values: ReadonlyMap<string, readonly number[]>;
};

/** What is measured of all servers under one load. */
export type LoadResults = { title: string; measured: Measured; series: Series };

/** CPU time of a server in a run, in cores. */
export function busyOf({ deliveries = 0, cpuMicros = 0, sends = 0, cpuMicrosOfSend = 0 }: Measures): number {
  return (deliveries > 0 ? deliveries * cpuMicros : sends * cpuMicrosOfSend) / 1e6;
}

/** The server that the others are compared with. */
export const own = "Herald";

/** The loads, as their titles tell them, in the order of the page. */
export function loadsOf({ found }: PeerResults): Record<"one" | "sixteen" | "steady" | "sends", LoadResults> {
  const loadLike = (pattern: RegExp): LoadResults => {
    const [load] = Object.entries(found).filter(([title]) => pattern.test(title));
    if (load === undefined) throw new Error(`the results have no load like ${pattern}`);
    return { title: load[0], ...load[1] };
  };
  return {
    one: loadLike(/, 1 in flight$/),
    sixteen: loadLike(/, 16 in flight$/),
    steady: loadLike(/ messages a second/),
    sends: loadLike(/, nobody listens$/),
  };
}

/** The figures by which servers are compared. */
export function figuresOf(results: PeerResults): Figure[] {
  const { one, sixteen, steady, sends } = loadsOf(results);
  const [rate = steady.title] = /\d+ messages a second/.exec(steady.title) ?? [];
  const figureOf =
    ({ series }: LoadResults, better: Figure["better"]) =>
    (what: string, measure: string, unit: string): Figure => {
      const values = Object.keys(series).map((name) => [name, valuesOf(series, name, measure)] as const);
      return { what, unit, better, values: new Map(values) };
    };
  return [
    figureOf(one, "more")("Deliveries, 1 message in flight", "deliveries", "/s"),
    figureOf(sixteen, "more")("Deliveries, 16 messages in flight", "deliveries", "/s"),
    figureOf(one, "less")("CPU of a delivery, 1 in flight", "cpuMicros", "µs"),
    figureOf(steady, "less")(`p99 until the last has it, ${rate}`, "lastP99Ms", "ms"),
    figureOf(sends, "more")("Sends of 64 callers, nobody listens", "sends", "/s"),
    figureOf(sends, "less")("CPU of a send", "cpuMicrosOfSend", "µs"),
    figureOf(sends, "less")("p99 of the answer to a send", "answerP99Ms", "ms"),
    {
      what: "Peak memory",
      unit: "MiB",
      better: "less",
      values: new Map(results.peers.map(({ name }) => [name, [peakOf(results, name)]])),
    },
  ];
}

/** The most memory that a server had under any load, in MiB. */
export function peakOf({ found }: PeerResults, name: string): number {
  return Math.max(...Object.values(found).flatMap(({ series }) => valuesOf(series, name, "peakMebibytes")));
}

/** How another server stands to Herald. `factor` is the better median divided by the worse. */
export type Standing = { name: string; place: "ahead" | "close" | "behind"; factor: number };

/** How the other servers stand to Herald in a figure. Those whose rounds overlap with Herald's are close. */
export function standingsOf({ better, values }: Figure): Standing[] {
  const ownValues = values.get(own) ?? [];
  const others = [...values].filter(([name]) => name !== own);
  return others.map(([name, rounds]) => {
    const isAbove = Math.min(...rounds) > Math.max(...ownValues);
    const isBelow = Math.max(...rounds) < Math.min(...ownValues);
    const isBetter = better === "more" ? isAbove : isBelow;
    const place = !isAbove && !isBelow ? "close" : isBetter ? "ahead" : "behind";
    const ratio = median(rounds) / median(ownValues);
    return { name, place, factor: Math.max(ratio, 1 / ratio) };
  });
}
