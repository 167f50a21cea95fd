import { type Client, createClient } from "../../../sdk/index.ts";
import { eventually } from "../../harness/deadline.ts";
import type { Random } from "../../harness/random.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { callAny } from "../any-node.ts";
import { defineScenario, type Size } from "../scenario.ts";
import { type ClusterStage, onCluster } from "../stages.ts";

const cid = "answers";
const senderId = "the writer";
const reader = "the reader";
const answersOf: Record<Size, number> = { short: 6, long: 12 };
const piecesOf: Record<Size, number> = { short: 40, long: 60 };
const words = ["", "a ", "two words ", "é", "👋🏽 ", "\n", "日本語 "];
const convergesWithinMs = 30_000;

/** `org` is that of the answers, and `written` the text of each answer of the round, by the id of its message. */
type GrowthStage = ClusterStage & { org: Organization; readers: Client[]; written: Map<string, string> };

/** Lets a user listen on every node, with the SDK's client. */
async function listen({ nodes, org, readers }: GrowthStage): Promise<void> {
  const token = await org.token(reader);
  for (const { url } of nodes) {
    const client = createClient({ url, token: () => token });
    client.conversation(cid).subscribe(() => undefined);
    client.start();
    readers.push(client);
  }
}

/** Writes one answer, each piece to any node, until one says that it is stored. */
async function write({ nodes, org, written }: GrowthStage, random: Random, pieces: number) {
  const sender = { organizationId: org.id, senderId };
  const message = { id: crypto.randomUUID(), cid, open: true };
  const begun = await callAny(nodes, random, { method: "POST", path: "/admin/message", body: { ...sender, message } });
  const id = begun.body.ask?.server_mid ?? "";
  let text = "";
  for (let left = pieces; left > 0; left--) {
    const offset = [...text].length;
    const piece = left === 1 ? "end" : random.pick(words) + left;
    const body = { ...sender, messageAppend: { id, offset, text: piece, ...(left === 1 && { done: true }) } };
    const answer = await callAny(nodes, random, { method: "PUT", path: "/admin/message/append", body });
    text += piece;
    if (answer.body.length !== [...text].length) throw new Error(`a piece at ${offset} of ${id}: ${answer.text}`);
  }
  written.set(id, text);
}

/** Waits until a list of messages has the answers as they were written, and all of them complete. */
async function settle(
  { written }: GrowthStage,
  where: string,
  read: () => Promise<readonly { _id: string; body: string; open?: boolean }[]>,
) {
  await eventually(
    async () => {
      const found = new Map((await read()).map((message) => [message._id, message]));
      const isWhole = ([id, text]: [string, string]) => found.get(id)?.body === text && !found.get(id)?.open;
      return [...written].every(isWhole) ? true : undefined;
    },
    `${written.size} answers, as they were written, ${where}`,
    convergesWithinMs,
  );
}

/** Answers are written piece by piece, to any node, while one is killed. */
export const growingMessages = defineScenario({
  name: "growing-messages",
  row: "`kill -9` of a node while answers are appended to piece by piece, at any node",
  expected:
    "Who listens at any node, and who lists, ends with each answer as it was acknowledged. Every other send goes on at the other nodes.",
  rounds: { short: 3, long: 15 },
  holdMs: { short: [0, 300], long: [0, 1_000] },
  allows: ["none"],
  breaksConnections: true,
  async stage(): Promise<GrowthStage | undefined> {
    const stage = await onCluster();
    const [first] = stage?.nodes ?? [];
    if (stage === undefined || first === undefined) return undefined;
    const org = await createOrganization(first.herald);
    await org.conversation([senderId, reader], cid);
    return { ...stage, org, readers: [], written: new Map() };
  },
  async break(stage, { random, size }) {
    stage.written.clear();
    await listen(stage);
    const answers = Array.from({ length: answersOf[size] }, () => write(stage, random, piecesOf[size]));
    const node = random.pick(stage.nodes);
    await Bun.sleep(random.integer(0, 500));
    await Promise.all([...answers, node.kill()]);
    return node.start;
  },
  async inspect(stage) {
    await settle(stage, "listed", () => stage.org.history(cid));
    for (const [index, client] of stage.readers.splice(0).entries()) {
      await settle(stage, `heard at node ${index + 1}`, async () => client.conversation(cid).getSnapshot().messages);
      client.stop();
    }
    return undefined;
  },
});
