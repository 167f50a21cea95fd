import { describe, expect, test } from "bun:test";
import { createId } from "../../lib/text/ids.ts";
import type { NewReaction, ReactionOutcome } from "../messages/ports.ts";
import type { RetentionOrder } from "../retention/ports.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";

const mebibyte = 1024 * 1024;
const day = 24 * 3_600_000;
const everything = { direction: "forward", limit: 100, maxBytes: mebibyte } as const;

/** Tests the port `Reactions`, and what becomes of reactions, for every engine. */
export function describeReactions(engine: string, open: OpenDatabase): void {
  describe(`reactions on ${engine}`, () => {
    const context = useStore(open);

    async function send(org: string, createdAt = 1_000): Promise<{ id: string; offset: number }> {
      const id = createId(createdAt);
      const payload = JSON.stringify({
        message: { _id: id, from: "u1", body: "x", cid: "c1", x: {}, attachments: [] },
      });
      const outcome = await context.store.sends.append(messageOf(org, { id, mid: id, payload, createdAt }));
      if (outcome.outcome !== "stored") throw new Error(`the message was ${outcome.outcome}`);
      return { id, offset: outcome.offset };
    }

    const reactionOf = (org: string, id: string, change: Partial<NewReaction>): NewReaction => ({
      org,
      sender: "u1",
      eventId: createId(),
      at: 5_000,
      keyId: "k",
      id,
      add: undefined,
      remove: undefined,
      ...change,
    });
    const react = (org: string, id: string, change: Partial<NewReaction>): Promise<ReactionOutcome> =>
      context.store.reactions.react(reactionOf(org, id, change));
    const totals = async (org: string) =>
      (await context.store.history.messages(org, "c1", everything)).map(({ reactions }) =>
        JSON.parse(reactions ?? "{}"),
      );
    const own = async (org: string, uid: string, ...offsets: number[]) =>
      await context.store.history.reactionsBy(
        org,
        uid,
        offsets.map((offset) => ({ cid: "c1", offset })),
      );

    /** Lets retention remove all that it has to. */
    async function expire(change: Partial<RetentionOrder>): Promise<void> {
      const never = { messagesBefore: undefined, readsBefore: undefined, idsBefore: undefined, auditBefore: undefined };
      const lease = { holder: "h", leaseMs: 60_000, now: Date.now() };
      const order = { ...lease, ...never, revocationsBefore: undefined, deletedBefore: 0, limit: 100, ...change };
      let changed: number | undefined = 1;
      while (changed !== 0) {
        changed = await context.store.retention.step(order);
        expect(changed).toBeDefined();
      }
    }

    test("are counted, named to their user, told after the commit, and neither stored nor told twice", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const [first, second] = [await send(org), await send(org)];
      context.announced.length = 0;
      expect(await react(org, first.id, { add: "b" })).toEqual({ outcome: "changed", cid: "c1" });
      expect(await react(org, first.id, { add: "b", remove: "a" })).toEqual({ outcome: "unchanged", cid: "c1" });
      expect(await react(org, first.id, { add: "a", sender: "u2" })).toEqual({ outcome: "changed", cid: "c1" });
      expect(await react(org, first.id, { add: "c", remove: "b" })).toEqual({ outcome: "changed", cid: "c1" });
      expect(await react(org, first.id, { add: "a" })).toEqual({ outcome: "changed", cid: "c1" });
      const update = { mid: first.id, cid: "c1", from: "u1" };
      expect(context.announced.map(({ kind, cid, payload }) => [kind, cid, JSON.parse(payload)])).toEqual([
        ["reaction", "c1", { message_reactions_update: { ...update, add: "b" } }],
        ["reaction", "c1", { message_reactions_update: { ...update, from: "u2", add: "a" } }],
        ["reaction", "c1", { message_reactions_update: { ...update, add: "c", remove: "b" } }],
        ["reaction", "c1", { message_reactions_update: { ...update, add: "a" } }],
      ]);
      expect(await totals(org)).toEqual([{ a: 2, c: 1 }, {}]);
      expect(await own(org, "u1", first.offset, second.offset)).toEqual(new Map([[first.offset, ["a", "c"]]]));
      expect(await own(org, "u2", first.offset)).toEqual(new Map([[first.offset, ["a"]]]));
      const missed = await context.store.missed.readMissed(org, "u2", first.offset, 99, 99, mebibyte);
      expect(missed.map(({ kind }) => kind)).toEqual(["message", "reaction", "reaction", "reaction", "reaction"]);
    });

    test("are checked by the rules of a change, of which a check stores nothing", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const { id } = await send(org);
      const { reactions } = context.store;
      const checked = await reactions.check(reactionOf(org, id, { add: "a" }));
      expect(checked).toEqual({ outcome: { outcome: "changed", cid: "c1" }, participants: 2 });
      expect(await totals(org)).toEqual([{}]);
      const foreign = { outcome: "refused" as const, missing: "participant" as const, conversation: "c1" };
      for (const run of [
        react,
        async (...of: Parameters<typeof react>) => (await reactions.check(reactionOf(...of))).outcome,
      ]) {
        expect(await run(org, id, { add: "a", sender: "u3" })).toEqual(foreign);
        expect(await run(org, createId(), { add: "a" })).toEqual({ outcome: "refused", missing: "message" });
        expect(await run("nowhere", id, { add: "a" })).toEqual({ outcome: "refused", missing: "organization" });
      }
      for (let count = 0; count < 100; count++) await react(org, id, { add: `${count}` });
      expect(await react(org, id, { add: "a" })).toEqual({ outcome: "refused", missing: "reactions" });
      expect(await react(org, id, { add: "a", remove: "7" })).toEqual({ outcome: "changed", cid: "c1" });
    });

    test("are gone with their message, which may be as old as it is", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const { store } = context;
      const old = Date.now() - 10 * day;
      const [recalled, expired, kept] = [await send(org), await send(org, old), await send(org, Date.now())];
      for (const { id } of [recalled, expired, kept])
        for (const sender of ["u1", "u2"]) await react(org, id, { add: "a", sender });
      const change = { org, sender: "u1", eventId: createId(), at: 9_000, keyId: "k", cid: "c1" };
      await store.changes.recall({ ...change, ids: [recalled.id] });
      expect(await own(org, "u1", recalled.offset, kept.offset)).toEqual(new Map([[kept.offset, ["a"]]]));
      await expire({ limit: 1, messagesBefore: Date.now() - day });
      expect(await totals(org)).toEqual([{ a: 2 }]);
      const offsets = [recalled, expired, kept].map(({ offset }) => offset);
      expect(await own(org, "u1", ...offsets)).toEqual(new Map([[kept.offset, ["a"]]]));
    });

    test("of a user are erased, with what told of them", async () => {
      const org = await context.createOrganization(["u1", "u2"]);
      const { store } = context;
      const { id, offset } = await send(org);
      for (const add of ["a", "b", "c"]) await react(org, id, { add, sender: "u2" });
      await react(org, id, { add: "a" });
      const erasure = { org, uid: "u2", at: 9_000, keyId: "k" };
      expect(await store.erasures.eraseReactions(erasure, 2)).toBe(2);
      expect(await store.erasures.eraseReactions(erasure, 2)).toBe(1);
      expect(await store.erasures.eraseReactions(erasure, 2)).toBe(0);
      expect(await totals(org)).toEqual([{ a: 1 }]);
      expect(await own(org, "u2", offset)).toEqual(new Map());
      const page = await store.erasures.written({ org, uid: "u2", after: 0, upTo: 99 });
      expect(page?.events.map(({ is }) => is)).toEqual(["reaction", "reaction", "reaction"]);
      await store.erasures.erase(erasure, page?.events ?? []);
      const log = await store.log.readAfter(org, 0, 99, mebibyte);
      expect(log.map(({ kind }) => kind)).toEqual(["membership", "message", "blank", "blank", "blank", "reaction"]);
      const [budget] = await store.organizations.budgets([org]);
      expect(budget?.storedBytes).toBe(log.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0));
    });

    test("are gone with their conversation and their organization", async () => {
      const { store } = context;
      const org = await context.createOrganization(["u1"]);
      const { id, offset } = await send(org);
      await react(org, id, { add: "a" });
      await store.conversations.remove(org, "c1", 1);
      await expire({ deletedBefore: 2 });
      expect(await own(org, "u1", offset)).toEqual(new Map());
    });
  });
}
