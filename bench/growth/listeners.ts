import { createAdmin } from "../../sdk/admin.ts";
import { createRandom } from "../../test/harness/random.ts";
import { type Cluster, type ClusterNode, startCluster } from "../../test/harness/servers/cluster.ts";
import { createOrganization } from "../../test/harness/servers/organization.ts";
import { type Helper, startHelper } from "../harness/helper.ts";
import { liftedLimits, tokenSecret } from "../harness/herald.ts";
import { memoryOf } from "../harness/meter.ts";
import { median, percentile } from "../harness/report/statistics.ts";
import type { ReaderPlan, ReadersOrder, ReadersReport } from "../processes/readers.ts";
import { answerOf } from "./answer.ts";
import { printSentBytes } from "./sent-bytes.ts";

/** How many listen in how many processes, to how much, for how long. */
export type ListenersSize = { listeners: number; processes: number; pieces: number; bytes: number; seconds: number };

/** All listeners. */
type Readers = {
  /** Gives an order that is not answered. */
  tell(order: ReadersOrder): void;
  /** Gives an order, and waits for the answers. */
  ask(order: ReadersOrder): Promise<ReadersReport[]>;
  stop(): Promise<unknown>;
};

const nodes = 3;
const kinds = 6; // of listeners, in turn
const passEvery = 10; // pieces
const startAttempts = 3;
const lookEveryMs = 250;
const sender = "agent";
const mostText = 1.3;

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
const megabytes = (all: readonly number[]) => all.map((bytes) => (bytes / 1e6).toFixed(0)).join(", ");

/**
 * Half of the listeners are there from the beginning to the end; a sixth each come in the middle and list, come back after they
 * have left before it began, and leave in the middle and come back.
 */
function plansOf(listeners: number, pieces: number): ReaderPlan[] {
  const random = createRandom(listeners);
  return Array.from({ length: listeners }, (_, index): ReaderPlan => {
    const uid = `reader-${String(index).padStart(5, "0")}`;
    const places = [random.integer(1, pieces - 1), random.integer(1, pieces - 1)];
    const [from, to] = [Math.min(...places), Math.max(...places)];
    const come = { at: to, does: "come" } as const;
    if (index % kinds === 1) return { uid, kind: "late, by a list", changes: [come] };
    if (index % kinds === 3) return { uid, kind: "late, by `since`", changes: [{ at: 0, does: "go" }, come] };
    if (index % kinds === 5) return { uid, kind: "away in the middle", changes: [{ at: from, does: "go" }, come] };
    return { uid, kind: "start", changes: [] };
  });
}

/** Opens clients that share processes. Resolves once those are connected that are there from the beginning. */
async function openReaders(
  place: { urls: string[]; org: string; cid: string },
  plans: ReaderPlan[],
  processes: number,
) {
  const helpers: Helper<ReadersOrder, ReadersReport>[] = [];
  for (let index = 0; index < processes; index++) {
    const helper: Helper<ReadersOrder, ReadersReport> = startHelper("readers.ts");
    helper.tell({
      want: "open",
      ...place,
      plans: plans.filter((_, at) => Math.floor(at / kinds) % processes === index),
    });
    helpers.push(helper);
  }
  const answers = () => Promise.all(helpers.map((helper) => helper.next()));
  const readers: Readers = {
    tell(order) {
      for (const helper of helpers) helper.tell(order);
    },
    ask(order) {
      readers.tell(order);
      return answers();
    },
    stop: () => Promise.all(helpers.map((helper) => helper.stop())),
  };
  await answers();
  return readers;
}

/** Watches the memory of the nodes, which begin anew when they are killed. */
function watchMemory(cluster: Cluster): { before: number[]; most: number[]; [Symbol.dispose](): void } {
  const before = cluster.nodes.map(({ pid }) => memoryOf(pid));
  const most = [...before];
  const timer = setInterval(() => {
    for (const [index, node] of cluster.nodes.entries())
      if (node.isRunning()) most[index] = Math.max(most[index] ?? 0, memoryOf(node.pid));
  }, lookEveryMs);
  return { before, most, [Symbol.dispose]: () => clearInterval(timer) };
}

/** Starts a node again, which a busy machine may be too slow for at first. */
async function startAgain(node: ClusterNode): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await node.start();
    } catch (error) {
      if (attempt === startAttempts) throw error;
    }
}

/** Kills a node, and starts it again once all listeners have what was written by then. Returns what is to say of it. */
async function killNode(cluster: Cluster, index: number, readers: Readers, length: number): Promise<string> {
  await cluster.node(index).kill();
  const reports = await readers.ask({ want: "reach", length });
  const reached = reports.flatMap((report) => (report.did === "reach" ? report.reachedMs : []));
  await startAgain(cluster.node(index));
  const [half, all] = [median(reached), percentile(reached, 1)].map(seconds);
  return `a node was killed: of ${reached.length} listeners, half had what was written by then after ${half}, and all after ${all}`;
}

/** Measures one answer that many listen to while nodes are killed. Returns what is wrong. */
export async function measureListeners({ listeners, processes, pieces, bytes, seconds: lasts }: ListenersSize) {
  const answer = answerOf(pieces, bytes);
  const env = { HERALD_TOKEN_SECRET: tokenSecret, ...liftedLimits };
  await using cluster = await startCluster({ nodes, env: () => env });
  if (cluster === undefined) throw new Error("this needs PostgreSQL and NATS");
  const org = await createOrganization(cluster.node(0).herald);
  const plans = plansOf(listeners, pieces);
  const cid = await org.conversation([sender, ...plans.map(({ uid }) => uid)]);
  const urls = cluster.nodes.map(({ url }) => url);
  const readers = await openReaders({ urls, org: org.id, cid }, plans, processes);
  await org.sent(sender, { cid, body: "Here it comes." });
  await readers.ask({ want: "hear" });
  using memory = watchMemory(cluster);

  // The sender's calls go to another node once one is dead, as behind a load balancer.
  let current = 0;
  const [first = ""] = urls;
  const admin = createAdmin({
    url: first,
    key: cluster.node(0).key,
    fetch: (url, init) => fetch(url.replace(first, urls[current] ?? ""), init),
  });
  const kills: Promise<string>[] = [];
  const killAt = [1, 2].map((share) => Math.floor((pieces * share) / nodes));

  async function* say(nodesOf: Cluster): AsyncGenerator<string, void> {
    const startedAt = performance.now();
    let written = 0; // UTF-16 code units
    for (const [index, piece] of answer.pieces.entries()) {
      const waitMs = startedAt + (index / pieces) * lasts * 1000 - performance.now();
      if (waitMs > 0) await Bun.sleep(waitMs);
      if (index % passEvery === 0) readers.tell({ want: "pass", pieces: index });
      if (killAt.includes(index)) {
        await kills.at(-1); // until the node that was killed before is back
        kills.push(killNode(nodesOf, current, readers, written));
        current++;
      }
      yield piece;
      written += piece.length;
    }
  }

  const startedAt = performance.now();
  const { length } = await admin.pipe(say(cluster), { organizationId: org.id, senderId: sender, message: { cid } });
  const lastedMs = performance.now() - startedAt;
  readers.tell({ want: "pass", pieces });
  const killed = await Promise.all(kills); // an order is given when the one before has been answered
  const ended = (await readers.ask({ want: "end", text: answer.text })).flatMap((report) =>
    report.did === "end" ? report.readers : [],
  );
  const completeMs = ended.filter(({ isSame }) => isSame).map((report) => report.completeMs);
  const different = ended.filter(({ isSame }) => !isSame).map(({ uid, kind, state }) => `${uid} (${kind}) ${state}`);
  const [stored] = await org.history(cid);

  console.log(`${bytes} bytes of text in ${pieces} pieces took ${seconds(lastedMs)}, and should take ${lasts} s`);
  for (const line of killed) console.log(line);
  console.log(`complete on all screens ${seconds(percentile(completeMs, 1))} after the answer to the last piece`);
  console.log(`memory of the nodes before: ${megabytes(memory.before)} MB; at most: ${megabytes(memory.most)} MB`);
  console.log(`${completeMs.length} of ${listeners} listeners have the same text\n`);
  const ratio = printSentBytes(ended, bytes);
  await readers.stop();
  return [
    ...(completeMs.length === listeners
      ? []
      : [`${listeners - completeMs.length} listeners have another text, such as ${different.slice(0, 10).join("; ")}`]),
    ...(stored?.body === answer.text ? [] : ["the history has another text"]),
    ...(length === [...answer.text].length ? [] : [`the sender was told that its text has ${length} characters`]),
    ...(ratio <= mostText ? [] : [`a listener from the start was sent ${ratio} times the text, more than ${mostText}`]),
  ];
}
