import { followersOf } from "../faults/audience.ts";
import { type Absence, type AnyScenario, defineScenario, type Size } from "../faults/scenario.ts";
import { type ClusterStage, nodeCount, onCluster } from "../faults/stages.ts";
import type { ClusterNode } from "../harness/servers/cluster.ts";
import { expectChangesPassed, type Sides } from "./changes.ts";
import { expectNoErrors, expectOneService, expectToHearOfEach } from "./side-by-side.ts";

const passes = 3; // forward, back, and forward again

/** Folders of revisions of Herald; `next: null` is this one. */
export type Revisions = { previous: string; next: string | null };

type UpgradeStage = ClusterStage & { absences: Absence[] };

/** Replaces nodes of one revision one by one with those of another, back, and again, while they are in use. */
export function createUpgrade({ previous, next }: Revisions): AnyScenario {
  async function stage(): Promise<UpgradeStage | undefined> {
    const cluster = await onCluster({ revision: previous });
    return cluster && { ...cluster, absences: [] };
  }

  return defineScenario({
    name: "upgrade",
    command: "npm run upgrade --",
    row: "Nodes are replaced one by one with those of another revision, back, and again",
    expected:
      "Sends go on at the other nodes. The clients of the node are closed with 1012, come back elsewhere and miss nothing.",
    rounds: { short: passes * nodeCount, long: passes * nodeCount },
    holdMs: { short: [0, 100], long: [0, 3_000] },
    allows: ["503", "none"],
    breaksConnections: true,
    isWithoutChanges: true, // which the previous revision cannot make; see `expectChangesPassed`
    closesWith: [1012],
    listeners: (size: Size) => (size === "short" ? { streamFollowers: 6 } : { followers: 60, streamFollowers: 30 }),
    stage,
    async break(cluster, { round }) {
      const node = cluster.node((round - 1) % cluster.nodes.length);
      const { herald, url } = node;
      const from = Date.now();
      await node.stop();
      expectNoErrors(herald);
      return async () => {
        await node.start(isForward(round) ? next : previous);
        cluster.absences.push({ url, from, to: Date.now() });
      };
    },
    async inspect({ nodes }, { org, round, listeners, audience }) {
      await expectOneService(nodes, org, followersOf(listeners));
      await expectToHearOfEach(nodes, org, round, { listeners, audience });
      await expectChangesPassed(sidesOf(nodes, round));
      for (const { herald } of nodes) expectNoErrors(herald);
    },
  });
}

/** Which nodes run which revision after a round. */
function sidesOf(nodes: readonly ClusterNode[], round: number): Sides {
  const replaced = ((round - 1) % nodeCount) + 1;
  const [turned, rest] = [nodes.slice(0, replaced), nodes.slice(replaced)];
  return isForward(round) ? { newer: turned, older: rest } : { newer: rest, older: turned };
}

function isForward(round: number): boolean {
  return Math.ceil(round / nodeCount) % 2 === 1;
}
