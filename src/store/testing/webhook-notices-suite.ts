import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { NewWebhook, StoredWebhook } from "../webhooks/ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

/** Tests what webhooks are told besides who was not reached, for every engine. */
export function describeWebhookNotices(engine: string, open: OpenDatabase): void {
  describe(`webhook notices on ${engine}`, () => {
    const context = useStore(open);

    async function put(org: string, change: Pick<NewWebhook, "events"> & { id?: string }): Promise<StoredWebhook> {
      const outcome = await context.store.webhooks.put(org, {
        id: "push",
        ref: createId(),
        url: "https://example.org/",
        waitMs: 1_000,
        until: "delivered",
        secret: "whsec_1",
        now: 5,
        most: 2,
        ...change,
      });
      if (outcome.outcome !== "done") throw new Error(outcome.outcome);
      return outcome.webhook;
    }

    async function send(org: string) {
      const message = messageOf(org, {});
      const outcome = await context.store.sends.append(message);
      if (outcome.outcome !== "stored") throw new Error(outcome.outcome);
      return { ...message, offset: outcome.offset };
    }

    test("are told who comes and goes by the node that holds them, and nobody else", async () => {
      const org = await context.createOrganization();
      const { webhooks, webhookPresence } = context.store;
      const hook = await put(org, { events: ["users.presence"] });
      const place = { org, webhook: hook.ref };
      const at = async (change: number) => {
        const { now } = await webhookPresence.followed("nobody", 1);
        return { now: now + change, until: now + change + 1_000 };
      };
      const followed = async (holder: string) => {
        const { places } = await webhookPresence.followed(holder, 1_000);
        return places.filter((one) => one.org === org).map(({ seq, holder: by }) => ({ seq, by }));
      };
      expect(await followed("one")).toEqual([{ seq: 0, by: "" }]);
      expect(await webhookPresence.hold(place, { holder: "one", ...(await at(0)) })).toBe(0);
      expect(await followed("two")).toEqual([]);
      expect(await webhookPresence.hold(place, { holder: "two", ...(await at(0)) })).toBeUndefined();
      const parts = [
        { online: ["b", "a"], offline: [] },
        { online: ["c"], offline: ["a"] },
      ];
      const tell = async (holder: string, seq: number) => {
        const part = parts[seq] ?? { online: [], offline: [] };
        return await webhookPresence.tell(place, { holder, seq, part, ...(await at(0)) });
      };
      expect(await tell("two", 0)).toBe(false);
      expect(await tell("one", 1)).toBe(false);
      expect(await tell("one", 0)).toBe(true);
      expect(await tell("one", 1)).toBe(true);
      expect(await followed("one")).toEqual([{ seq: 2, by: "one" }]);
      expect([...(await webhookPresence.told(place))]).toEqual(["b", "c"]);
      const page = { state: "waiting" as const, before: undefined, limit: 10 };
      const notices = (await context.store.webhookDeliveries.list(org, hook.ref, page)).map(
        ({ notice }) => notice?.data,
      );
      expect(notices.toReversed()).toEqual([
        { ...parts[0], seq: 1 },
        { ...parts[1], seq: 2 },
      ]);
      const claim = { ...(await at(10)), limit: 10 };
      expect(await context.store.webhookDeliveries.claim(place, claim)).toHaveLength(2);
      await webhookPresence.release("one");
      expect(await webhookPresence.hold(place, { holder: "two", ...(await at(1)) })).toBe(2);
      // What was told stays until the webhook is removed.
      await put(org, { events: ["message.read"] });
      await put(org, { events: ["users.presence"] });
      expect(await followed("two")).toEqual([{ seq: 2, by: "two" }]);
      await webhooks.remove(org, "push");
      expect(await webhookPresence.forget(place, 1)).toBe(true);
      expect(await webhookPresence.forget(place, 1)).toBe(true);
      expect(await webhookPresence.forget(place, 1)).toBe(false);
      expect(await followed("two")).toEqual([]);
    });

    test("have what a read, a failed send and a failed delivery tell, in the same commit", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const hook = await put(org, { events: ["message.read", "message.undeliverable"] });
      const other = await put(org, { id: "other", events: ["message.undeliverable"] });
      const message = await send(org);
      const read = { org, cid: "c1", uid: "u2", now: 7, keyId: undefined };
      const unread = [{ offset: message.offset, id: message.id, sender: "u1" }];
      await context.store.readMarks.markAll([{ ...read, unread }]);
      await context.store.readMarks.markAll([{ ...read, unread }]);
      const page = { state: "waiting" as const, before: undefined, limit: 10 };
      const [told, ...rest] = await context.store.webhookDeliveries.list(org, hook.ref, page);
      expect(rest).toEqual([]);
      expect(told).toMatchObject({ eventId: null, createdAt: 7, nextTryAt: 7, tries: 0 });
      expect(told?.notice).toEqual({
        type: "message.read",
        data: { message_read: { ids: [message.id], cid: "c1", from: "u2", t: 0 } },
      });
      const failed = { org, webhook: hook.ref, id: told?.id ?? "", eventId: null, state: "failed" as const, tries: 10 };
      const lastTry = { at: 9, durationMs: 1, status: 500, error: "no", answer: null };
      const tried = { ...failed, nextTryAt: null, lastTry, expiresAt: 1_000_000, undeliverable: { why: "no" } };
      await context.store.webhookDeliveries.finish([tried]);
      await context.store.webhookDeliveries.finish([tried]); // by a node that was slower
      const undeliverable = await context.store.webhookDeliveries.list(org, other.ref, page);
      expect(undeliverable.map(({ notice, createdAt }) => ({ notice, createdAt }))).toEqual([
        { notice: { type: "message.undeliverable", data: { why: "no" } }, createdAt: 9 },
      ]);
      expect(await context.store.webhookDeliveries.list(org, hook.ref, page)).toEqual([]);
    });
  });
}
