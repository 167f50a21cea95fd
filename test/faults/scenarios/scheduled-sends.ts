import { eventually } from "../../harness/deadline.ts";
import type { Random } from "../../harness/random.ts";
import type { Organization } from "../../harness/servers/organization.ts";
import { callAny } from "../any-node.ts";
import { defineScenario, type Size } from "../scenario.ts";
import { type ClusterStage, onCluster } from "../stages.ts";

const sendsOf: Record<Size, number> = { short: 40, long: 200 };

/** The ids that were scheduled in a round, and those of which a cancellation was answered 204. */
type Round = { ids: string[]; cancelled: Set<string> };

type ScheduleStage = ClusterStage & { rounds: Round[] };

async function scheduleAll({ nodes }: ScheduleStage, org: Organization, ids: string[], sendAt: number, random: Random) {
  const send_at = new Date(sendAt).toISOString();
  for (const id of ids) {
    const message = { cid: "room", body: id };
    const request = { organizationId: org.id, senderId: "the sender", message };
    const { status, text } = await callAny(nodes, random, {
      method: "PUT",
      path: org.path("scheduled", id),
      body: { send_at, request },
    });
    if (status > 201) throw new Error(`${id} was not scheduled: ${text}`);
  }
}

/** Cancels every other one, while it is being sent, and notes which it was in time for. */
async function cancelSome({ nodes }: ScheduleStage, org: Organization, { ids, cancelled }: Round, random: Random) {
  const some = ids.filter((_, index) => index % 2 === 0);
  await Promise.all(
    some.map(async (id) => {
      const { status } = await callAny(nodes, random, { method: "DELETE", path: org.path("scheduled", id) });
      if (status === 204) cancelled.add(id);
    }),
  );
}

/** Scheduled sends fall due while a node is killed and others cancel them. */
export const scheduledSends = defineScenario({
  name: "scheduled-sends",
  row: "`kill -9` of a node when scheduled sends are due, some of which are cancelled at that moment",
  expected: "Each is sent once or cancelled, never both. Every other send goes on at the other nodes.",
  rounds: { short: 3, long: 15 },
  holdMs: { short: [0, 300], long: [0, 1_000] },
  allows: ["none"],
  breaksConnections: true,
  async stage(): Promise<ScheduleStage | undefined> {
    const stage = await onCluster();
    return stage && { ...stage, rounds: [] };
  },
  async break(stage, { round: number, random, org, size }) {
    const round: Round = {
      ids: Array.from({ length: sendsOf[size] }, (_, index) => `scheduled ${number} ${index}`),
      cancelled: new Set(),
    };
    stage.rounds.push(round);
    const sendAt = Date.now() + sendsOf[size] * 25;
    await scheduleAll(stage, org, round.ids, sendAt, random);
    await Bun.sleep(Math.max(0, sendAt - Date.now() + random.integer(-20, 60)));
    const node = random.pick(stage.nodes);
    await Promise.all([cancelSome(stage, org, round, random), node.kill()]);
    return node.start;
  },
  async inspect(stage, { org, random }) {
    const round = stage.rounds.at(-1);
    if (round === undefined) return;
    for (const id of round.ids) {
      const read = () => callAny(stage.nodes, random, { method: "GET", path: org.path("scheduled", id) });
      const isOver = async () => ((await read()).body.state === "waiting" ? undefined : true);
      await eventually(isOver, `${id} to be over`);
    }
    const sent = (await org.history("room")).map(({ body }) => body).filter((body) => round.ids.includes(body));
    const expected = round.ids.filter((id) => !round.cancelled.has(id));
    const wrong = { twice: sent.length - new Set(sent).size, both: sent.filter((id) => round.cancelled.has(id)) };
    if (wrong.twice > 0 || wrong.both.length > 0 || sent.length !== expected.length)
      throw new Error(
        `scheduled sends went wrong: ${JSON.stringify({ ...wrong, sent: sent.length, expected: expected.length })}`,
      );
  },
});
