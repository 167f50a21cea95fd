import type { Node, NodeHistory as ServerHistory } from "../../sdk/types.ts";

/** A sample of all nodes, at a time in milliseconds. Rates are per second between the last two reports, or `null` if unknown. */
export type Sample = {
  at: number;
  connections: number;
  lag: number;
  sends: number | null;
  deliveries: number | null;
  errors: number | null;
  /** Refused keys and tokens. */
  refused: number | null;
  /** Connections that ended with bytes waiting. */
  cut: number | null;
  p50: number | null;
  p99: number | null;
};

/**
 * The samples of this tab of the last two minutes, kept while it is signed in, so that charts are not empty after a visit to another
 * page; and before them, those of the server.
 */
export type NodeHistory = {
  /** Notes what the server remembers, as read at `at`. */
  remember(history: ServerHistory, at: number): void;
  add(nodes: Node[], at: number): void;
  samples(): readonly Sample[];
};

/** How long a tab keeps a sample of its own, in milliseconds. */
export const keptMs = 120_000;

/** Over a longer time, a rate would be no rate of now. */
const mostBetweenMs = 15_000;

type Rates = Pick<Sample, "sends" | "deliveries" | "errors" | "refused" | "cut">;
type Known = { node: Node; rates: Rates };

const unknown: Rates = { sends: null, deliveries: null, errors: null, refused: null, cut: null };

/** Creates an empty history. The counters of a new node count from its second report. */
export function createNodeHistory(): NodeHistory {
  let samples: Sample[] = [];
  let earlier: Sample[] = [];
  let known = new Map<string, Known>();

  return {
    samples() {
      // The first sample of a tab has no rates. Those of the server do.
      const own = earlier.length > 0 && samples[0]?.sends === null ? samples.slice(1) : samples;
      const from = own[0]?.at ?? Number.POSITIVE_INFINITY;
      return [...earlier.filter(({ at }) => at < from), ...own];
    },
    remember({ read_at, samples: told }, at) {
      const readAt = Date.parse(read_at);
      earlier = told.map((sample) => ({
        at: at - (readAt - Date.parse(sample.at)),
        connections: sample.connections,
        lag: sample.lag_events,
        sends: sample.sends,
        deliveries: sample.deliveries,
        errors: sample.send_errors,
        refused: sum([sample.refused_keys, sample.refused_tokens]),
        cut: sample.slow_consumers_cut,
        ...sample.latency_ms,
      }));
    },
    add(nodes, at) {
      const live = nodes.filter(({ state }) => state === "live");
      known = new Map(live.map((node) => [node.id, { node, rates: ratesOf(node, known.get(node.id)) }]));
      const rates = [...known.values()].map(({ rates }) => rates);
      const figures = live.map(({ figures }) => figures);
      const sample = {
        at,
        connections: live.reduce((sum, node) => sum + node.connections, 0),
        lag: live.reduce((most, node) => Math.max(most, node.lag_events), 0),
        sends: sum(rates.map(({ sends }) => sends)),
        deliveries: sum(rates.map(({ deliveries }) => deliveries)),
        errors: sum(rates.map(({ errors }) => errors)),
        refused: sum(rates.map(({ refused }) => refused)),
        cut: sum(rates.map(({ cut }) => cut)),
        p50: worst(figures.map(({ latency_ms }) => latency_ms.p50)),
        p99: worst(figures.map(({ latency_ms }) => latency_ms.p99)),
      };
      // While nobody looked, the server did.
      if (earlier.length > 0 && at - (samples.at(-1)?.at ?? at) > mostBetweenMs) samples = [];
      samples = [...samples, sample].filter((one) => one.at > at - keptMs);
    },
  };
}

/** What a node did between its last two reports, by its own clock. Looks and reports are not in step, so the time between looks is another. */
function ratesOf({ reported_at, figures, refusals }: Node, before: Known | undefined): Rates {
  if (before === undefined) return unknown;
  const passedMs = Date.parse(reported_at) - Date.parse(before.node.reported_at);
  if (passedMs === 0) return before.rates;
  if (passedMs < 0 || passedMs > mostBetweenMs) return unknown;
  const rate = (now: number, then: number) => (Math.max(0, now - then) * 1000) / passedMs;
  const { figures: old, refusals: oldRefusals } = before.node;
  const isKnown = refusals !== undefined && oldRefusals !== undefined;
  return {
    sends: rate(figures.sends, old.sends),
    deliveries: rate(figures.deliveries, old.deliveries),
    errors: rate(figures.send_errors, old.send_errors),
    cut: rate(figures.slow_consumers_cut, old.slow_consumers_cut),
    refused: isKnown ? rate(refusals.keys + refusals.tokens, oldRefusals.keys + oldRefusals.tokens) : null,
  };
}

function knownOf(values: (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}

function sum(values: (number | null)[]): number | null {
  const known = knownOf(values);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

function worst(values: (number | null)[]): number | null {
  const known = knownOf(values);
  return known.length === 0 ? null : Math.max(...known);
}
