import type { Node, NodeFigures } from "../../sdk/types.ts";

/** A sample of all nodes. Rates are per second since the previous sample, or `null` if unknown. */
export type Sample = {
  at: number;
  connections: number;
  lag: number;
  sends: number | null;
  deliveries: number | null;
  errors: number | null;
  p50: number | null;
  p99: number | null;
};

/** The last samples, kept while the tab is signed in, so that charts are not empty after a visit to another page. */
export type NodeHistory = { add(nodes: Node[], at: number): void; samples(): readonly Sample[] };

const kept = 60;

/** A history of the last 60 samples. The counters of a new node count from its second sample. */
export function createNodeHistory(): NodeHistory {
  const samples: Sample[] = [];
  let before = new Map<string, NodeFigures>();
  let beforeAt = 0;

  return {
    samples: () => samples,
    add(nodes, at) {
      const live = nodes.filter(({ state }) => state === "live");
      const figures = new Map(live.map(({ id, figures }) => [id, figures]));
      const seconds = (at - beforeAt) / 1000;
      const rate = (name: "sends" | "deliveries" | "send_errors"): number | null => {
        const both = [...figures].filter(([id]) => before.has(id));
        if (both.length === 0 || seconds <= 0) return null;
        return (
          both.reduce((sum, [id, now]) => sum + Math.max(0, now[name] - (before.get(id)?.[name] ?? 0)), 0) / seconds
        );
      };
      samples.push({
        at,
        connections: live.reduce((sum, node) => sum + node.connections, 0),
        lag: live.reduce((most, node) => Math.max(most, node.lag_events), 0),
        sends: rate("sends"),
        deliveries: rate("deliveries"),
        errors: rate("send_errors"),
        p50: worst([...figures.values()].map(({ latency_ms }) => latency_ms.p50)),
        p99: worst([...figures.values()].map(({ latency_ms }) => latency_ms.p99)),
      });
      if (samples.length > kept) samples.shift();
      before = figures;
      beforeAt = at;
    },
  };
}

function worst(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}
