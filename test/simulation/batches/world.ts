import { defaultPayloadLimits } from "../../../src/contract/limits.ts";
import { readLines } from "../../../src/http/requests/lines.ts";
import { createThreadScheduler } from "../../../src/lib/event-loop/thread-scheduler.ts";
import type { Caller } from "../../../src/services/keys/permissions.ts";
import { type Batches, createBatches } from "../../../src/services/messages/batches.ts";
import { createTransferSlots, type TransferSlots } from "../../../src/services/transfer/transfer-slots.ts";
import { createSendLog } from "../../../src/store/log/send-log.ts";
import { createRandom, type Random } from "../../harness/random.ts";
import { createThreadModel, type WatchedThread } from "../models/thread.ts";
import { inSimulatedTime, pause, type SimulatedTime } from "../models/time.ts";
import { createLogModel, createStored, type LogModel, type Stored } from "./log-model.ts";

/** What nodes make batches, commits and turns of the thread with; a faulty version has a bug to be found. */
export const product = { createBatches, createSendLog, createThreadScheduler };

/** What nodes are made of. */
export type Product = typeof product;

/** What happened in a world: broken promises; empty if all is well. */
export type BatchReport = { seed: number; broken: string[] };

type Answer = { line: number; done?: false; status?: number; ask?: { server_mid: string }; replayed?: true };

/** A node that takes batches. */
type Node = {
  batches: Batches;
  slots: TransferSlots;
  log: LogModel;
  thread: WatchedThread;
  isAlive: boolean;
  isStopped: boolean;
};

/** An organization, whose caller sends a file. */
type Sender = { org: string; caller: Caller; lines: string[]; isDone: boolean };

/** How an attempt ends: by itself, or because of the caller or the node. */
type Fate = "whole" | "cut" | "stop" | "kill";

const slotsOfOrganization = 4;
const mostInFlight = 512; // of one batch
const longestMs = 60_000;
const troubledAttempts = 6;
const mostAttempts = 8;
const requestBytes = 1024 * 1024;

/** Plays one world: callers send a file each to nodes that fail, again and again, until all of it is answered. */
export function simulateBatch(seed: number, product: Product): BatchReport {
  return inSimulatedTime((time) => runWorld(seed, product, time));
}

function runWorld(seed: number, product: Product, time: SimulatedTime): BatchReport {
  const random = createRandom(seed);
  const broken: string[] = [];
  const stored = createStored();
  const failures = random.next() < 0.5 ? 0 : 0.1;
  const nodes: Node[] = [];
  const thread = { sliceUs: random.pick([1, 300, 1_000]), turnMs: random.pick([0, 0, 2]) };
  const count = random.pick([1, 1, 2, random.integer(4, 8)]);
  const senders = Array.from({ length: count }, (_, index) => createSender(random, index));
  const world: World = { random, broken, stored, senders: count, now: time.now };

  function startNode(failures: number): Node {
    const { createSendLog: createLog, createThreadScheduler: createThread } = product;
    const onError = (error: unknown) => broken.push(`something is wrong inside: ${error}`);
    const log = createLogModel({ createLog, random, stored, now: time.now, failures });
    const watched = createThreadModel({ createThread, random, climate: thread, onError });
    const slots = createTransferSlots({ what: "batches", ofOrganization: slotsOfOrganization, ofNode: 64 });
    const batches = product.createBatches({
      sends: log,
      use: { admitSend: () => () => undefined },
      thread: watched,
      dryRuns: { message: unused, systemMessage: unused },
      slots,
      limits: defaultPayloadLimits,
      clock: { now: time.now },
      elapsed: { now: time.now },
      onError,
    });
    const node = { batches, slots, log, thread: watched, isAlive: true, isStopped: false };
    nodes.push(node);
    return node;
  }

  const unfinished = () => senders.filter(({ isDone }) => !isDone);
  async function run(): Promise<void> {
    for (let attempt = 0; attempt < mostAttempts && unfinished().length > 0; attempt++) {
      const isTroubled = attempt < troubledAttempts;
      const fate: Fate = isTroubled ? random.pick(["whole", "cut", "stop", "kill"]) : "whole";
      const node = startNode(isTroubled ? failures : 0);
      if (fate === "stop" || fate === "kill") void endNode(world, node, fate);
      const send = async (sender: Sender) => {
        sender.isDone = await sendAll(world, sender, node, fate);
      };
      await Promise.all(unfinished().map(send));
    }
  }
  run().catch((error: unknown) => broken.push(`the simulation itself fails: ${error}`));
  try {
    time.pass(longestMs);
  } catch (error) {
    broken.push(`the world fails: ${error}`);
  }
  for (const { org } of unfinished()) broken.push(`the caller of ${org} never gets to the end`);
  for (const sender of senders) broken.push(...judgeStored(world, sender, failures === 0));
  for (const node of nodes.filter(({ isAlive }) => isAlive)) {
    if (senders.some(({ org }) => !hasAllSlots(node, org))) broken.push("a slot is held by no batch");
    if (node.thread.unserved > 0) broken.push(`${node.thread.unserved} wait for the thread, and nothing runs`);
  }
  return { seed, broken };
}

function hasAllSlots({ slots }: Node, org: string): boolean {
  try {
    for (let slot = 0; slot < slotsOfOrganization; slot++) slots.take(org);
    return true;
  } catch {
    return false;
  }
}

type World = { random: Random; broken: string[]; stored: Stored; senders: number; now(): number };

const isGood = (line: string) => line.startsWith("{");
const midOf = (org: string, index: number) => `${org}-m${index + 1}`;

/** An organization with a file; the first one's may be long. */
function createSender(random: Random, index: number): Sender {
  const org = `o${index + 1}`;
  const caller: Caller = {
    keyId: `k${index + 1}`,
    rights: { scopes: ["*"], org, senders: null, networks: null, expiresAt: null },
    secretExpiresAt: undefined,
    digest: undefined,
  };
  return {
    org,
    caller,
    lines: makeLines(random, org, index === 0 && random.next() < 0.2 ? 1_200 : 150),
    isDone: false,
  };
}

/** Messages and system messages with ids that tell their line, and bad and blank lines between them. */
function makeLines(random: Random, org: string, most: number): string[] {
  return Array.from({ length: random.integer(1, most) }, (_, index) => {
    const kind = random.next();
    if (kind < 0.05) return "no JSON";
    if (kind < 0.1) return "";
    const sender = { organizationId: org, senderId: "u1" };
    const send =
      kind < 0.3
        ? { ...sender, messageSystem: { id: midOf(org, index), uids: ["u2", "u3"] } }
        : { ...sender, message: { id: midOf(org, index), cid: random.next() < 0.5 ? "c1" : "c2", body: "x" } };
    return JSON.stringify(send);
  });
}

/** Sends the file in one request. Resolves with whether all of it is answered. */
async function sendAll(world: World, sender: Sender, node: Node, fate: Fate): Promise<boolean> {
  const { random, broken, now } = world;
  const { caller, lines } = sender;
  const text = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  const isSlow = random.next() < 0.2;
  const before = new Set(world.stored.sends.map(({ mid }) => mid));
  const cutAt = fate === "cut" ? random.integer(0, text.length) : Number.POSITIVE_INFINITY;
  let at = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (random.next() < 0.3) await pause(random.integer(0, 30));
        if (at >= cutAt || !node.isAlive) return controller.error(new Error("the connection broke"));
        const end = Math.min(text.length, cutAt, at + random.integer(1, 4_000));
        controller.enqueue(text.subarray(at, end));
        at = end;
        if (at === text.length) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const call = {
    requestId: "r",
    pay: async () => undefined,
    permit: async () => undefined,
    record: async () => undefined,
  };
  const wish = { caller, isDryRun: false, perSecond: undefined, blocks: readLines(body, requestBytes) };
  const answers = node.batches.open(wish, call);
  const heard: Answer[] = [];
  const read = async () => {
    for await (const piece of answers) {
      if (!node.isAlive) return;
      for (const line of piece.split("\n").slice(0, -1)) {
        const answer: Answer = JSON.parse(line);
        heard.push(answer);
        broken.push(...judgeAnswer(world, sender, answer, before));
      }
      if (node.log.waiting > mostInFlight * world.senders) broken.push(`${node.log.waiting} sends are in flight`);
      if (isSlow) await pause(random.integer(0, 100));
    }
  };
  let isRead = false;
  const reading = read().finally(() => {
    isRead = true;
  });
  await until(() => isRead || !node.isAlive || at >= cutAt);
  if (!node.isAlive) return false; // the rest of its process is gone, too, and what it holds
  if (at >= cutAt) {
    await answers.return();
    return false;
  }
  await reading;
  broken.push(...judgeOrder(sender, heard, node, now()));
  return heard.at(-1)?.done !== false;
}

async function endNode({ random }: World, node: Node, fate: Fate): Promise<void> {
  await pause(random.integer(0, 150));
  if (fate === "stop") {
    node.isStopped = true;
    node.batches.stop();
    return;
  }
  node.log.kill();
  node.isAlive = false;
}

/** Looks again every millisecond of simulated time. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(1);
}

function* judgeAnswer(
  { stored }: World,
  { org, lines }: Sender,
  answer: Answer,
  before: ReadonlySet<string>,
): Iterable<string> {
  const { line, done, status, ask, replayed } = answer;
  if (done === false) return;
  const text = lines[line - 1] ?? "";
  if (isGood(text) !== (status === 201)) yield `line ${line} is answered ${status}`;
  if (status !== 201) return;
  const mid = midOf(org, line - 1);
  const found = stored.byMid.get(mid);
  if (found === undefined) yield `line ${line} is answered, and not stored`;
  else if (ask !== undefined && ask.server_mid !== found.id) yield `line ${line} is answered with another id`;
  if (before.has(mid) && replayed !== true) yield `line ${line} is told to be new`;
}

/** Each line but blank ones has one answer, in order, up to the end or to the line that tells of it. */
function* judgeOrder({ lines }: Sender, heard: Answer[], { isStopped }: Node, at: number): Iterable<string> {
  const due = lines.flatMap((line, index) => (line === "" ? [] : [index + 1]));
  const last = heard.at(-1);
  const answered = heard.filter(({ done }) => done !== false).map(({ line }) => line);
  if (answered.some((line, index) => line !== due[index])) yield `answers come as ${answered.join()}`;
  if (last?.done === false) {
    const next = due[answered.length] ?? lines.length + 1;
    if (last.line > next || last.line <= (answered.at(-1) ?? 0))
      yield `is told that it ends at ${last.line}, not ${next}`;
  } else if (answered.length < due.length) {
    yield `ends at ${at} after ${answered.length} of ${due.length} lines without a word${isStopped ? ", as the node stops" : ""}`;
  }
}

function* judgeStored({ stored }: World, { org, lines }: Sender, isInOrder: boolean): Iterable<string> {
  const due = lines.flatMap((line, index) => (isGood(line) ? [midOf(org, index)] : []));
  const found = stored.sends.flatMap((send) => (send.org === org ? [send.mid] : []));
  if (new Set(found).size !== found.length) yield "a line is stored twice";
  const order = isInOrder ? found : due.filter((mid) => found.includes(mid));
  if (order.join() !== due.join()) yield `stored is ${order.join()}`;
}

async function unused(): Promise<never> {
  throw new Error("no world has a dry run");
}
