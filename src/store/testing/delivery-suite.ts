import { describe, expect, test } from "bun:test";
import type { NewAudience, NewDelivery } from "../../contract/log/deliveries.ts";
import { createId } from "../../lib/text/ids.ts";
import { spans } from "../delivery/bounds.ts";
import { migrateStore } from "../migrate.ts";
import type { NewSend } from "../ports.ts";
import type { Driver } from "../sql/driver.ts";
import { messageOf, type OpenDatabase, useStore } from "./log-suite.ts";
import { createTestStore } from "./test-store.ts";

const mebibyte = 1024 * 1024;

/** Creates functions that send to `c1`, or to listed users, and expect that it was stored. */
export function createSenders(context: ReturnType<typeof useStore>) {
  async function send(org: string, change: Partial<NewSend> = {}) {
    const message = messageOf(org, change);
    expect((await context.store.sends.append(message)).outcome).toBe("stored");
    return message;
  }

  const sendSystem = (org: string, uids: string[], change: Partial<NewSend> = {}) =>
    send(org, { kind: "system", cid: undefined, uids, ...change });
  return { send, sendSystem };
}

/** A delivery of one event of `c1` to `u1` over one connection. */
export function deliveryOf(org: string, offset: number, change: Partial<NewDelivery> = {}): NewDelivery {
  return {
    id: createId(),
    org,
    cid: "c1",
    kind: "delivery",
    connections: 1,
    audience: undefined,
    uids: ["u1"],
    plays: [[offset, 100, 200]],
    ...change,
  };
}

/** An audience of `c1`: `u1` and `u2`. */
export function audienceOf(org: string, change: Partial<NewAudience> = {}): NewAudience {
  return { id: createId(), org, cid: "c1", offset: 1, parent: undefined, added: ["u1", "u2"], removed: [], ...change };
}

/** Tests the port `Deliveries`, for every engine. */
export function describeDeliveries(engine: string, open: OpenDatabase): void {
  describe(`deliveries on ${engine}`, () => {
    const context = useStore(open);
    let now = 0;

    /** Creates an organization for this test only, with the conversation `c1` of `u1` and `u2`: one event. */
    const createOrganization = () => context.createOrganization(["u1", "u2"]);

    const { send, sendSystem } = createSenders(context);
    const record = (deliveries: NewDelivery[], audiences: NewAudience[] = []) =>
      context.store.deliveries.record({ audiences, deliveries });
    const of = (org: string, offset: number, cid: string | undefined = "c1") =>
      context.store.deliveries.of(org, cid, offset);
    const acknowledged = async (org: string, offset: number, cid?: string) =>
      (await context.store.deliveries.of(org, cid, offset))
        .filter(({ kind }) => kind === "receipt")
        .flatMap(({ uids }) => uids);
    const retain = async (order: { messagesBefore?: number; deletedBefore?: number }) => {
      now += 10;
      return await context.store.retention.step({
        holder: "n1",
        leaseMs: 1,
        now,
        limit: 1_000,
        messagesBefore: undefined,
        readsBefore: undefined,
        idsBefore: undefined,
        auditBefore: undefined,
        revocationsBefore: undefined,
        deletedBefore: 0,
        ...order,
      });
    };

    test("and receipts are found at both ends of the span of a row", async () => {
      const org = await createOrganization();
      for (const kind of ["delivery", "receipt"] as const) {
        const last = 5_000 + spans[kind] - 1;
        const plays: NewDelivery["plays"] = [
          [5_000, 1, 1],
          [last, 2, 9],
        ];
        await record([deliveryOf(org, 0, { kind, connections: kind === "receipt" ? 0 : 1, plays })]);
        expect((await of(org, last)).filter((one) => one.kind === kind)).toMatchObject([{ first: 2, last: 9 }]);
      }
      expect((await of(org, 5_000)).map(({ kind }) => kind).sort()).toEqual(["delivery", "receipt"]);
    });

    test("are found for each event that a row covers, in its own conversation and organization only", async () => {
      const [org, other] = [await createOrganization(), await createOrganization()];
      const plays: NewDelivery["plays"] = [
        [10, 1, 2],
        [12, 3, 4],
        [1033, 5, 6],
      ];
      await record([
        deliveryOf(org, 0, { plays, connections: 3, uids: ["u1", "u2"] }),
        deliveryOf(org, 12, { cid: "c2", uids: ["u3"] }),
        deliveryOf(org, 12, { cid: undefined, uids: ["u4"] }),
        deliveryOf(other, 12, { uids: ["u5"] }),
      ]);
      const whole = { kind: "delivery" as const, connections: 3, uids: ["u1", "u2"] };
      expect(await of(org, 10)).toEqual([{ ...whole, first: 1, last: 2 }]);
      expect(await of(org, 12)).toEqual([{ ...whole, first: 3, last: 4 }]);
      expect(await of(org, 1033)).toEqual([{ ...whole, first: 5, last: 6 }]);
      for (const offset of [9, 11, 1032, 1034]) expect(await of(org, offset)).toEqual([]);
      expect((await of(org, 12, "c2")).map(({ uids }) => uids)).toEqual([["u3"]]);
      expect((await context.store.deliveries.of(org, undefined, 12)).map(({ uids }) => uids)).toEqual([["u4"]]);
    });

    test("resolve an audience through its changes since the first ancestor", async () => {
      const org = await createOrganization();
      const first = audienceOf(org);
      const second = audienceOf(org, { parent: first.id, added: ["u3", "__proto__"], removed: ["u1"] });
      const third = audienceOf(org, { parent: second.id, added: ["u1"], removed: ["u2"] });
      const rows = [first, second, third].map(({ id }, index) =>
        deliveryOf(org, index, { audience: id, uids: undefined }),
      );
      await record(rows, [first, second, third]);
      const usersAt = async (offset: number) => (await of(org, offset)).flatMap(({ uids }) => uids).sort();
      expect(await usersAt(0)).toEqual(["u1", "u2"]);
      expect(await usersAt(1)).toEqual(["__proto__", "u2", "u3"]);
      expect(await usersAt(2)).toEqual(["__proto__", "u1", "u3"]);
    });

    test("whose audience is incomplete are ignored rather than guessed", async () => {
      const org = await createOrganization();
      const orphan = audienceOf(org, { parent: createId() });
      await record(
        [
          deliveryOf(org, 5, { audience: orphan.id, uids: undefined }),
          deliveryOf(org, 5, { audience: createId(), uids: undefined }),
          deliveryOf(org, 5),
        ],
        [orphan],
      );
      expect((await of(org, 5)).map(({ uids }) => uids)).toEqual([["u1"]]);
    });

    test("written twice are stored once, as a lost answer makes the node write again", async () => {
      const org = await createOrganization();
      const batch = { deliveries: [deliveryOf(org, 5)], audiences: [audienceOf(org)] };
      await context.store.deliveries.record(batch);
      await context.store.deliveries.record({ ...batch, deliveries: [...batch.deliveries, deliveryOf(org, 5)] });
      expect(await of(org, 5)).toHaveLength(2);
    });

    test("of a missing organization are dropped, and those beside them are stored", async () => {
      const org = await createOrganization();
      const gone = await createOrganization();
      await context.store.organizations.remove(gone, 1);
      await record(["nowhere", gone, org].map((id) => deliveryOf(id, 5)));
      const kept = await Promise.all(["nowhere", gone, org].map((id) => of(id, 5)));
      expect(kept.map(({ length }) => length)).toEqual([0, 0, 1]);
    });

    test("count receipts of those who were participants when the message was sent, once each, and no others", async () => {
      const { store } = context;
      const org = await createOrganization();
      const early = await send(org); // offset 2
      await store.participants.add(org, "c1", "late", 10, 1); // offset 3
      const late = await send(org); // offset 4
      await store.participants.remove(org, "c1", "u2", 1);
      const at = 1_000;
      const receipts = [early, late].flatMap(({ id }) =>
        ["u1", "u1", "u2", "late", "nobody"].map((uid) => ({ org, uid, id, at })),
      );
      await store.deliveries.acknowledge([...receipts, { org, uid: "u1", id: createId(), at }]);
      await store.deliveries.acknowledge(receipts);
      expect(new Set(await acknowledged(org, 2, "c1"))).toEqual(new Set(["u1"]));
      expect(new Set(await acknowledged(org, 4, "c1"))).toEqual(new Set(["u1", "late"]));
    });

    test("store one row per user and message, however often and on however many nodes it is acknowledged", async () => {
      const { store } = context;
      const [org, other] = [await createOrganization(), await createOrganization()];
      const [one, two] = [await send(org), await send(org)]; // offsets 2 and 3
      await sendSystem(org, ["u1"], { mid: one.id, id: createId() }); // offset 4: the same id names both
      const foreign = await send(other);
      const acknowledge = (at: number) =>
        store.deliveries.acknowledge(
          [one, two].flatMap(({ id }) => ["u1", "u2", "u1"].map((uid) => ({ org, uid, id, at }))),
        );
      await Promise.all(Array.from({ length: 20 }, (_, index) => acknowledge(1_000 + index)));
      await store.deliveries.acknowledge([{ org: other, uid: "u1", id: foreign.id, at: 7 }]);
      for (const offset of [2, 3]) {
        const rows = await of(org, offset);
        expect(rows.map(({ kind, uids }) => [kind, ...uids]).sort()).toEqual([
          ["receipt", "u1"],
          ["receipt", "u2"],
        ]);
      }
      expect(await acknowledged(org, 4)).toEqual(["u1"]);
      expect(await of(other, 2)).toMatchObject([{ uids: ["u1"], first: 7, last: 7 }]);
    });

    test("of earlier versions, which combine and repeat receipts, read the same and are split into such rows", async () => {
      const { store } = context;
      const org = await createOrganization();
      const sent = [await send(org), await send(org)]; // offsets 2 and 3
      await sendSystem(org, ["u1"], { mid: "s" }); // offset 4
      await store.deliveries.acknowledge([{ org, uid: "u1", id: sent[0]?.id ?? "", at: 50 }]);
      const gathered = { kind: "receipt" as const, connections: 0 };
      const plays: NewDelivery["plays"] = [
        [2, 100, 100],
        [3, 100, 100],
        [63, 100, 100], // removed since
      ];
      const rows = Array.from({ length: 120 }, () => deliveryOf(org, 0, { ...gathered, uids: ["u1", "u2"], plays }));
      await record([...rows, deliveryOf(org, 4, { ...gathered, cid: undefined, id: createId() })]);
      const users = async (offset: number, cid?: string) => [...new Set(await acknowledged(org, offset, cid))].sort();
      const all = async () => [await users(2, "c1"), await users(3, "c1"), await users(4)];
      const told = [["u1", "u2"], ["u1", "u2"], ["u1"]];
      expect(await all()).toEqual(told);
      expect((await of(org, 2)).length).toBe(121);
      while ((await retain({})) !== 0);
      expect(await all()).toEqual(told);
      expect([(await of(org, 2)).length, (await of(org, 3)).length, (await of(org, 63)).length]).toEqual([2, 2, 0]);
      await store.deliveries.acknowledge([{ org, uid: "u1", id: sent[1]?.id ?? "", at: 900 }]);
      await store.deliveries.acknowledge([{ org, uid: "u1", id: "s", at: 900 }]);
      expect((await of(org, 3)).map(({ first }) => first)).toEqual([100, 100]);
      expect(await acknowledged(org, 4)).toEqual(["u1"]);
    });

    test("count receipts of system messages by their senders' ids, from named recipients", async () => {
      const { store } = context;
      const [org, other] = [await createOrganization(), await createOrganization()];
      await sendSystem(org, ["u1", "u3"], { mid: "s" }); // offset 2
      await sendSystem(org, ["u2"], { mid: "s", sender: "u2" }); // offset 3
      await sendSystem(other, ["u1"], { mid: "s" });
      const by = (uid: string) => ({ org, uid, id: "s", at: 1 });
      await store.deliveries.acknowledge([by("u1"), by("u2"), by("u4")]);
      expect([await acknowledged(org, 2), await acknowledged(org, 3)]).toEqual([["u1"], ["u2"]]);
      expect(await acknowledged(other, 2)).toEqual([]);
    });

    test("count receipts of system messages to a conversation from participants, and to everyone from users, since before", async () => {
      const { store } = context;
      const org = await createOrganization();
      await store.users.put(org, "gone", undefined, 1);
      await sendSystem(org, [], { mid: "c", cid: "c1" }); // offset 2
      await sendSystem(org, [], { mid: "e" }); // offset 3
      await store.participants.add(org, "c1", "late", 10, 1); // offset 4
      await store.users.remove(org, "gone", 1); // offset 5
      const uids = ["u1", "u2", "late", "gone", "nobody"];
      const receipts = ["c", "e"].flatMap((id) => uids.map((uid) => ({ org, uid, id, at: 1 })));
      await store.deliveries.acknowledge(receipts);
      await store.deliveries.acknowledge(receipts);
      expect((await acknowledged(org, 2, "c1")).sort()).toEqual(["u1", "u2"]);
      expect((await acknowledged(org, 3)).sort()).toEqual(["u1", "u2"]);
      expect(await acknowledged(org, 2)).toEqual([]);
    });

    test("of an organization's audience are found with the system messages, and beside those of conversations", async () => {
      const org = await createOrganization();
      const audience = audienceOf(org, { cid: undefined, added: ["u1", "u2", "u3"] });
      const everyone = deliveryOf(org, 7, { cid: undefined, audience: audience.id, uids: undefined, connections: 4 });
      await record([everyone, deliveryOf(org, 7)], [audience]);
      expect(await context.store.deliveries.of(org, undefined, 7)).toMatchObject([
        { connections: 4, uids: ["u1", "u2", "u3"] },
      ]);
      expect((await of(org, 7)).map(({ uids }) => uids)).toEqual([["u1"]]);
    });

    test("are removed with their messages: when those expire, and when their conversation or organization is deleted", async () => {
      const { store } = context;
      const [org, other] = [await createOrganization(), await createOrganization()];
      const [old, recent] = [createId(1_000), createId(10_000)];
      await record([deliveryOf(org, 2, { id: old }), deliveryOf(org, 3, { id: recent })]);
      while ((await retain({ messagesBefore: 5_000 })) !== 0);
      expect([(await of(org, 2)).length, (await of(org, 3)).length]).toEqual([0, 1]);

      const audience = audienceOf(other, { offset: 1 });
      await record(
        [
          deliveryOf(other, 1, { audience: audience.id, uids: undefined }),
          deliveryOf(other, 3),
          deliveryOf(other, 1, { cid: "c2" }),
        ],
        [audience],
      );
      await store.conversations.remove(other, "c1", 20_000);
      while ((await retain({ deletedBefore: 20_001 })) !== 0);
      expect([await of(other, 1), (await of(other, 3)).length]).toEqual([[], 1]);
      expect(await of(other, 1, "c2")).toHaveLength(1);
      await store.organizations.remove(other, 30_000);
      while ((await retain({})) !== 0);
      await store.organizations.put(other, undefined, 40_000);
      expect([await of(other, 3), await of(other, 1, "c2")]).toEqual([[], []]);
    });

    test("expire together with their audiences, which stay as long as a delivery may refer to them", async () => {
      const org = await createOrganization();
      const dayMs = 24 * 3600 * 1000;
      const audience = audienceOf(org, { id: createId(10 * dayMs) });
      const named = { audience: audience.id, uids: undefined };
      await record([deliveryOf(org, 2, { id: createId(10 * dayMs + 1), ...named })], [audience]);
      while ((await retain({ messagesBefore: 10 * dayMs + 1 })) !== 0);
      expect(await of(org, 2)).toHaveLength(1);
      while ((await retain({ messagesBefore: 12 * dayMs })) !== 0);
      await record([deliveryOf(org, 3, named)]);
      expect([await of(org, 2), await of(org, 3)]).toEqual([[], []]);
    });
  });
}

/** Checks that existing participants are counted, and are not taken for recipients of messages they may have missed. */
export async function expectParticipantsAfterVersion7(driver: Driver): Promise<void> {
  await migrateStore(driver, { to: 7 });
  await driver.transaction(async (sql) => {
    await sql.limitTo(["o"]);
    await sql.run("INSERT INTO organization (id, head, created_at) VALUES ('o', 2, 1)");
    await sql.run(
      "INSERT INTO conversation (org, id, log_start, created_at, updated_at) VALUES ('o', 'c', 0, 1, 1), ('o', 'empty', 0, 1, 1)",
    );
    await sql.run(
      "INSERT INTO participant (org, cid, uid, created_at) VALUES ('o', 'c', 'u1', 1), ('o', 'c', 'u2', 1)",
    );
    const insert = `INSERT INTO event (org, "offset", kind, id, cid, payload, created_at) VALUES ('o', 2, 'message', 'e', 'c', '{}', 7)`;
    await sql.run(insert);
  });
  expect(await migrateStore(driver)).toMatchObject({ from: 7 });
  const store = createTestStore(driver);
  expect((await store.sent.message("o", "e"))?.recipients).toBe(2);
  expect(await store.missed.readMissed("o", "u1", 0, 9, 9, mebibyte)).toMatchObject([
    { id: "e", cid: "c", isRecipient: false },
  ]);
  await store.participants.add("o", "empty", "u1", 1, 1);
  expect(await store.participants.add("o", "empty", "u2", 1, 1)).toEqual({ outcome: "too_many" });
}
