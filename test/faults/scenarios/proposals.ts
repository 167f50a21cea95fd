import type { Random } from "../../harness/random.ts";
import { createKey } from "../../harness/servers/keys.ts";
import type { Organization } from "../../harness/servers/organization.ts";
import { callAny } from "../any-node.ts";
import { defineScenario, type Size } from "../scenario.ts";
import { type ClusterStage, onCluster } from "../stages.ts";

const proposalsOf: Record<Size, number> = { short: 24, long: 120 };
const approvers = 3;

/** The ids that were proposed in a round, and what an answer said of each. */
type Round = { ids: string[]; told: Map<string, Set<string>> };

type ProposalStage = ClusterStage & { rounds: Round[]; agent?: string };

async function proposeAll(stage: ProposalStage, org: Organization, ids: string[], random: Random) {
  const [first] = stage.nodes;
  if (first === undefined) throw new Error("no node");
  stage.agent ??= (await createKey(first.herald, { scopes: ["message:propose"] })).key;
  for (const id of ids) {
    const request = { organizationId: org.id, senderId: "the sender", message: { cid: "room", body: id } };
    const put = { method: "PUT", path: org.path("proposals", id), body: { request }, key: stage.agent };
    const { status, text } = await callAny(stage.nodes, random, put);
    if (status > 201) throw new Error(`${id} was not proposed: ${text}`);
  }
}

/** Lets several approve each proposal at once, and one reject every third, and notes what each hears. */
async function decideAll({ nodes }: ProposalStage, org: Organization, { ids, told }: Round, random: Random) {
  await Promise.all(
    ids.flatMap((id, index) => {
      const rejects = index % 3 === 0 ? ["reject"] : [];
      const verbs = Array<string>(approvers)
        .fill("approve")
        .toSpliced(random.integer(0, approvers), 0, ...rejects);
      return verbs.map(async (verb) => {
        const answer = await callAny(nodes, random, { method: "POST", path: org.path("proposals", id, verb) });
        if (answer.status === 200) told.set(id, (told.get(id) ?? new Set()).add(answer.body.state ?? ""));
        else if (answer.status !== 409) throw new Error(`${verb} ${id}: ${answer.text}`);
      });
    }),
  );
}

/** Proposals are approved by several at once, and rejected, while a node is killed. */
export const proposals = defineScenario({
  name: "proposals",
  row: "`kill -9` of a node while several approve the same proposals at once, and others reject them",
  expected:
    "Each is sent once or rejected, never both, as every answer says. Every other send goes on at the other nodes.",
  rounds: { short: 3, long: 15 },
  holdMs: { short: [0, 300], long: [0, 1_000] },
  allows: ["none"],
  breaksConnections: true,
  async stage(): Promise<ProposalStage | undefined> {
    const stage = await onCluster();
    return stage && { ...stage, rounds: [] };
  },
  async break(stage, { round: number, random, org, size }) {
    const ids = Array.from({ length: proposalsOf[size] }, (_, index) => `proposed ${number} ${index}`);
    const round: Round = { ids, told: new Map() };
    stage.rounds.push(round);
    await proposeAll(stage, org, ids, random);
    const node = random.pick(stage.nodes);
    const deciding = decideAll(stage, org, round, random);
    await Bun.sleep(random.integer(0, 150));
    await Promise.all([deciding, node.kill()]);
    return node.start;
  },
  async inspect(stage, { org, random }) {
    const round = stage.rounds.at(-1);
    if (round === undefined) return;
    const sent = (await org.history("room")).map(({ body }) => body);
    for (const id of round.ids) {
      const found = await callAny(stage.nodes, random, { method: "GET", path: org.path("proposals", id) });
      const { state = "" } = found.body;
      const times = sent.filter((body) => body === id).length;
      const told = [...(round.told.get(id) ?? [])];
      if (times !== (state === "approved" ? 1 : 0) || told.join() !== state)
        throw new Error(`${id} is ${state}, was told as ${told}, and sent ${times} times`);
    }
  },
});
