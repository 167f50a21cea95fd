import type { ClusterNode } from "../harness/cluster.ts";
import { eventually } from "../harness/deadline.ts";
import { readMetrics } from "../harness/metrics.ts";
import type { Size } from "./scenario.ts";

const metric = "herald_held";
/** Whether a node that does not count what it holds is at fault. */
const mustCount = false;
/** What a node keeps for 10 s in case somebody comes back: only long runs wait for that. */
const lingering: ReadonlySet<string> = new Set(["sequencers"]);

/**
 * What nodes still hold for connections although all have left, in words; empty when every count is back at nothing within
 * `withinMs`.
 */
export async function leftBehind(
  nodes: readonly Pick<ClusterNode, "url" | "key">[],
  size: Size,
  withinMs = 20_000,
): Promise<string[]> {
  let held: string[] = [];
  const isOver = async () => {
    held = (await Promise.all(nodes.map((node) => heldBy(node, size)))).flat();
    return held.length === 0 || undefined;
  };
  await eventually(isOver, "every count to be at nothing", withinMs).catch(() => undefined); // told by what is held
  return held;
}

async function heldBy({ url, key }: Pick<ClusterNode, "url" | "key">, size: Size): Promise<string[]> {
  const response = await fetch(`${url}/metrics`, { headers: { "Admin-Api-Key": key } });
  if (!response.ok) return [`${url} answers ${response.status} to GET /metrics`];
  const counts = readMetrics(await response.text()).samples.filter(({ name }) => name === metric);
  if (mustCount && counts.length === 0) return [`${url} has no ${metric}`];
  return counts
    .filter(({ value, labels }) => value !== 0 && (size === "long" || !lingering.has(labels.what ?? "")))
    .map(({ labels, value }) => `${url} holds ${value} ${labels.what ?? JSON.stringify(labels)} when all have left`);
}
