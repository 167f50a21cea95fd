import type { Ask } from "../harness/clients/wire.ts";
import { eventually, within } from "../harness/deadline.ts";
import { createRandom, type Random } from "../harness/random.ts";
import type { ClusterNode } from "../harness/servers/cluster.ts";

const answerWithinMs = 10_000;
const longestBackoffMs = 250;
const settleWithinMs = 60_000;

/** How sends are made. Times in milliseconds, sizes in characters. */
export type CallerPlan = {
  callers: number;
  /** The longest pause of a caller between two sends. */
  pauseMs: number;
  bodySizes: [smallest: number, largest: number];
  /** To how many nodes each attempt goes at the same moment. */
  nodesAtOnce: number;
  /** Callers start at the first `homes` nodes, in turn. */
  homes: number;
};

/** A send that was answered with 201. Times in milliseconds since the Unix epoch. */
export type Acknowledged = { mid: string; serverMid: string; at: number };

/** An attempt that was not answered with 201; `none` means no response. Times in milliseconds since the Unix epoch. */
export type Refusal = { answer: string; url: string; from: number; to: number };

/** Callers that each send one message at a time until stopped, and the record of their answers. */
export type Callers = {
  readonly acknowledged: readonly Acknowledged[];
  /** How often each answer came; `none` counts missing ones. */
  readonly answers: ReadonlyMap<string, number>;
  readonly refusals: readonly Refusal[];
  /** Ids that were answered with two different messages. */
  readonly doubled: readonly string[];
  /** Sends one message, to this node only, until it is answered with 201. Resolves with its `_id`. */
  sendTo(node: ClusterNode, message?: { body: string; x?: object }): Promise<string>;
  /** Resolves once `count` more sends are acknowledged. */
  progress(count: number): Promise<void>;
  /** Stops. Resolves once every send that was begun is acknowledged. */
  stop(): Promise<void>;
  /** Abandons what is not acknowledged. */
  [Symbol.dispose](): void;
};

type Options = {
  nodes: readonly ClusterNode[];
  org: string;
  cids: readonly string[];
  sender: string;
  plan: CallerPlan;
  seed: number;
};

/** Starts callers. What is not answered with 201 is sent again with the same id, to the next node. */
export function startCallers({ nodes, org, cids, sender, plan, seed }: Options): Callers {
  const acknowledged: Acknowledged[] = [];
  const answers = new Map<string, number>();
  const refusals: Refusal[] = [];
  const doubled: string[] = [];
  let sends = 0;
  let isRunning = true;
  let isAbandoned = false;

  async function post(node: ClusterNode, request: string): Promise<string | undefined> {
    const from = Date.now();
    let status: string;
    let serverMid: string | undefined;
    try {
      const response = await fetch(`${node.url}/admin/message`, {
        method: "POST",
        headers: { "Admin-Api-Key": node.key, "Content-Type": "application/json" },
        body: request,
        signal: AbortSignal.timeout(answerWithinMs),
      });
      const text = await response.text();
      status = String(response.status);
      if (response.status === 201) serverMid = (JSON.parse(text) as Ask).ask.server_mid;
    } catch {
      status = "none"; // the outcome is unknown
    }
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if (status !== "201") refusals.push({ answer: status, url: node.url, from, to: Date.now() });
    return serverMid;
  }

  /** Repeats one send until it is acknowledged. `targets` returns the nodes of each attempt. */
  async function send(
    message: { body: string; x?: object },
    targets: (attempt: number) => ClusterNode[],
    random: Random,
  ): Promise<string> {
    sends += 1;
    const mid = `send ${sends}`;
    const cid = random.pick(cids);
    const request = JSON.stringify({ organizationId: org, senderId: sender, message: { id: mid, cid, ...message } });
    for (let attempt = 0; !isAbandoned; attempt += 1) {
      const answered = await Promise.all(targets(attempt).map((node) => post(node, request)));
      const ids = new Set(answered.filter((id) => id !== undefined));
      if (ids.size > 1) doubled.push(mid);
      const [serverMid] = ids;
      if (serverMid !== undefined) {
        acknowledged.push({ mid, serverMid, at: Date.now() });
        return serverMid;
      }
      await Bun.sleep(random.next() * Math.min(longestBackoffMs, 10 * 2 ** Math.min(attempt, 10)));
    }
    throw new Error(`${mid} was given up`);
  }

  function targetsFrom(home: number) {
    return (attempt: number) =>
      Array.from({ length: plan.nodesAtOnce }, (_, index) => nodes[(home + attempt + index) % nodes.length]).filter(
        (node) => node !== undefined,
      );
  }

  async function call(index: number): Promise<void> {
    const random = createRandom(seed + index);
    while (isRunning) {
      const body = "x".repeat(random.integer(...plan.bodySizes));
      await send({ body }, targetsFrom(index % plan.homes), random);
      await Bun.sleep(random.next() * plan.pauseMs);
    }
  }

  const calling = Promise.all(Array.from({ length: plan.callers }, (_, index) => call(index)));
  const ownRandom = createRandom(seed - 1);
  calling.catch(() => undefined); // reported by `stop`

  return {
    acknowledged,
    answers,
    refusals,
    doubled,
    sendTo: (node, message = { body: "x" }) => send(message, () => [node], ownRandom),
    async progress(count) {
      const wanted = acknowledged.length + count;
      const isThere = () => acknowledged.length >= wanted || undefined;
      await eventually(isThere, `${count} more acknowledged sends`, settleWithinMs);
    },
    async stop() {
      isRunning = false;
      await within(calling, "every send to be acknowledged", settleWithinMs);
    },
    [Symbol.dispose]() {
      isRunning = false;
      isAbandoned = true;
    },
  };
}
