import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "../../lib/text/ids.ts";
import { migrateStore } from "../../store/migrate.ts";
import { openSqlite } from "../../store/sqlite/sqlite.ts";
import { createStore, createWrites } from "../../store/store.ts";
import { messageOf } from "../../store/testing/log-suite.ts";
import type { WebhookTry } from "../../store/webhooks/ports.ts";
import { createDueEvents } from "./due-events.ts";
import { createPosting } from "./posting.ts";

const start = Date.UTC(2026, 10, 20);
const minute = 60_000;
const hour = 60 * minute;

/** A node on a real store, with a clock of its own, and a receiver that answers as the test says. */
async function setUp() {
  const folder = mkdtempSync(join(tmpdir(), "herald-webhooks-"));
  const driver = openSqlite(join(folder, "herald.db"));
  await migrateStore(driver);
  const announce = () => undefined;
  const writes = createWrites({ driver, announce });
  const store = createStore({ reader: driver, writes, announce });
  const posts: { at: number; id: string; body: string }[] = [];
  const state = { now: start, status: 500, disabled: [] as string[] };
  const elapsed = { now: () => state.now };
  const posting = createPosting({
    ...store,
    async attempt(_, { id, body, now }): Promise<WebhookTry> {
      posts.push({ at: now, id, body });
      const error = state.status < 300 ? null : `the receiver answered ${state.status}`;
      return { at: now, durationMs: 0, status: state.status, error, answer: "" };
    },
    elapsed,
    random: () => 0,
    onRoom: () => undefined,
    onDisabled: ({ id }) => state.disabled.push(id),
    onError(error) {
      throw error;
    },
  });
  const dueEvents = createDueEvents(store);
  const wish = { id: "push", ref: createId(), url: "https://example.org/", events: ["message.unreached" as const] };
  await store.organizations.put("o", undefined, start);
  await store.conversations.put("o", "c1", { participants: ["u1", "u2"] }, start);
  await store.webhooks.put("o", { ...wish, waitMs: 1_000, until: "delivered", secret: "s", now: start, most: 1 });

  async function pass(): Promise<void> {
    while ((await dueEvents.settleSome(state.now, state.now)) === "settled");
    while (await posting.takeSome(state.now)) await posting.settled();
  }

  return {
    store,
    posts,
    state,
    posting,
    ref: wish.ref,
    send: () => store.sends.append(messageOf("o", { createdAt: state.now })),
    /** Lets the time pass, and does what is due meanwhile when it is due. */
    async passTime(ms: number): Promise<void> {
      const end = state.now + ms;
      for (;;) {
        await pass();
        const { eventAt = end, tryAt = end } = await store.webhookDeliveries.agenda();
        if (Math.min(eventAt, tryAt) >= end) break;
        state.now = Math.max(state.now, Math.min(eventAt, tryAt));
      }
      state.now = end;
      await pass();
    },
    deliveries: () =>
      store.webhookDeliveries.list("o", wish.ref, { state: undefined, before: undefined, limit: 1_000 }),
    async close() {
      await driver.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describe("posting", () => {
  let node: Awaited<ReturnType<typeof setUp>>;

  beforeEach(async () => {
    node = await setUp();
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
    await createDueEvents(node.store).settleSome(node.state.now, node.state.now);
    const dead = { now: node.state.now, until: node.state.now + 40_000, limit: 10 };
    const [claimed] = await node.store.webhookDeliveries.claim(queue, dead);
    node.state.status = 204;
    await node.passTime(39_000);
    expect(node.posts).toEqual([]);
    await node.passTime(2_000);
    expect(node.posts.map(({ id, at }) => [id, at])).toEqual([[claimed?.id ?? "", start + 41_000]]);
  });
});
