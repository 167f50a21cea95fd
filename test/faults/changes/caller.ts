import { eventually } from "../../harness/deadline.ts";
import type { Random } from "../../harness/random.ts";
import type { ClusterNode } from "../../harness/servers/cluster.ts";

/** An answer, after how many others were lost or were errors of the server. */
type LateAnswer<T> = { status: number; body: T; text: string; failures: number };

const answerWithinMs = 60_000;

/** Calls any node, again and again, until one answers with a status that is final. */
export async function callUntilAnswered<T>(
  { nodes, random }: { nodes: readonly ClusterNode[]; random: Random },
  method: string,
  path: string,
  body?: object,
): Promise<LateAnswer<T>> {
  let failures = 0;
  const call = async () => {
    const node = random.pick(nodes);
    if (!node.isRunning()) return undefined;
    try {
      const answer = await node.herald.admin<T>(method, path, body);
      if (answer.status < 500 && answer.status !== 429) return { ...answer, failures };
    } catch {
      // the node has died, and the outcome is unknown
    }
    failures += 1;
    return undefined;
  };
  return await eventually(call, `${method} ${path} to be answered`, answerWithinMs);
}
