import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { NewWebhook, TriedDelivery } from "../webhooks/ports.ts";
import { type OpenDatabase, useStore } from "./log-suite.ts";

/** Tests which webhooks fail by their tries, for every engine. */
export function describeFailingWebhooks(engine: string, open: OpenDatabase): void {
  describe(`failing webhooks on ${engine}`, () => {
    const context = useStore(open);

    async function setUp() {
      const { store } = context;
      const org = await context.createOrganization();
      const put = async (change: Partial<NewWebhook> = {}) => {
        const outcome = await store.webhooks.put(org, {
          id: "push",
          ref: createId(),
          url: "https://example.org/",
          events: ["message.unreached"],
          waitMs: 1_000,
          until: "delivered",
          secret: "whsec_1",
          now: 5,
          most: 2,
          ...change,
        });
        if (outcome.outcome !== "done") throw new Error(outcome.outcome);
        return outcome.webhook;
      };
      const { ref: webhook } = await put();
      const tried = (at: number, error: string | null, state: TriedDelivery["state"] = "waiting"): TriedDelivery => ({
        org,
        webhook,
        id: createId(),
        eventId: null,
        state,
        tries: 1,
        nextTryAt: null,
        lastTry: { at, durationMs: 5, status: error === null ? 204 : 500, error, answer: null },
        expiresAt: 1_000_000,
      });
      return {
        org,
        webhook,
        put,
        tried,
        finish: (...results: TriedDelivery[]) => store.webhookDeliveries.finish(results),
        failing: async (id = "push") => (await store.webhooks.get(org, id))?.failing,
      };
    }

    test("a webhook fails from the first failure after a success, in whatever order nodes tell them", async () => {
      const { put, tried, finish, failing } = await setUp();
      await put({ id: "other" });
      await finish(tried(100, null));
      expect(await failing()).toBeNull();
      await finish(tried(300, "b"), tried(200, "a"), tried(150, null));
      expect(await failing()).toEqual({ since: 200, at: 300, endedAt: 305, status: 500, error: "b" });
      await finish(tried(250, null), tried(400, null, "cancelled"));
      expect(await failing()).toMatchObject({ since: 200, at: 300 });
      await finish(tried(500, "c", "failed"));
      expect(await failing()).toMatchObject({ since: 200, at: 500, error: "c" });
      await finish(tried(600, null, "delivered"));
      expect([await failing(), await failing("other")]).toEqual([null, null]);
    });

    test("a change keeps what is failing, but not if the webhook leads elsewhere or was off", async () => {
      const { org, webhook, put, tried, finish, failing } = await setUp();
      const { webhooks } = context.store;
      await finish(tried(700, "d"));
      expect((await put({ waitMs: 2_000 })).failing).toMatchObject({ since: 700 });
      await webhooks.rotate(org, "push", { secret: "whsec_2", othersEndAt: 100, now: 10 });
      await webhooks.disable(org, webhook, 710);
      expect(await failing()).toMatchObject({ since: 700, error: "d" });
      expect((await put()).failing).toBeNull();
      await finish(tried(800, "e"));
      expect((await put({ url: "https://example.org/moved" })).failing).toBeNull();
      expect(await failing()).toBeNull();
    });
  });
}
