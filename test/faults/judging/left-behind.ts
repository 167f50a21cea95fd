import { eventually } from "../../harness/deadline.ts";
import { readMetrics } from "../../harness/reading/metrics.ts";
import type { ClusterNode } from "../../harness/servers/cluster.ts";

const metric = "herald_held";

/**
 * Describes what nodes still hold for connections after all have gone; empty if every count returns to zero within
 * `withinMs`.
 */
export async function leftBehind(
  nodes: readonly Pick<ClusterNode, "url" | "key">[],
  withinMs = 20_000,
): Promise<string[]> {
  let held: string[] = [];
  const isOver = async () => {
    held = (await Promise.all(nodes.map(heldBy))).flat();
    return held.length === 0 || undefined;
  };
  await eventually(isOver, "every count to be at nothing", withinMs).catch(() => undefined); // reported by what is held
  return held;
}

async function heldBy({ url, key }: Pick<ClusterNode, "url" | "key">): Promise<string[]> {
  const response = await fetch(`${url}/metrics`, { headers: { "Admin-Api-Key": key } });
  if (!response.ok) return [`${url} answers ${response.status} to GET /metrics`];
  const counts = readMetrics(await response.text()).samples.filter(({ name }) => name === metric);
  if (counts.length === 0) return [`${url} has no ${metric}`];
  return counts
    .filter(({ value }) => value !== 0)
    .map(({ labels, value }) => `${url} holds ${value} ${labels.what ?? JSON.stringify(labels)} when all have left`);
}
