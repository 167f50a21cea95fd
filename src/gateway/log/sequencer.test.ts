import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { event, placeOf, settled, setUp, upTo } from "./testing/sequencer-setup.ts";

describe("a sequencer", () => {
  test("plays what is next at once, in the same turn", () => {
    const { sequencer, played } = setUp();
    sequencer.offer(event(1));
    sequencer.offer(event(2));
    expect(played).toEqual([1, 2]);
    expect(sequencer.position).toBe(2);
  });

  test("drops what it played before, without asking the store", async () => {
    const { sequencer, played, log } = setUp({ position: 5, committed: 6 });
    for (const offset of [5, 6, 6, 5]) sequencer.offer(event(offset));
    expect(played).toEqual([6]);
    await sequencer.verified();
    expect(log.reads).toBe(1); // the one that was asked for
  });

  test("holds what came too early, and plays it when the hole is filled, without asking the store", () => {
    const { sequencer, played, log } = setUp();
    sequencer.offer(event(3));
    sequencer.offer(event(2));
    expect(played).toEqual([]);
    sequencer.offer(event(1));
    expect(played).toEqual([1, 2, 3]);
    expect([log.reads, log.repairs]).toEqual([0, 0]);
  });

  test("reads a hole from the store when nobody fills it", async () => {
    const { sequencer, played, log } = setUp({ committed: 4 });
    sequencer.offer(event(1));
    sequencer.offer(event(4));
    await settled(sequencer, 4);
    expect(played).toEqual([1, 2, 3, 4]);
    expect(log.repairs).toBe(1);
  });

  test("reads what lies before the head that the store tells, in pages", async () => {
    const { sequencer, played, log } = setUp({ committed: 1000 });
    sequencer.noticeHead(placeOf(log.at(1000)));
    await settled(sequencer, 1000);
    expect(played).toEqual(upTo(1000));
  });

  test("tries again when the store is away, and says so", async () => {
    const { sequencer, played, log, errors } = setUp({ committed: 2 });
    log.isBroken = true;
    sequencer.noticeHead(placeOf(log.at(2)));
    while (errors.length === 0) await Bun.sleep(1);
    log.isBroken = false;
    await settled(sequencer, 2);
    expect(played).toEqual([1, 2]);
    expect(log.repairs).toBe(1);
  });

  test("passes over what was purged from the log", async () => {
    const { sequencer, played, log } = setUp({ committed: 12, purgedUpTo: 10 });
    sequencer.noticeHead(placeOf(log.at(12)));
    await settled(sequencer, 12);
    expect(played).toEqual([11, 12]);
  });

  test("passes over all of a log that was purged", async () => {
    const { sequencer, played, log } = setUp({ committed: 12, purgedUpTo: 12 });
    sequencer.noticeHead(placeOf(log.at(12)));
    await settled(sequencer, 12);
    expect(sequencer.position).toBe(12);
    log.head = 13;
    sequencer.offer(event(13));
    expect(played).toEqual([13]);
  });

  test("cuts a burst into turns of the event loop", async () => {
    const { sequencer, played } = setUp();
    for (const offset of upTo(10)) sequencer.offer(event(offset, 100_000));
    expect(played.length).toBeLessThan(10);
    await settled(sequencer, 10);
    expect(played).toEqual(upTo(10));
  });

  test("is verified while events come faster than the ring can keep them", async () => {
    const { sequencer, log } = setUp({ budgetBytes: 1 }); // nothing that was played is remembered
    log.onAsk = () => {
      // Before the store looks, hints bring what its answer will hold, too.
      for (let count = 0; count < 5; count++) sequencer.offer(event(++log.head));
    };
    sequencer.offer(event(++log.head));
    await sequencer.verified();
    expect(log.reads).toBe(1);
  });

  test("lets the loop turn sooner when what it plays goes to many", async () => {
    const { sequencer, played } = setUp({ connections: 10_000 });
    for (const offset of upTo(10)) sequencer.offer(event(offset, 1_000)); // 10 MB to all, 1 kB to each
    expect(played).toEqual([1, 2]);
    await settled(sequencer, 10);
    expect(played).toEqual(upTo(10));
  });

  test("plays a part of a burst and then waits while somebody is slow, also when its events come one by one", async () => {
    const times: number[] = [];
    const { sequencer, played } = setUp({
      play: () => {
        times.push(performance.now());
        return true;
      },
    });
    for (const offset of upTo(6)) {
      sequencer.offer(event(offset, 60_000, "語")); // three bytes each: one of them fills more than half of a turn
      await new Promise((resolve) => setImmediate(resolve));
    }
    await settled(sequencer, 6);
    expect(played).toEqual(upTo(6));
    // A timer fires late on a busy machine, but not early.
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? time));
    expect(Math.min(...pauses)).toBeGreaterThan(10);
  });

  test("keeps no more than a few MiB of a burst: what it lets go it reads from the store", async () => {
    const { sequencer, played, log } = setUp({ committed: 200 });
    for (const offset of upTo(200)) sequencer.offer(event(offset, 200_000));
    await settled(sequencer, 200);
    expect(played).toEqual(upTo(200));
    expect(log.reads).toBe(1);
  });

  test("holds a bounded number of events that came too early: the others it reads from the store", async () => {
    const { sequencer, played, log } = setUp({ committed: 3000 });
    for (const offset of upTo(3000, 2)) sequencer.offer(event(offset));
    sequencer.offer(event(1));
    expect(played).toEqual(upTo(1025));
    expect(log.reads).toBe(0);
    await settled(sequencer, 3000);
    expect(played).toEqual(upTo(3000));
  });

  test("holds a few MiB of events that came too early, and no more", async () => {
    const { sequencer, played, log } = setUp({ committed: 100 });
    log.isBroken = true;
    const offered = upTo(100, 2).map((offset) => {
      const early = event(offset, 200_000);
      sequencer.offer(early);
      return new WeakRef(early);
    });
    await Bun.sleep(0); // what a WeakRef showed in this turn stays until its end
    Bun.gc(true);
    expect(offered.filter((early) => early.deref() !== undefined).length).toBeLessThan(40);
    log.isBroken = false;
    await settled(sequencer, 100);
    expect(played).toEqual(upTo(100));
  });

  test("gives what was played after an offset, until that is too long ago", () => {
    const { sequencer } = setUp({ position: 2 });
    for (const offset of upTo(4000, 3)) sequencer.offer(event(offset));
    expect(sequencer.playedAfter(3998)?.map(({ offset }) => offset)).toEqual([3999, 4000]);
    expect(sequencer.playedAfter(4000)).toEqual([]);
    expect(sequencer.playedAfter(2)).toBeUndefined();
  });

  test("rejects who waits when it stops, and plays no more", async () => {
    const { sequencer, played } = setUp();
    const waiting = [sequencer.reached(1, "e1"), sequencer.verified()];
    sequencer.stop();
    sequencer.offer(event(1));
    const ends = await Promise.allSettled([...waiting, sequencer.reached(1, "e1"), sequencer.verified()]);
    expect(ends).toMatchObject(ends.map(() => ({ status: "rejected", reason: { code: "unavailable" } })));
    expect(sequencer.isOver).toBe(true);
    expect(played).toEqual([]);
  });

  test("plays an event once, also when playing it throws, and goes on", async () => {
    const { sequencer, played, errors } = setUp({
      committed: 4,
      play: ({ offset }) => {
        if (offset === 2) throw new Error("the ledger is full");
        return false;
      },
    });
    for (const offset of [1, 2, 2, 3]) sequencer.offer(event(offset));
    sequencer.noticeHead(placeOf(event(4)));
    await settled(sequencer, 4);
    expect(played).toEqual([1, 2, 3, 4]);
    expect(sequencer.playedAfter(1)?.map(({ offset }) => offset)).toEqual([2, 3, 4]);
    expect(errors.map(String)).toEqual(["Error: the ledger is full"]);
  });

  test("plays every event once and in order, whatever the bus loses, doubles and reorders", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 120 }), async (hints) => {
        const { sequencer, played, log } = setUp({ committed: 40 });
        for (const offset of hints) sequencer.offer(event(offset));
        sequencer.noticeHead(placeOf(log.at(40)));
        await settled(sequencer, 40);
        expect(played).toEqual(upTo(40));
      }),
      { numRuns: 60 },
    );
  });
});
