import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "../../../src/lib/text/ids.ts";
import { createDueEvents } from "../../../src/services/webhooks/due-events.ts";
import { createHugeEvents } from "../../../src/services/webhooks/huge-events.ts";
import { createPosting } from "../../../src/services/webhooks/posting.ts";
import { createUnreachedPages } from "../../../src/services/webhooks/unreached.ts";
import { migrateStore } from "../../../src/store/migrate.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite.ts";
import { messageOf } from "../../../src/store/testing/log-suite.ts";
import { createTestStore } from "../../../src/store/testing/test-store.ts";
import type { StoredWebhook, WebhookTry } from "../../../src/store/webhooks/ports.ts";

/** When the clock of `startWebhookNode` starts. */
export const start = Date.UTC(2026, 10, 20);

const goodUrl = "https://good.example.org/";

/** From how many recipients on these nodes tell an event beside others. */
export const mostOfLarge = 2_100;

/** A node on a real store, with a clock of its own, and a receiver that answers as the test says. */
export async function startWebhookNode() {
  const folder = mkdtempSync(join(tmpdir(), "herald-webhooks-"));
  const driver = openSqlite(join(folder, "herald.db"));
  await migrateStore(driver);
  const store = createTestStore(driver);
  const posts: { at: number; id: string; body: string }[] = [];
  const postsToGood: typeof posts = [];
  const state = { now: start, status: 500, disabled: [] as string[] };
  const elapsed = { now: () => state.now };
  const posting = createPosting({
    ...store,
    async attempt({ url }, { id, body, now }): Promise<WebhookTry> {
      const isGood = url === goodUrl;
      (isGood ? postsToGood : posts).push({ at: now, id, body });
      const status = isGood ? 204 : state.status;
      const error = status < 300 ? null : `the receiver answered ${status}`;
      return { at: now, durationMs: 0, status, error, answer: "" };
    },
    elapsed,
    random: () => 0,
    onRoom: () => undefined,
    onDisabled: ({ id }) => state.disabled.push(id),
    onError(error) {
      throw error;
    },
  });

  /** Another node on the same store. */
  function addNode(deliveries: Partial<typeof store.webhookDeliveries> = {}) {
    const onStore = { ...store, webhookDeliveries: { ...store.webhookDeliveries, ...deliveries } };
    const errors: unknown[] = [];
    const hugeEvents = createHugeEvents({
      ...onStore,
      openPages: createUnreachedPages(store),
      elapsed,
      onParts: () => undefined,
      onRoom: () => undefined,
      onError: (error) => void errors.push(error),
    });
    const settleSome = createDueEvents({ ...onStore, hugeEvents, mostOfLarge });
    return { hugeEvents, errors, settle: () => settleSome(state.now, state.now) };
  }

  const first = addNode();
  await store.organizations.put("o", undefined, start);
  await store.conversations.put("o", "c1", { participants: ["u1", "u2"] }, start);
  const put = (webhook: Pick<StoredWebhook, "id" | "ref" | "url">) =>
    store.webhooks.put("o", {
      ...webhook,
      events: ["message.unreached"],
      waitMs: 1_000,
      until: "delivered",
      secret: "s",
      now: start,
      most: 2,
    });
  const ref = createId();
  await put({ id: "push", ref, url: "https://example.org/" });

  async function pass(): Promise<void> {
    while ((await first.settle()) === "settled");
    while (await posting.takeSome(state.now)) await posting.settled();
  }

  return {
    store,
    posts,
    /** Creates a webhook whose receiver takes everything; returns what it has been posted. */
    async addGoodWebhook(): Promise<typeof posts> {
      await put({ id: "good", ref: createId(), url: goodUrl });
      return postsToGood;
    },
    state,
    posting,
    settle: first.settle,
    addNode,
    ref,
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
    deliveries: () => store.webhookDeliveries.list("o", ref, { state: undefined, before: undefined, limit: 1_000 }),
    async close() {
      await driver.close();
      rmSync(folder, { recursive: true });
    },
  };
}
