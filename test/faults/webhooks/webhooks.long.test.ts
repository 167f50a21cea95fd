import { expect, setDefaultTimeout, test } from "bun:test";
import { createClient } from "../../../sdk/index.ts";
import { sendBatch } from "../../harness/clients/batch.ts";
import { eventually } from "../../harness/deadline.ts";
import { useEngines } from "../../harness/engines.ts";
import { createRandom, type Random } from "../../harness/random.ts";
import { type Cluster, startCluster } from "../../harness/servers/cluster.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { hooksOf, type Receiver, startReceiver } from "../../harness/servers/receiver.ts";
import { judge, type Recipient, type Sent, type Told, type Verdict } from "./judge.ts";

setDefaultTimeout(3_600_000);

/** `HERALD_WEBHOOK_SENDS=100000` runs it at full size. */
const sends = Number(process.env.HERALD_WEBHOOK_SENDS ?? 2_000);
const linesOfBatch = 100;
const kills = 5;
const rooms = 20;
const reportsAtOnce = 8;
const waitSeconds = 3;
const toldWithinMs = 60_000 + sends * 10;

type Report = { items: { uid: string; delivered_at: string | null }[] };

/** Sends a batch to any node, again with the same ids until all of it is acknowledged; returns the ids of the messages. */
async function sendAll(cluster: Cluster, lines: object[], random: Random): Promise<string[]> {
  return await eventually(
    async () => {
      const node = random.pick(cluster.nodes);
      if (!node.isRunning()) return undefined;
      try {
        const { answers } = await sendBatch(node.herald, lines);
        const ids = answers.flatMap(({ ask }) => ask?.server_mid ?? []);
        return ids.length === lines.length ? ids : undefined;
      } catch {
        return undefined; // the node has died: what it stored is recognized
      }
    },
    "a batch to be acknowledged",
    60_000,
  );
}

/** Who has a message, as the report tells it. */
async function recipientsOf(org: Organization, id: string): Promise<Recipient[]> {
  const { body } = await org.herald.admin<Report>("GET", `${org.path("messages", id, "recipients")}?limit=1000`);
  return body.items.map(({ uid, delivered_at }) => ({
    uid,
    deliveredAt: delivered_at === null ? undefined : Date.parse(delivered_at),
  }));
}

async function readReports(org: Organization, ids: readonly string[]): Promise<Sent[]> {
  const sent: Sent[] = [];
  const waiting = ids.values();
  const read = async () => {
    for (const id of waiting) sent.push({ id, createdAt: 0, recipients: await recipientsOf(org, id) });
  };
  await Promise.all(Array.from({ length: reportsAtOnce }, read));
  return sent;
}

/** What the receivers were told, once for each id. */
function toldBy(receivers: readonly Receiver[]): Told[] {
  const told = new Map<string, Told>();
  for (const { webhook } of receivers.flatMap(({ received }) => received)) {
    if (webhook.type !== "message.unreached") continue;
    const { message, part, unreached } = webhook.data;
    const uids = unreached.map(({ uid }) => uid);
    told.set(webhook.id, {
      webhookId: webhook.id,
      messageId: message._id,
      at: Date.parse(webhook.timestamp),
      part,
      uids,
    });
  }
  return [...told.values()];
}

const engines = await useEngines();
if (engines !== undefined) {
  const { postgres, nats } = engines;

  test("every unreached user is told of as the reports say, and none who had it, though nodes are killed and a receiver is away", async () => {
    const random = createRandom();
    console.log(`webhooks under faults: ${sends} sends, TEST_SEED=${random.seed}`);
    await using cluster = await startCluster({
      nodes: 3,
      postgres,
      nats,
      env: () => ({ HERALD_WEBHOOK_ALLOW_PRIVATE: "1" }),
    });
    const org = await createOrganization(cluster.node(0).herald);
    const cids = Array.from({ length: rooms }, (_, index) => `room-${index}`);
    for (const [index, cid] of cids.entries()) await org.conversation(["alice", "bob", `carol-${index}`, "dave"], cid);
    let receiver = startReceiver();
    const receivers = [receiver];
    await hooksOf(org).toReceiver("push", receiver, { wait_seconds: waitSeconds });
    // Two who are online and follow when their node dies, and two of each room who are not.
    await using clients = new AsyncDisposableStack();
    for (const uid of ["alice", "bob"]) {
      const token = await org.token(uid);
      const client = createClient({ url: cluster.nodes.map(({ url }) => url), token: () => token, WebSocket });
      clients.defer(() => client.stop());
      client.start();
    }

    const ids: string[] = [];
    const batches = Math.ceil(sends / linesOfBatch);
    const killAt = new Set(Array.from({ length: kills }, (_, index) => Math.floor(((index + 0.5) * batches) / kills)));
    let coming = Promise.resolve();
    for (let batch = 0; batch < batches; batch++) {
      const lines = Array.from({ length: Math.min(linesOfBatch, sends - batch * linesOfBatch) }, (_, index) => ({
        organizationId: org.id,
        senderId: "alice",
        message: { id: `m-${batch}-${index}`, cid: random.pick(cids), body: `${batch} ${index}` },
      }));
      ids.push(...(await sendAll(cluster, lines, random)));
      await Bun.sleep(random.integer(0, 400)); // spreads sends over time, so that some are due at each moment
      if (!killAt.has(batch)) continue;
      await coming;
      const node = random.pick(cluster.nodes);
      await node.kill();
      coming = Bun.sleep(random.integer(200, 2_000)).then(() => node.start());
    }
    // The receiver is away for a moment while much is due.
    const { port, secrets } = receiver;
    receiver[Symbol.dispose]();
    await Bun.sleep(2_000);
    receiver = startReceiver(undefined, port);
    receiver.secrets.push(...secrets);
    receivers.push(receiver);
    await coming;

    const through = await createOrganization(cluster.node(0).herald, org.id);
    let waiting: unknown[] = [];
    const isOver = async () => {
      const path = `${org.path("webhooks", "push", "deliveries")}?state=waiting`;
      const { status, body } = await cluster.node(0).herald.admin<{ items: unknown[] }>("GET", path);
      waiting = body.items;
      return (status === 200 && waiting.length === 0) || undefined;
    };
    const what = () => `all deliveries to be over, of which one is ${JSON.stringify(waiting[0])}`;
    await Bun.sleep((waitSeconds + 3) * 1_000);
    let verdict: Verdict | undefined;
    const end = Date.now() + toldWithinMs;
    do {
      await eventually(isOver, what, toldWithinMs, 500);
      verdict = judge(await readReports(through, ids), toldBy(receivers));
    } while (verdict.forgotten.length > 0 && Date.now() < end);
    const { unreached, reached, ...faults } = verdict;
    const posts = receivers.reduce((sum, { received }) => sum + received.length, 0);
    console.log(
      `webhooks under faults: ${unreached} unreached, ${reached} reached, ${posts} posts, ${receivers[0]?.faults()} refused`,
    );
    expect(faults).toEqual({ forgotten: [], wronged: [], doubled: [], unknown: [] });
    expect(unreached).toBeGreaterThan(sends);
    expect(reached).toBeGreaterThan(sends);
  });
}
