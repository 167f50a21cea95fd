import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { NewWebhook, StoredWebhook, WebhookDelivery } from "../webhooks/ports.ts";
import { audienceOf, deliveryOf } from "./delivery-suite.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

/** Tests the ports of webhooks, for every engine. */
export function describeWebhooks(engine: string, open: OpenDatabase): void {
  describe(`webhooks on ${engine}`, () => {
    const context = useStore(open);

    const wishOf = (change: Partial<NewWebhook> = {}): NewWebhook => ({
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

    async function put(org: string, change: Partial<NewWebhook> = {}): Promise<StoredWebhook> {
      const outcome = await context.store.webhooks.put(org, wishOf(change));
      if (outcome.outcome !== "done") throw new Error(outcome.outcome);
      return outcome.webhook;
    }

    const deliveryTo = (hook: StoredWebhook, change: Partial<WebhookDelivery> = {}) => ({
      org: hook.org,
      webhook: hook.ref,
      id: createId(),
      state: "waiting" as const,
      part: 1,
      parts: 1,
      unreached: '[{"uid":"u1","reason":"offline"}]',
      waitedMs: 1_000,
      createdAt: 10,
      tries: 0,
      nextTryAt: 10,
      lastTry: null,
      expiresAt: 1_000_000,
      ...change,
      eventId: change.eventId ?? "event",
    });

    async function send(org: string, change: Parameters<typeof messageOf>[1] = {}) {
      const message = messageOf(org, change);
      const [outcome] = await Promise.all([context.store.sends.append(message)]);
      if (outcome.outcome !== "stored") throw new Error(outcome.outcome);
      return { ...message, offset: outcome.offset };
    }

    const dueOf = async (org: string) =>
      (await context.store.unreached.due(Number.MAX_SAFE_INTEGER, 10_000)).filter((due) => due.org === org);

    /** Stores deliveries as if their event had been due. */
    async function deliver(hook: StoredWebhook, ...deliveries: ReturnType<typeof deliveryTo>[]): Promise<void> {
      await send(hook.org);
      const due = await dueOf(hook.org);
      const ofEvent = deliveries.map((one) => ({ ...one, eventId: due[0]?.eventId ?? "" }));
      expect(await context.store.webhookDeliveries.settle(due, ofEvent)).toBe(due.length);
    }

    test("are kept as they were given, changed, switched off and on, and removed", async () => {
      const org = await context.createOrganization();
      const { webhooks } = context.store;
      const created = await put(org);
      expect(created).toEqual({
        org,
        id: "push",
        ref: created.ref,
        url: "https://example.org/",
        events: ["message.unreached"],
        waitMs: 1_000,
        until: "delivered",
        secrets: [{ secret: "whsec_1", endsAt: null }],
        createdAt: 5,
        disabledAt: null,
        failing: null,
      });
      expect(await webhooks.get(org, "push")).toEqual(created);
      const change = { url: "https://example.org/2", until: "acknowledged" as const, secret: "whsec_2", now: 6 };
      expect(await put(org, change)).toEqual({ ...created, url: change.url, until: change.until });
      expect(await webhooks.disable(org, created.ref, 7)).toBe(true);
      expect(await webhooks.disable(org, created.ref, 8)).toBe(false);
      expect((await webhooks.get(org, "push"))?.disabledAt).toBe(7);
      expect((await put(org)).disabledAt).toBeNull();
      await put(org, { id: "other" });
      expect(await webhooks.put(org, wishOf({ id: "third" }))).toEqual({ outcome: "too_many" });
      expect((await webhooks.list(org, { after: undefined, limit: 10 })).map(({ id }) => id)).toEqual([
        "other",
        "push",
      ]);
      expect(await webhooks.remove(org, "push")).toBe(true);
      expect(await webhooks.remove(org, "push")).toBe(false);
      expect(await webhooks.get(org, "push")).toBeUndefined();
      expect(await webhooks.put("nowhere", wishOf())).toEqual({ outcome: "missing" });
    });

    test("sign with the secrets before a rotation until their end", async () => {
      const org = await context.createOrganization();
      const { webhooks } = context.store;
      await put(org);
      await webhooks.rotate(org, "push", { secret: "whsec_2", othersEndAt: 100, now: 10 });
      const third = await webhooks.rotate(org, "push", { secret: "whsec_3", othersEndAt: 150, now: 50 });
      expect(third?.secrets).toEqual([
        { secret: "whsec_3", endsAt: null },
        { secret: "whsec_2", endsAt: 150 },
        { secret: "whsec_1", endsAt: 100 },
      ]);
      const last = await webhooks.rotate(org, "push", { secret: "whsec_4", othersEndAt: 200, now: 150 });
      expect(last?.secrets).toEqual([
        { secret: "whsec_4", endsAt: null },
        { secret: "whsec_3", endsAt: 200 },
      ]);
      expect(await webhooks.rotate(org, "none", { secret: "s", othersEndAt: 1, now: 1 })).toBeUndefined();
    });

    test("ask about exactly the events that are committed while they want them", async () => {
      const org = await context.createOrganization(["u1"]);
      await send(org);
      const hook = await put(org);
      const other = await put(org, { id: "system", events: ["system_message.unreached"], waitMs: 5_000 });
      const wanted = await send(org);
      const system = await send(org, { kind: "system", cid: undefined, uids: ["u1"] });
      await context.store.webhooks.disable(org, hook.ref, 6);
      await send(org);
      await put(org);
      const again = await send(org);
      await context.store.webhooks.remove(org, "push");
      await send(org);
      const place = ({ offset, id: eventId }: typeof wanted) => ({ org, offset, eventId });
      expect((await dueOf(org)).toSorted((a, b) => a.offset - b.offset)).toEqual([
        { ...place(wanted), webhook: hook.ref, dueAt: wanted.createdAt + 1_000, told: undefined },
        { ...place(system), webhook: other.ref, dueAt: system.createdAt + 5_000, told: undefined },
        { ...place(again), webhook: hook.ref, dueAt: again.createdAt + 1_000, told: undefined },
      ]);
    });

    test("have what is due of each organization, some at a time", async () => {
      const orgs: { org: string; dueAt: number[]; count: number }[] = [];
      for (const count of [3, 1, 0, 2]) {
        const org = await context.createOrganization(["u1"]);
        await put(org, { waitMs: count === 0 ? 1_000_000 : 1_000 });
        for (let index = 0; index < Math.max(1, count); index++) await send(org);
        orgs.push({ org, dueAt: (await dueOf(org)).map(({ dueAt }) => dueAt), count });
      }
      const now = Math.max(...orgs.flatMap(({ dueAt, count }) => (count === 0 ? [] : dueAt)));
      const sorted = orgs.filter(({ count }) => count > 0).toSorted((a, b) => (a.org < b.org ? -1 : 1));
      const before = sorted[0]?.org.slice(0, -1) ?? "";
      const ofOurs = async (after: string, most: number, each: number) => {
        const lists = await context.store.unreached.dueOfEach(now, { after, orgs: most, each });
        const ours = lists.filter(([one]) => orgs.some(({ org }) => org === one?.org));
        return ours.map((list) => [list[0]?.org, list.length]);
      };
      expect(await ofOurs(before, 1_000, 2)).toEqual(sorted.map(({ org, count }) => [org, Math.min(2, count)]));
      expect(await ofOurs(sorted[0]?.org ?? "", 1_000, 9)).toEqual(
        sorted.slice(1).map(({ org, count }) => [org, count]),
      );
      const [first] = await context.store.unreached.dueOfEach(now, { after: "", orgs: 1, each: 1 });
      expect(first).toHaveLength(1);
    });

    test("ask about each event of a batch once, also if many change webhooks at the same time", async () => {
      const org = await context.createOrganization(["u1"]);
      const hook = await put(org);
      const sent = Promise.all(Array.from({ length: 200 }, () => send(org)));
      for (let round = 0; round < 10; round++) await put(org, { url: `https://example.org/${round}` });
      const ids = (await sent).map(({ id }) => id).toSorted();
      const due = await dueOf(org);
      expect(due.map(({ eventId }) => eventId).toSorted()).toEqual(ids);
      expect(new Set(due.map(({ webhook }) => webhook))).toEqual(new Set([hook.ref]));
    });

    test("an event is settled once, however many nodes try, and with it what they found", async () => {
      const org = await context.createOrganization(["u1"]);
      const hook = await put(org);
      const sent = await Promise.all(Array.from({ length: 20 }, () => send(org)));
      const due = await dueOf(org);
      const { webhookDeliveries } = context.store;
      const settle = () => {
        const found = due.toSorted(() => Math.random() - 0.5);
        return webhookDeliveries.settle(
          found,
          found.map(({ eventId }) => deliveryTo(hook, { eventId })),
        );
      };
      expect((await Promise.all(Array.from({ length: 6 }, settle))).toSorted()).toEqual([0, 0, 0, 0, 0, 20]);
      const stored = await webhookDeliveries.list(org, hook.ref, { state: "waiting", before: undefined, limit: 100 });
      expect(stored.map(({ eventId }) => eventId).toSorted()).toEqual(sent.map(({ id }) => id).toSorted());
      expect(await dueOf(org)).toEqual([]);
    });

    test("an event that is told in several commits is on the list until the last, for one node at a time", async () => {
      const org = await context.createOrganization(["u1"]);
      const hook = await put(org);
      await send(org);
      const { webhookDeliveries } = context.store;
      const [due] = await dueOf(org);
      if (due === undefined) throw new Error("the event is due");
      const partOf = (part: number) => [deliveryTo(hook, { eventId: due.eventId, part, parts: 2 })];
      const claims = [50, 51, 52].map((dueAt) => webhookDeliveries.settleParts(due, { dueAt, told: undefined }, []));
      const held = (await Promise.all(claims)).filter((one) => one !== undefined);
      expect(held).toHaveLength(1);
      const [claimed] = held;
      if (claimed === undefined) throw new Error("the event is claimed");
      expect(await dueOf(org)).toEqual([claimed]);
      expect(await webhookDeliveries.settle([due], partOf(1))).toBe(0);
      const told = { last: "d", part: 1, parts: 2, bytes: 100 };
      const first = await webhookDeliveries.settleParts(claimed, { dueAt: 70, told }, partOf(1));
      expect(first).toEqual({ ...due, dueAt: 70, told });
      expect(await dueOf(org)).toEqual([{ ...due, dueAt: 70, told }]);
      expect(await webhookDeliveries.settleParts(claimed, undefined, partOf(2))).toBeUndefined();
      if (first !== undefined) await webhookDeliveries.settleParts(first, undefined, partOf(2));
      expect(await dueOf(org)).toEqual([]);
      const stored = await webhookDeliveries.list(org, hook.ref, { state: "waiting", before: undefined, limit: 9 });
      expect(stored.map(({ part }) => part).toSorted()).toEqual([1, 2]);
    });

    test("a delivery that is due belongs to one node at a time, until its claim ends", async () => {
      const org = await context.createOrganization(["u1"]);
      const hook = await put(org);
      const deliveries = Array.from({ length: 10 }, (_, index) => deliveryTo(hook, { nextTryAt: 10 + index }));
      await deliver(hook, ...deliveries);
      const { webhookDeliveries } = context.store;
      const queue = { org, webhook: hook.ref };
      const isQueued = async (now: number, busy: string[] = []) =>
        (await webhookDeliveries.queues(now, { busy, limit: 1_000 })).some(({ webhook }) => webhook === hook.ref);
      const claim = (now: number, limit = 100) => webhookDeliveries.claim(queue, { now, until: now + 40, limit });
      expect([await isQueued(9), await isQueued(10), await isQueued(10, [hook.ref])]).toEqual([false, true, false]);
      const claimed = (await Promise.all([claim(14, 3), claim(14), claim(14)])).flat().map(({ id }) => id);
      expect(claimed.toSorted()).toEqual(deliveries.slice(0, 5).map(({ id }) => id));
      expect([await isQueued(14), await isQueued(15)]).toEqual([false, true]);
      expect(await claim(19)).toHaveLength(5);
      expect([await isQueued(53), await isQueued(54)]).toEqual([false, true]);
      expect(await claim(54)).toHaveLength(5);
    });

    test("a delivery that has succeeded stays so, and one that failed, for good or in its last try, can be restarted", async () => {
      const org = await context.createOrganization(["u1"]);
      const hook = await put(org);
      const [one, two] = [deliveryTo(hook), deliveryTo(hook)];
      await deliver(hook, one, two);
      const { webhookDeliveries } = context.store;
      const lastTry = { at: 1, durationMs: 2, status: 200, error: null, answer: null }; // an answer goes with its event
      const tried = (of: typeof one, change: object) => ({ ...of, tries: 1, nextTryAt: null, lastTry, ...change });
      await webhookDeliveries.finish([tried(one, { state: "delivered" }), tried(two, { state: "failed" })]);
      await webhookDeliveries.finish([tried(one, { state: "waiting", nextTryAt: 50 })]); // of a node that was slower
      const get = (id: string) => webhookDeliveries.get(org, hook.ref, id);
      expect(await get(one.id)).toMatchObject({ state: "delivered", tries: 1, lastTry });
      const restart = (now: number) =>
        webhookDeliveries.restart({ org, webhook: hook.ref, id: two.id }, { now, expiresAt: now + 10 });
      expect([await restart(60), await restart(60)]).toEqual([true, false]);
      expect(await get(two.id)).toMatchObject({ state: "waiting", tries: 0, nextTryAt: 60, expiresAt: 70, lastTry });
      await webhookDeliveries.finish([tried(two, { state: "waiting", nextTryAt: 900, expiresAt: 70 })]);
      expect(await restart(80)).toBe(true);
      expect(await get(two.id)).toMatchObject({ state: "waiting", tries: 0, nextTryAt: 80, expiresAt: 90 });
      await webhookDeliveries.finish([tried(two, { state: "delivered" })]);
      expect(await get(two.id)).toMatchObject({ state: "delivered" });
      const list = async (page: object) =>
        (await webhookDeliveries.list(org, hook.ref, { state: undefined, before: undefined, limit: 10, ...page })).map(
          ({ id }) => id,
        );
      expect(await list({})).toEqual([two.id, one.id]);
      expect(await list({ before: two.id })).toEqual([one.id]);
      expect(await list({ state: "failed" })).toEqual([]);
    });

    test("the agenda tells the time, and when events and deliveries are due", async () => {
      const org = await context.createOrganization(["u1"]);
      const hook = await put(org);
      const { webhookDeliveries } = context.store;
      const sent = await send(org, { createdAt: -5_000_000 });
      const { now, eventAt } = await webhookDeliveries.agenda();
      expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
      expect(eventAt).toBe(sent.createdAt + 1_000);
      await deliver(hook, deliveryTo(hook, { nextTryAt: -4_000_000 }));
      expect((await webhookDeliveries.agenda()).tryAt).toBe(-4_000_000);
      await webhookDeliveries.postpone({ org, webhook: hook.ref }, -3_000_000);
      expect((await webhookDeliveries.agenda()).tryAt).toBe(-3_000_000);
      await webhookDeliveries.postpone({ org, webhook: hook.ref }, undefined);
      expect((await webhookDeliveries.agenda()).tryAt).not.toBe(-3_000_000);
    });

    test("who has an event is read for many at once, and as the delivery report reads it", async () => {
      const { store } = context;
      const orgs = [await context.createOrganization(["u1", "u2", "u3"]), await context.createOrganization(["u1"])];
      const events: Awaited<ReturnType<typeof send>>[] = [];
      for (const org of orgs) {
        for (let index = 0; index < 4; index++) events.push(await send(org));
        events.push(await send(org, { kind: "system", cid: undefined, uids: ["u1", "u2"] }));
      }
      for (const org of orgs) {
        const first = audienceOf(org, { added: ["u1", "u2"] });
        const second = audienceOf(org, { parent: first.id, added: ["u3"], removed: ["u2"] });
        const lost = audienceOf(org, { parent: createId(), added: ["u9"] });
        await store.deliveries.record({
          audiences: [first, second, lost],
          deliveries: [
            deliveryOf(org, 2, {
              audience: first.id,
              uids: undefined,
              plays: [
                [2, 1, 1],
                [3, 1, 1],
              ],
            }),
            deliveryOf(org, 4, { audience: second.id, uids: undefined, plays: [[4, 1, 1]] }),
            deliveryOf(org, 5, { audience: lost.id, uids: undefined, plays: [[5, 1, 1]] }),
            deliveryOf(org, 6, { cid: undefined, audience: undefined, uids: ["u2"], plays: [[6, 1, 1]] }),
          ],
        });
      }
      const receipts = events.slice(0, 3).map(({ org, id }) => ({ org, uid: "u3", id, at: 9 }));
      await store.deliveries.acknowledge(receipts);
      const read = await store.unreached.events(events);
      expect(read.map(({ id }) => id).toSorted()).toEqual(events.map(({ id }) => id).toSorted());
      const fates = await store.unreached.fates(read);
      let acknowledged = 0;
      let delivered = 0;
      for (const { org, id, cid, offset } of events) {
        const found = await store.deliveries.of(org, cid, offset);
        const uidsOf = (kind: string) => new Set(found.filter((one) => one.kind === kind).flatMap(({ uids }) => uids));
        expect(fates.get(id)?.delivered).toEqual(uidsOf("delivery"));
        expect(fates.get(id)?.acknowledged).toEqual(uidsOf("receipt"));
        acknowledged += uidsOf("receipt").size;
        delivered += uidsOf("delivery").size;
      }
      expect([acknowledged, delivered]).toEqual([3, 14]);
    });

    test("participants and users are read for many at once, and in pages", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1", "u2", "u3"]);
      const sent = await send(org);
      await store.participants.remove(org, "c1", "u2", 1);
      await store.users.put(org, "u4", null, 1);
      await store.participants.add(org, "c1", "u4", 10, 1);
      const found = await store.unreached.participants([
        { org, cid: "c1" },
        { org: "nowhere", cid: "c1" },
      ]);
      expect(found.map(({ uid, after }) => [uid, after < sent.offset]).toSorted()).toEqual([
        ["u1", true],
        ["u3", true],
        ["u4", false],
      ]);
      const users = await store.unreached.users([
        { org, uid: "u2" },
        { org, uid: "u9" },
      ]);
      expect(users.map(({ uid }) => uid)).toEqual(["u2"]);
      const [event] = await store.unreached.events([{ org, id: sent.id }]);
      if (event === undefined) throw new Error("the event is stored");
      const page = (change: object, after = "") =>
        store.unreached.recipientsOf({ ...event, ...change }, { after, limit: 2 });
      expect(await page({})).toEqual([
        { uid: "u1", isRecipient: true },
        { uid: "u3", isRecipient: true },
      ]);
      expect(await page({}, "u3")).toEqual([{ uid: "u4", isRecipient: false }]);
      expect(await page({ kind: "system", cid: undefined, address: "everyone" }, "u1")).toEqual([
        { uid: "u2", isRecipient: true },
        { uid: "u3", isRecipient: true },
      ]);
    });

    test("go with their organization, which begins without any if it is created again", async () => {
      const org = await context.createOrganization(["u1"]);
      const hook = await put(org);
      await deliver(hook, deliveryTo(hook));
      await send(org);
      const { organizations, conversations, webhooks } = context.store;
      await organizations.remove(org, 7);
      expect(await webhooks.get(org, "push")).toBeUndefined();
      expect(await webhooks.among([org], [hook.ref])).toEqual([]);
      await organizations.put(org, undefined, 8);
      await conversations.put(org, "c1", { participants: ["u1"] }, 8);
      await send(org);
      expect(await dueOf(org)).toEqual([]);
      expect(await webhooks.list(org, { after: undefined, limit: 1 })).toEqual([]);
    });

    test("deliveries are removed when they have expired", async () => {
      const org = await context.createOrganization(["u1"]);
      const hook = await put(org);
      const [old, young] = [deliveryTo(hook, { expiresAt: 999 }), deliveryTo(hook, { expiresAt: 1_001 })];
      await deliver(hook, old, young);
      const none = { messagesBefore: undefined, readsBefore: undefined, idsBefore: undefined };
      const order = { ...none, revocationsBefore: undefined, auditBefore: undefined, deletedBefore: 0, limit: 100 };
      for (let now = 1_000; (await context.store.retention.step({ holder: "n", leaseMs: 1, now, ...order })) !== 0; );
      const page = { state: undefined, before: undefined, limit: 10 };
      const left = await context.store.webhookDeliveries.list(org, hook.ref, page);
      expect(left.map(({ id }) => id)).toEqual([young.id]);
    });
  });
}
