import type { ClusterNode } from "../harness/cluster.ts";
import { eventually } from "../harness/deadline.ts";
import { readMetrics } from "../harness/metrics.ts";

const metric = "herald_held";
const withinMs = 20_000;
/** Whether a node that does not count what it holds is at fault. */
const mustCount = false;

/**
 * What nodes still hold for connections although all have left, in words; empty when every count is back at nothing within
 * 20 s.
 */
export async function leftBehind(nodes: readonly ClusterNode[]): Promise<string[]> {
  let held: string[] = [];
  const isOver = async () => {
    held = (await Promise.all(nodes.map(heldBy))).flat();
    return held.length === 0 || undefined;
  };
  await eventually(isOver, "every count to be at nothing", withinMs).catch(() => undefined); // told by what is held
  return held;
}

async function heldBy({ url, herald }: ClusterNode): Promise<string[]> {
  const { status, text } = await herald.admin("GET", "/metrics");
  if (status !== 200) return [`${url} answers ${status} to GET /metrics`];
  const counts = readMetrics(text).samples.filter(({ name }) => name === metric);
  if (mustCount && counts.length === 0) return [`${url} has no ${metric}`];
  return counts
    .filter(({ value }) => value !== 0)
    .map(({ labels, value }) => `${url} holds ${value} ${labels.what ?? JSON.stringify(labels)} when all have left`);
}
