import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openKeys } from "../../../test/harness/servers/keyring.ts";
import { unavailable } from "../../contract/errors/errors.ts";
import { createId } from "../../lib/text/ids.ts";
import { createAudience } from "./audience.ts";
import { createDeliveryLedger, type DeliveryLedger, type DeliveryStore, type PlayedEvent } from "./delivery-ledger.ts";

const maxPlays = 200;

describe("the delivery ledger", () => {
  let context: Awaited<ReturnType<typeof openKeys>>;
  let ledger: DeliveryLedger;
  let link: { isCut: boolean; batches: Parameters<DeliveryStore["record"]>[0][] };
  let lost: number;

  beforeEach(async () => {
    context = await openKeys();
    link = { isCut: false, batches: [] };
    lost = 0;
    const { deliveries } = context.store;
    ledger = createDeliveryLedger({
      deliveries: {
        ...deliveries,
        async record(batch) {
          if (link.isCut) throw unavailable();
          await deliveries.record(batch);
          link.batches.push(batch);
        },
      },
      clock: { now: () => context.time.now },
      onLost(plays) {
        lost += plays;
      },
      maxWeight: maxPlays * 8,
    });
  });
  afterEach(() => context[Symbol.asyncDispose]());

  const event = (offset: number): PlayedEvent => ({ org: "o1", cid: "c1", offset, id: createId(context.time.now) });
  const usersAt = async (offset: number) =>
    (await context.store.deliveries.of("o1", "c1", offset)).flatMap(({ uids }) => uids).toSorted();
  const rows = () => link.batches.flatMap(({ deliveries }) => deliveries);
  const playsStored = () => rows().flatMap(({ plays }) => plays).length;

  function audienceOf(count: number) {
    const audience = createAudience("o1", "c1");
    for (let index = 0; index < count; index++) audience.add(`u${index}`);
    return audience;
  }

  test("stores consecutive events of one audience in one row, and its users once", async () => {
    const audience = audienceOf(100);
    for (let offset = 1; offset <= 60; offset++) ledger.played(event(offset), audience);
    await ledger.flush();
    ledger.played(event(61), audience);
    await ledger.flush();
    expect(rows()).toHaveLength(2);
    expect(link.batches.map(({ audiences }) => audiences.length)).toEqual([1, 0]);
    for (const offset of [1, 60, 61]) expect(await usersAt(offset)).toHaveLength(100);
    expect(await usersAt(62)).toEqual([]);
  });

  test("stores who was away before the delivery, in rows of their own, and only while somebody is", async () => {
    const audience = audienceOf(40);
    ledger.played(event(1), audience);
    for (let index = 0; index < 20; index++) audience.setInactive(`u${index}`, true);
    ledger.played(event(2), audience);
    ledger.played(event(3), audience);
    audience.setInactive("u0", false);
    ledger.played(event(4), audience);
    ledger.playedTo({ ...event(5), cid: undefined }, ["u0", "u1"], 2, ["u1"]);
    await ledger.flush();
    expect(rows().map(({ kind, plays }) => [kind, plays.map(([offset]) => offset)])).toEqual([
      ["delivery", [1, 2, 3, 4]],
      ["away", [2, 3]],
      ["away", [4]],
      ["away", [5]],
      ["delivery", [5]],
    ]);
    for (const offset of [1, 2, 3, 4]) expect(await usersAt(offset)).toHaveLength(40);
  });

  test("distinguishes audiences that differ in a user or a connection", async () => {
    const audience = audienceOf(2);
    ledger.played(event(1), audience);
    audience.add("u0");
    ledger.played(event(2), audience);
    audience.remove("u1");
    ledger.played(event(3), audience);
    await ledger.flush();
    expect([await usersAt(1), await usersAt(2), await usersAt(3)]).toEqual([["u0", "u1"], ["u0", "u1"], ["u0"]]);
    const [second] = await context.store.deliveries.of("o1", "c1", 2);
    expect(second?.connections).toBe(3);
  });

  test("combines events given to many users one by one", async () => {
    const missed = Array.from({ length: 100 }, (_, index) => event(index + 1));
    for (const uid of ["bob", "carol", "bob"]) ledger.given(uid, missed.slice(uid === "carol" ? 50 : 0));
    await ledger.flush();
    expect(rows().length).toBeLessThanOrEqual(4);
    expect([await usersAt(1), await usersAt(50), await usersAt(51)]).toEqual([["bob"], ["bob"], ["bob", "carol"]]);
    const [both] = await context.store.deliveries.of("o1", "c1", 51);
    expect(both?.connections).toBe(3);
  });

  test("combines events given to thousands of returning users, without a row for each of them", async () => {
    const { deliveries } = context.store;
    const large = createDeliveryLedger({
      deliveries,
      clock: { now: () => context.time.now },
      onLost: () => expect.unreachable(),
    });
    const missed = Array.from({ length: 500 }, (_, index) => event(index + 1));
    const uids = Array.from({ length: 2_000 }, (_, index) => `u${index}`);
    // Half of the users get them in one piece, the others in two, as pages arrive.
    for (const uid of uids) large.given(uid, missed.slice(0, 250));
    for (const uid of uids.toReversed()) large.given(uid, missed.slice(250));
    await large.flush();
    for (const offset of [1, 250, 251, 500]) expect(await usersAt(offset)).toEqual(uids.toSorted());
    expect(await usersAt(501)).toEqual([]);
  });

  test("lists users again once the store may have lost them", async () => {
    const audience = audienceOf(100);
    for (const offset of [1, 2]) {
      ledger.played(event(offset), audience);
      await ledger.flush();
      ledger.renew();
    }
    const [first, second] = link.batches.map(({ audiences }) => audiences);
    expect([first?.length, second?.length, second?.[0]?.parent]).toEqual([1, 1, undefined]);
    expect(second?.[0]?.added).toHaveLength(100);
    expect(await usersAt(2)).toHaveLength(100);
  });

  test("keeps what it could not store, and stores it completely with the next flush", async () => {
    const audience = audienceOf(50);
    link.isCut = true;
    ledger.played(event(1), audience);
    expect(await ledger.flush().catch(({ code }) => code)).toBe("unavailable");
    audience.add("late");
    ledger.played(event(2), audience);
    ledger.given("back", [event(1)]);
    expect(await ledger.flush().catch(({ code }) => code)).toBe("unavailable");
    link.isCut = false;
    await ledger.flush();
    expect([(await usersAt(1)).length, (await usersAt(2)).length, lost]).toEqual([51, 51, 0]);
  });

  test("keeps no more than fits: the oldest are lost and counted, and nothing refers to them", async () => {
    const audience = audienceOf(50);
    link.isCut = true;
    for (let offset = 1; offset <= 1_000; offset++) {
      if (offset % 100 === 0) audience.add(`late ${offset}`);
      ledger.played(event(offset), audience);
      if (offset % 10 === 0) await ledger.flush().catch(() => undefined);
    }
    link.isCut = false;
    await ledger.flush();
    const found = await Promise.all(
      Array.from({ length: 1_000 }, async (_, index) => (await usersAt(index + 1)).length),
    );
    const stored = found.filter((count) => count > 0);
    expect(lost).toBeWithin(1_000 - maxPlays, 1_000);
    expect(playsStored()).toBe(1_000 - lost);
    // The other rows have different numbers of connections, and refer to an audience that was lost.
    expect(stored).toEqual([59, 59, 59, 59, 59, 59, 59, 60]);
    ledger.played(event(1_001), audience);
    await ledger.flush();
    expect(await usersAt(1_001)).toHaveLength(60);
  });

  test("also limits what is given one by one", async () => {
    link.isCut = true;
    for (let round = 0; round < 100; round++)
      ledger.given(
        `u${round}`,
        Array.from({ length: 50 }, (_, index) => event(round * 50 + index)),
      );
    link.isCut = false;
    await ledger.flush();
    expect([playsStored(), lost]).toEqual([50, 4_950]);
  });

  test("keeps the audience of a large conversation even if that alone exceeds the limit", async () => {
    ledger.played(event(1), audienceOf(10_000));
    await ledger.flush();
    expect(await usersAt(1)).toHaveLength(10_000);
    expect(lost).toBe(0);
  });

  test("drops what the store will never accept, and continues", async () => {
    const audience = audienceOf(50);
    ledger.played({ ...event(1), org: "o1\u0000" }, audienceOf(1));
    const broken = { ...event(2), offset: Number.NaN };
    ledger.playedTo(broken, ["u1"], 1);
    await ledger.flush().catch(() => undefined);
    ledger.played(event(3), audience);
    await ledger.flush();
    expect(await usersAt(3)).toHaveLength(50);
  });
});
