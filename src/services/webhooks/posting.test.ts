import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { start, startWebhookNode } from "../../../test/harness/servers/webhook-node.ts";

const minute = 60_000;
const hour = 60 * minute;

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

  test("a receiver that is away for an hour is told everything when it is back, each delivery under its first id", async () => {
    for (let index = 0; index < 12; index++) {
      await node.send();
      await node.passTime(5 * minute);
    }
    const ids = new Set(node.posts.map(({ id }) => id));
    expect(ids.size).toBe(12);
    node.state.status = 204;
    node.posts.length = 0;
    await node.passTime(3 * hour);
    expect(node.posts.map(({ id }) => id).toSorted()).toEqual([...ids].toSorted());
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
