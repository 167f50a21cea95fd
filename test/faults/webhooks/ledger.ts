import { createClient } from "../../../sdk/index.ts";
import { sendBatch } from "../../harness/clients/batch.ts";
import { DEADLINE_MS, eventually } from "../../harness/deadline.ts";
import type { Random } from "../../harness/random.ts";
import type { ClusterNode } from "../../harness/servers/cluster.ts";
import { createOrganization, type Organization } from "../../harness/servers/organization.ts";
import { judge, type Recipient, type Sent } from "./judge.ts";
import { openReceivingEnd, type ReceivingEnd } from "./receiving-end.ts";

const rooms = 20;
const linesOfBatch = 100;
const reportsAtOnce = 8;
const acknowledgedWithinMs = 60_000;
const tokenSeconds = 24 * 3600;
const online = ["alice", "bob"];

/** An organization of its own with webhooks, and everything that was sent to it. In each room two users are never online. */
export type Ledger = {
  /** Two users listen at all nodes, and follow when theirs dies, until the returned function is called. */
  listen(): Promise<() => void>;
  /** Sends so many messages to any node, in batches, again with the same ids until all of them are acknowledged. */
  send(count: number, random: Random): Promise<void>;
  end(webhook: string): ReceivingEnd;
  /** Resolves once a webhook has told of everything that was sent so far. */
  toldTo(webhook: string, withinMs: number): Promise<void>;
  /**
   * Waits until the webhooks have told of everything that was sent, then compares what they told with the delivery reports.
   * Rejects with what is wrong. The figures are of all rounds so far.
   */
  check(withinMs: number): Promise<{ sends: number; unreached: number; reached: number }>;
  [Symbol.dispose](): void;
};

type Report = { items: { uid: string; delivered_at: string | null }[] };
type Options = {
  nodes: readonly ClusterNode[];
  waitSeconds: number;
  webhooks: readonly string[];
  /** The time of the nodes, in milliseconds since the Unix epoch. */
  now?: () => number;
};

/** Opens a ledger on nodes that allow webhooks to private addresses. */
export async function openLedger({ nodes, waitSeconds, webhooks, now = Date.now }: Options): Promise<Ledger> {
  const [first] = nodes;
  if (first === undefined) throw new Error("a ledger without a node");
  using opening = new DisposableStack();
  const org = await createOrganization(first.herald);
  const cids = Array.from({ length: rooms }, (_, index) => `room-${index}`);
  for (const [index, cid] of cids.entries()) await org.conversation([...online, `carol-${index}`, "dave"], cid);
  const ends = new Map<string, ReceivingEnd>();
  for (const id of webhooks) ends.set(id, opening.use(await openReceivingEnd({ org, id, waitSeconds, now })));
  const ids: string[] = [];
  const sent: Sent[] = [];
  const all = opening.move();

  async function sendLines(lines: object[], random: Random): Promise<string[] | undefined> {
    const node = random.pick(nodes);
    if (!node.isRunning()) return undefined;
    try {
      const { answers } = await sendBatch(node.herald, lines);
      const acknowledged = answers.flatMap(({ ask }) => ask?.server_mid ?? []);
      return acknowledged.length === lines.length ? acknowledged : undefined;
    } catch {
      return undefined; // the node has died: what it stored is recognized
    }
  }

  function endOf(webhook: string): ReceivingEnd {
    const end = ends.get(webhook);
    if (end === undefined) throw new Error(`there is no webhook ${webhook}`);
    return end;
  }

  async function toldTo(id: string, withinMs: number): Promise<void> {
    const end = endOf(id);
    const told = () => `${ids.length} messages to be told to ${id}, of which ${end.messages()} are`;
    await eventually(() => end.messages() >= ids.length || undefined, told, withinMs, 100);
  }

  async function overAt(id: string, withinMs: number): Promise<void> {
    let waiting: unknown[] = [];
    const isOver = async () => {
      const path = `${org.path("webhooks", id, "deliveries")}?state=waiting`;
      const { status, body } = await org.herald.admin<{ items: unknown[] }>("GET", path);
      waiting = body.items;
      return (status === 200 && waiting.length === 0) || undefined;
    };
    const rest = () => `all deliveries to be over, of which one is ${JSON.stringify(waiting[0])}`;
    await eventually(isOver, rest, withinMs, 100);
  }

  return {
    async listen() {
      const clients = await Promise.all(
        online.map(async (uid) => {
          const url = nodes.map((node) => node.url);
          const token = await org.token(uid, tokenSeconds); // one for all, as the node that gives them may be dead
          const client = createClient({ url, token: () => token, WebSocket });
          client.start();
          await eventually(() => client.state === "connected" || undefined, `${uid} to be connected`);
          return client;
        }),
      );
      return () => {
        for (const client of clients) client.stop();
      };
    },
    async send(count, random) {
      for (let left = count; left > 0; left -= linesOfBatch) {
        const lines = Array.from({ length: Math.min(linesOfBatch, left) }, () => ({
          organizationId: org.id,
          senderId: "alice",
          message: { id: crypto.randomUUID(), cid: random.pick(cids), body: "x" },
        }));
        const acknowledged = () => sendLines(lines, random);
        ids.push(...(await eventually(acknowledged, "a batch to be acknowledged", acknowledgedWithinMs)));
      }
    },
    end: endOf,
    toldTo,
    async check(withinMs) {
      for (const id of ends.keys()) await toldTo(id, withinMs);
      for (const id of ends.keys()) await overAt(id, withinMs);
      sent.push(...(await readReports(org, ids.slice(sent.length))));
      const figures = { sends: ids.length, unreached: 0, reached: 0 };
      for (const [id, end] of ends) {
        const { unreached, reached, ...faults } = judge(sent, end.told());
        const wrong = Object.entries(faults).filter(([, found]) => found.length > 0);
        if (wrong.length > 0)
          throw new Error(
            `the webhook ${id}: ${wrong.map(([kind, found]) => `${found.length} ${kind}, as ${found[0]}`).join("; ")}`,
          );
        figures.unreached += unreached;
        figures.reached += reached;
      }
      return figures;
    },
    [Symbol.dispose]: () => all.dispose(),
  };
}

/** Who has these messages, as their reports tell it. */
async function readReports(org: Organization, ids: readonly string[]): Promise<Sent[]> {
  const sent: Sent[] = [];
  const waiting = ids.values();
  const read = async () => {
    for (const id of waiting) sent.push({ id, recipients: await recipientsOf(org, id) });
  };
  await Promise.all(Array.from({ length: reportsAtOnce }, read));
  return sent;
}

async function recipientsOf(org: Organization, id: string): Promise<Recipient[]> {
  const read = async () => {
    const path = `${org.path("messages", id, "recipients")}?limit=1000`;
    const { status, body, text } = await org.herald.admin<Report>("GET", path);
    if (status === 429) return undefined; // so many at once
    if (status !== 200) throw new Error(`the report of ${id} was answered ${status}: ${text}`);
    return body.items;
  };
  const items = await eventually(read, `the report of ${id}`, DEADLINE_MS, 250);
  return items.map(({ uid, delivered_at }) => ({
    uid,
    deliveredAt: delivered_at === null ? undefined : Date.parse(delivered_at),
  }));
}
