import { defineScenario, type Heal, type Stage } from "../scenario.ts";
import { type ClockStage, type ClusterStage, onCluster, onEmbeddedWithClock } from "../stages.ts";
import { type Ledger, openLedger } from "../webhooks/ledger.ts";

const env = {
  HERALD_WEBHOOK_ALLOW_PRIVATE: "1",
  // Whoever missed too much reads all again, 150 pages in a long run.
  HERALD_LIMIT_REQUESTS_PER_CONNECTION: "0",
  HERALD_LIMIT_USER_REQUESTS: "0",
};
const waitSeconds = 1;
const webhooks = ["push", "other"]; // only the first one fails
const sendsOf = { short: 50, long: 300 };
const checkWithinMs = 120_000;
const mayBeLateMs = 8_000;
const minute = 60;
const hour = 60 * minute;
const [stepSeconds, untilBackSeconds, untilToldSeconds] = [4 * minute, hour, 3.2 * hour];
// A user's token is valid for that long before and after the machine's time.
const firstSeconds = -2 * hour;

type WithLedger = { ledger: Ledger };

async function withLedger<On extends Stage>(
  stage: On | undefined,
  now?: () => number,
): Promise<(On & WithLedger) | undefined> {
  if (stage === undefined) return undefined;
  const ledger = await openLedger({ nodes: stage.nodes, waitSeconds, webhooks, ...(now !== undefined && { now }) });
  return {
    ...stage,
    ledger,
    async [Symbol.asyncDispose]() {
      ledger[Symbol.dispose]();
      await stage[Symbol.asyncDispose]();
    },
  };
}

async function describeCheck({ ledger }: WithLedger): Promise<string> {
  const { sends, unreached } = await ledger.check(checkWithinMs);
  const { posts, again } = ledger.end("push").figures();
  return `${sends} sends, ${unreached / webhooks.length} unreached, all told of in ${posts} posts, ${again} of them again`;
}

const told = "Each user who was not reached is told of under one id, none is who had it, as the delivery reports say.";

/** A node dies between the commit of messages and the posts about them. */
export const webhookNodeKilled = defineScenario<ClusterStage & WithLedger>({
  name: "webhook-node-killed",
  row: "Webhooks: `kill -9` of a node between the commit of messages and the posts about them",
  expected: `${told} What the node had claimed follows after 40 s, from another one.`,
  rounds: { short: 0, long: 8 },
  holdMs: { short: [0, 400], long: [0, 3_000] },
  allows: ["none"],
  breaksConnections: true,
  calls: { callers: 3, pauseMs: 100 },
  stage: async () => await withLedger(await onCluster({ env: () => env })),
  async break({ ledger, nodes }, { random, size }): Promise<Heal> {
    const stopListening = await ledger.listen();
    const answerAll = random.integer(0, 1) === 0 ? undefined : ledger.end("push").stall(); // so that nodes die with posts in flight
    await ledger.send(sendsOf[size], random);
    await Bun.sleep(random.integer(0, 3_500)); // before they are due, while they are posted, or after
    const node = random.pick(nodes);
    await node.kill();
    return async () => {
      answerAll?.();
      await node.start();
      stopListening();
    };
  },
  inspect: describeCheck,
});

/** A receiver takes posts and does not answer. */
export const webhookReceiverSlow = defineScenario<ClusterStage & WithLedger>({
  name: "webhook-receiver-slow",
  row: "Webhooks: a receiver takes posts and does not answer, for longer than a node waits (15 s), or less",
  expected: `${told} Another webhook of the same organization is told within ${mayBeLateMs / 1_000} s, and all sends go on.`,
  rounds: { short: 1, long: 5 },
  holdMs: { short: [500, 1_500], long: [2_000, 25_000] },
  allows: [],
  stage: async () => await withLedger(await onCluster({ env: () => env })),
  async break({ ledger }, { random, size }): Promise<Heal> {
    const answerAll = ledger.end("push").stall();
    await ledger.send(sendsOf[size], random);
    return answerAll;
  },
  async inspect({ ledger }) {
    const figures = await describeCheck({ ledger });
    const late = ledger.end("other").worstLateMs();
    if (late > mayBeLateMs) throw new Error(`the other webhook was told ${late} ms late`);
    return `${figures}; the other webhook at most ${late} ms late`;
  },
});

/** A receiver is away for an hour of the clock. */
export const webhookReceiverAway = defineScenario<ClockStage & WithLedger>({
  name: "webhook-receiver-away",
  row: "Webhooks: nobody answers at a receiver's port for an hour of the clock (libfaketime, in steps of four minutes)",
  expected: `${told} Another webhook of the same organization is told after each step, and all sends go on.`,
  rounds: { short: 0, long: 1 },
  holdMs: { short: [0, 0], long: [0, 0] },
  allows: [],
  isWithoutChanges: true, // which schedule sends by the machine's clock
  calls: { callers: 2, pauseMs: 100 },
  async stage() {
    const stage = await onEmbeddedWithClock({ env, seconds: firstSeconds });
    return await withLedger(stage, stage?.clock.now);
  },
  async break({ ledger, clock }, { random }): Promise<Heal> {
    const comeBack = ledger.end("push").leave();
    for (let now = 0; now < untilBackSeconds; now += stepSeconds) {
      await ledger.send(random.integer(1, 5), random);
      await ledger.toldTo("other", mayBeLateMs);
      clock.set(firstSeconds + now + stepSeconds);
    }
    return comeBack;
  },
  async inspect({ ledger, clock }) {
    const end = ledger.end("push");
    const before = end.messages();
    for (let now = untilBackSeconds; now < untilToldSeconds; now += stepSeconds) {
      clock.set(firstSeconds + now + stepSeconds);
      await Bun.sleep(1_000); // a node looks at the time every 800 ms
    }
    const figures = await describeCheck({ ledger });
    if (before > 0) throw new Error(`the receiver was not away: it was told of ${before} messages`);
    return figures;
  },
});
