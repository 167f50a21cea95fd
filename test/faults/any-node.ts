import { eventually } from "../harness/deadline.ts";
import type { Random } from "../harness/random.ts";
import type { ClusterNode } from "../harness/servers/cluster.ts";

const callMayTakeMs = 15_000;

/** What callers look for in answers. */
type Told = { state?: string; code?: string; length?: number; ask?: { server_mid: string } };

type AnyCall = { method: string; path: string; body?: object; key?: string };

/** Makes a call that may be repeated to any node, again and again until one answers it. */
export async function callAny(nodes: readonly ClusterNode[], random: Random, { method, path, body, key }: AnyCall) {
  return await eventually(
    async () => {
      const node = random.pick(nodes);
      if (!node.isRunning()) return undefined;
      try {
        const headers = key === undefined ? {} : { "Admin-Api-Key": key };
        const answer = await node.herald.admin<Told>(method, path, body, headers);
        return answer.status < 500 && answer.status !== 429 ? answer : undefined;
      } catch {
        return undefined; // the node has died, and the outcome is unknown
      }
    },
    `${method} ${path} to be answered`,
    callMayTakeMs,
  );
}
