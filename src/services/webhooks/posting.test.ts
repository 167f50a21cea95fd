import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createRandom } from "../../../test/harness/random.ts";
import { start, startWebhookNode } from "../../../test/harness/servers/webhook-node.ts";

const minute = 60_000;
const hour = 60 * minute;
/** When the first tries of a delivery are made, after the send. */
const triesAt = [1_000, 6_000, 6_000 + 5 * minute, 6_000 + 35 * minute, 6_000 + 155 * minute] as const;

describe("posting", () => {
  let node: Awaited<ReturnType<typeof startWebhookNode>>;

  beforeEach(async () => {
    node = await startWebhookNode();
  });
  afterEach(async () => {
    await node.close();
  });

  test("tries ten times over three days, with the same id and body, and then keeps the delivery as failed", async () => {
    await node.send();
    await node.passTime(10 * 24 * hour);
    const [first] = node.posts;
    const pauses = node.posts.slice(1).map(({ at }, index) => (at - (node.posts[index]?.at ?? 0)) / 1_000);
    expect(first?.at).toBe(start + 1_000);
    expect(pauses).toEqual([5, 300, 1_800, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * 3_600)]);
    expect(new Set(node.posts.map(({ id }) => id)).size).toBe(1);
    expect(new Set(node.posts.map(({ body }) => body)).size).toBe(1);
    const [delivery] = await node.deliveries();
    expect(delivery).toMatchObject({ state: "failed", tries: 10, nextTryAt: null });
    expect(node.posting.figures).toEqual({ delivered: 0, failed: 10, givenUp: 1, disabled: 0 });
  });

  test("a receiver that is away for an hour is told everything at the times of the schedule, and delays no other", async () => {
    const random = createRandom();
    const good = await node.addGoodWebhook();
    const backAt = start + hour;
    const sentAt = Array.from({ length: 20 }, () => start + random.integer(0, hour - 1)).toSorted((a, b) => a - b);
    for (const at of sentAt) {
      await node.passTime(at - node.state.now);
      await node.send();
    }
    await node.passTime(backAt - node.state.now);
    const away = node.posts.splice(0);
    node.state.status = 204;
    await node.passTime(3 * hour);

    const timesOf = (at: number) => triesAt.map((after) => at + after);
    const told = sentAt.map((at) => timesOf(at).find((time) => time >= backAt) ?? 0);
    const again = { TEST_SEED: random.seed };
    expect({ ...again, told: node.posts.map(({ at }) => at) }).toEqual({
      ...again,
      told: told.toSorted((a, b) => a - b),
    });
    const missed = sentAt.flatMap(timesOf).filter((time) => time < backAt);
    expect({ ...again, missed: away.map(({ at }) => at) }).toEqual({
      ...again,
      missed: missed.toSorted((a, b) => a - b),
    });
    expect(new Set(node.posts.map(({ id }) => id))).toEqual(new Set(away.map(({ id }) => id)));
    expect(good.map(({ at }) => at)).toEqual(sentAt.map((at) => at + triesAt[0]));
    expect(new Set((await node.deliveries()).map(({ state }) => state))).toEqual(new Set(["delivered"]));
  });

  test("410 switches the webhook off at once; what waits is posted when it is on again", async () => {
    await node.send();
    await node.passTime(2_000);
    await node.send();
    node.state.status = 410;
    await node.passTime(hour);
    expect(node.state.disabled).toEqual(["push"]);
    expect(node.posts.length).toBe(2);
    await node.passTime(24 * hour);
    expect(node.posts.length).toBe(2);
    node.state.status = 204;
    const hook = await node.store.webhooks.get("o", "push");
    if (hook === undefined) throw new Error("the webhook is there");
    await node.store.webhooks.put("o", { ...hook, secret: "", now: node.state.now, most: 1 });
    await node.passTime(hour);
    const states = (await node.deliveries()).map(({ state, tries }) => [state, tries]);
    expect(states.toSorted()).toEqual([
      ["delivered", 2],
      ["failed", 1],
    ]);
  });

  test("a claim of a node that has died ends after 40 seconds, and another node posts under the same id", async () => {
    await node.send();
    node.state.now += 1_000;
    const queue = { org: "o", webhook: node.ref };
    await node.settle();
    const dead = { now: node.state.now, until: node.state.now + 40_000, limit: 10 };
    const [claimed] = await node.store.webhookDeliveries.claim(queue, dead);
    node.state.status = 204;
    await node.passTime(39_000);
    expect(node.posts).toEqual([]);
    await node.passTime(2_000);
    expect(node.posts.map(({ id, at }) => [id, at])).toEqual([[claimed?.id ?? "", start + 41_000]]);
  });
});
