import { afterEach, beforeEach, expect, test } from "bun:test";
import { openKeys } from "../../test/harness/servers/keyring.ts";
import { createId } from "../lib/text/ids.ts";
import { entryAt } from "../store/testing/audit-suite.ts";
import { messageOf } from "../store/testing/log-suite.ts";
import { createRecovery } from "./messages/recovery.ts";
import { createRetention, type Keep, readOverdue } from "./retention.ts";

const dayMs = 24 * 3600 * 1000;
const keepAll: Keep = {
  messages: Number.POSITIVE_INFINITY,
  ids: Number.POSITIVE_INFINITY,
  audit: Number.POSITIVE_INFINITY,
  tokens: Number.POSITIVE_INFINITY,
  recovery: 7,
};

let context: Awaited<ReturnType<typeof openKeys>>;

beforeEach(async () => {
  context = await openKeys();
  await context.store.conversations.put("o1", "c1", { participants: ["u1"] }, context.time.now);
});
afterEach(() => context[Symbol.asyncDispose]());

const clock = { now: () => context.time.now };

/**
 * Retention of one node with two rows per step; pauses take no time and are recorded, as are reported clock
 * differences.
 */
function createNode(
  keep: Partial<Keep>,
  holder = "n1",
  aheadMs = { now: 0 },
  neededFrom?: (now: number) => Promise<number>,
) {
  const pauses: number[] = [];
  const skews: number[] = [];
  const { store, time } = context;
  const retention = createRetention({
    retention: { ...store.retention, now: async () => time.now },
    keep: { ...keepAll, ...keep },
    neededFrom,
    holder,
    clock: { now: () => time.now + aheadMs.now },
    onSkew: (skewMs) => void skews.push(skewMs),
    elapsed: { now: () => time.elapsed },
    pause: async (ms) => void pauses.push(ms),
    rowsPerStep: 2,
  });
  return { ...retention, pauses, skews };
}

/** Sends one message per day, starting this many days ago. */
async function sendDaily(days: number): Promise<string[]> {
  const ids: string[] = [];
  for (let ago = days; ago > 0; ago--) {
    const createdAt = context.time.now - ago * dayMs;
    const message = messageOf("o1", { id: createId(createdAt), createdAt });
    await context.store.sends.append(message);
    ids.push(message.id);
  }
  return ids;
}

const messages = async () =>
  (await context.store.history.messages("o1", "c1", { direction: "forward", limit: 100, maxBytes: 2 ** 20 })).length;

test("sends that are still needed are kept, with their ids, and go once they are not", async () => {
  await sendDaily(12);
  const keep = { ...keepAll, messages: 8.5, ids: 2.5 };
  let neededDays = 10.5;
  const node = createNode(keep, "n1", undefined, async (now) => now - neededDays * dayMs);
  const idsAreOverdueFor = async () =>
    (await readOverdue({ ...context.store.retention, now: async () => context.time.now }, keep)).ids / dayMs;
  await node.run();
  expect([await messages(), await idsAreOverdueFor()]).toEqual([10, 7.5]);
  neededDays = 4.5;
  await node.run();
  expect([await messages(), await idsAreOverdueFor()]).toEqual([8, 1.5]);
  neededDays = 1;
  await node.run();
  expect([await messages(), await idsAreOverdueFor()]).toEqual([8, 0]);
});

test("data older than its retention is removed as time passes, and nothing if it is kept for ever", async () => {
  await sendDaily(12);
  await context.store.audit.append([entryAt(context.time.now - 9.5 * dayMs), entryAt(context.time.now - dayMs)]);
  expect(await createNode({}).run()).toBe(0);
  const node = createNode({ messages: 9.5, audit: 9 });
  expect(await node.run()).toBe(4);
  expect(await messages()).toBe(9);
  context.time.now += dayMs;
  expect(await node.run()).toBe(1);
  expect(await messages()).toBe(8);
});

test("sends get three times as long as a step took before the next one, and never less than a moment", async () => {
  await sendDaily(12);
  const node = createNode({ messages: 8.5 });
  await node.run();
  expect(node.pauses).toEqual([20, 20]);
  const slow = {
    now: async () => context.time.now,
    async step() {
      context.time.elapsed += 500;
      return context.time.elapsed < 1_500 ? 2 : 0;
    },
    count: async () => 0,
  };
  const pauses: number[] = [];
  const pause = async (ms: number) => void pauses.push(ms);
  const elapsed = { now: () => context.time.elapsed };
  const onSkew = () => undefined;
  await createRetention({ retention: slow, keep: keepAll, holder: "n1", clock, elapsed, pause, onSkew }).run();
  expect(pauses).toEqual([1_500, 1_500]);
});

test("a node whose clock is years off the database's removes nothing and reports it once, until they agree", async () => {
  await sendDaily(12);
  const aheadMs = { now: 0 };
  const node = createNode({ messages: 9.5 }, "n1", aheadMs);
  for (const skewMs of [60_001, 3 * 365 * dayMs, -60_001]) {
    aheadMs.now = skewMs;
    expect([await node.run(), await node.run()]).toEqual([0, 0]);
  }
  expect([await messages(), node.skews]).toEqual([12, [60_001]]);
  aheadMs.now = 60_000;
  expect(await node.run()).toBe(3);
  aheadMs.now = -60_001;
  expect([await node.run(), node.skews]).toEqual([0, [60_001, -60_001]]);
});

test("one of several nodes removes, and concurrent runs of one node are one", async () => {
  await sendDaily(12);
  const [one, other] = [createNode({ messages: 8.5 }), createNode({ messages: 8.5 }, "n2")];
  const counts = await Promise.all([one.run(), one.run(), other.run()]);
  expect(counts.toSorted()).toEqual([0, 0, 4]);
  context.time.now += dayMs;
  expect((await other.run()) + (await one.run())).toBe(1);
});

test("a stopped run ends with its current step, and the next node continues", async () => {
  await sendDaily(20);
  const node = createNode({ messages: 8.5 });
  const running = node.run();
  await node.stop();
  expect(await running).toBe(2);
  expect(await node.run()).toBe(0);
  context.time.now += 31_000;
  expect(await createNode({ messages: 8.5 }, "n2").run()).toBe(10);
});

test("the contents of a deleted conversation are kept a day longer than `since` may reach back", async () => {
  await sendDaily(3);
  await context.store.conversations.remove("o1", "c1", context.time.now);
  const node = createNode({});
  context.time.now += 8 * dayMs;
  expect(await node.run()).toBe(0);
  context.time.now += 1;
  expect(await node.run()).toBeGreaterThan(3);
});

test("messages within reach of `since` are all kept, and a removed one cannot be resumed from", async () => {
  const ids = await sendDaily(12);
  await createNode({ messages: 8 }).run();
  const recovery = createRecovery({ ...context.store, maxMessages: 1_000, maxDays: 7, clock });
  const absence = { org: "o1", uid: "u1", head: 13, hasInboxes: false };
  const missed = async (since: string) => {
    const after = await recovery.resumeAfter(absence, since);
    return after === undefined ? undefined : (await recovery.read(absence, after.offset, 1024 * 1024)).length;
  };
  expect(await Promise.all(ids.map(missed))).toEqual([...Array(5).fill(undefined), 6, 5, 4, 3, 2, 1, 0]);
});

test("what is due has waited since its retention ended, until it is removed", async () => {
  await sendDaily(12);
  const { organizations, conversations, retention } = context.store;
  await conversations.remove("o1", "c1", context.time.now);
  await organizations.put("o2", undefined, context.time.now);
  await organizations.remove("o2", context.time.now);
  const keep = { ...keepAll, messages: 9, ids: 2 };
  const waited = () => readOverdue({ ...retention, now: async () => context.time.now }, keep);
  expect(await waited()).toEqual({ deleted: 0, messages: 3 * dayMs, ids: 10 * dayMs, audit: 0 });
  context.time.now += dayMs;
  expect(await waited()).toEqual({ deleted: dayMs, messages: 4 * dayMs, ids: 11 * dayMs, audit: 0 });
  await createNode(keep).run();
  expect(await waited()).toEqual({ deleted: 0, messages: 0, ids: 0, audit: 0 });
  context.time.now += 8 * dayMs; // 7 of recovery and one more
  expect(await waited()).toMatchObject({ deleted: dayMs });
});
