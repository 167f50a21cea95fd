import { toIso } from "../../contract/identifiers.ts";
import type { NodeHistory, NodeSample, NodeStatus } from "../../contract/nodes.ts";
import type { Clock } from "../../lib/time/clock.ts";

const everyMs = 15_000;
const mostSamples = 120;
/** Beats do not come on time, and the next sample is not to be a whole beat late. */
const earlyMs = 1_000;
/** Over a longer time, a rate would be no rate of then. */
const mostBetweenMs = 60_000;

type CounterOf = (node: NodeStatus) => number | undefined;

/**
 * Creates an empty history. It takes a sample of what nodes report at most every 15 s, and keeps the last 120. A node counts towards the
 * rates from its second sample.
 */
export function createNodeHistory({ clock }: { clock: Clock }) {
  let samples: NodeSample[] = [];
  let before = new Map<string, NodeStatus>();
  let takenAt = Number.NEGATIVE_INFINITY;

  return {
    /** Looks at what the live nodes have reported. */
    add(live: readonly NodeStatus[]): void {
      const now = clock.now();
      if (now < takenAt)
        samples = []; // the clock was set back, and times are to be in order
      else if (now - takenAt < everyMs - earlyMs) return;
      takenAt = now;
      samples = [...samples, sampleOf(now, live, before)].slice(-mostSamples);
      before = new Map(live.map((node) => [node.id, node]));
    },
    read: (): NodeHistory => ({ read_at: toIso(clock.now()), samples }),
  };
}

function sampleOf(at: number, live: readonly NodeStatus[], before: ReadonlyMap<string, NodeStatus>): NodeSample {
  const rateOf = (counterOf: CounterOf) => sumOf(live.map((node) => rateOfNode(node, before.get(node.id), counterOf)));
  const latencies = live.map(({ figures }) => figures.latency_ms);
  return {
    at: toIso(at),
    nodes: live.length,
    connections: live.reduce((sum, { connections }) => sum + connections, 0),
    lag_events: live.reduce((most, { lag_events }) => Math.max(most, lag_events), 0),
    sends: rateOf(({ figures }) => figures.sends),
    deliveries: rateOf(({ figures }) => figures.deliveries),
    send_errors: rateOf(({ figures }) => figures.send_errors),
    slow_consumers_cut: rateOf(({ figures }) => figures.slow_consumers_cut),
    refused_keys: rateOf(({ refusals }) => refusals?.keys),
    refused_tokens: rateOf(({ refusals }) => refusals?.tokens),
    rate_limited: rateOf(({ refusals }) => refusals?.rate_limited),
    latency_ms: { p50: worstOf(latencies.map(({ p50 }) => p50)), p99: worstOf(latencies.map(({ p99 }) => p99)) },
  };
}

/** By the node's own clock: reports and samples are not in step. */
function rateOfNode(node: NodeStatus, before: NodeStatus | undefined, counterOf: CounterOf): number | null {
  const [now, then] = [counterOf(node), before && counterOf(before)];
  if (before === undefined || now === undefined || then === undefined) return null;
  const passedMs = Date.parse(node.reported_at) - Date.parse(before.reported_at);
  if (passedMs <= 0 || passedMs > mostBetweenMs || now < then) return null;
  return Math.round(((now - then) * 1_000_000) / passedMs) / 1_000;
}

const knownOf = (values: readonly (number | null)[]) => values.filter((value) => value !== null);

function sumOf(values: readonly (number | null)[]): number | null {
  const known = knownOf(values);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

function worstOf(values: readonly (number | null)[]): number | null {
  const known = knownOf(values);
  return known.length === 0 ? null : Math.max(...known);
}
