import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { event, placeOf, settled, setUp, upTo } from "./testing/sequencer-setup.ts";

describe("a sequencer", () => {
  test("plays the next event at once, in the same turn", () => {
    const { sequencer, played } = setUp();
    sequencer.offer(event(1));
    sequencer.offer(event(2));
    expect(played).toEqual([1, 2]);
    expect(sequencer.position).toBe(2);
  });

  test("drops what it has played already, without asking the store", async () => {
    const { sequencer, played, log } = setUp({ position: 5, committed: 6 });
    for (const offset of [5, 6, 6, 5]) sequencer.offer(event(offset));
    expect(played).toEqual([6]);
    await sequencer.verified();
    expect(log.reads).toBe(1); // only the one that was asked for
  });

  test("holds an event that came early, and plays it once the gap is filled, without asking the store", () => {
    const { sequencer, played, log } = setUp();
    sequencer.offer(event(3));
    sequencer.offer(event(2));
    expect(played).toEqual([]);
    sequencer.offer(event(1));
    expect(played).toEqual([1, 2, 3]);
    expect([log.reads, log.repairs]).toEqual([0, 0]);
  });

  test("reads a gap from the store if no hint fills it", async () => {
    const { sequencer, played, log } = setUp({ committed: 4 });
    sequencer.offer(event(1));
    sequencer.offer(event(4));
    await settled(sequencer, 4);
    expect(played).toEqual([1, 2, 3, 4]);
    expect(log.repairs).toBe(1);
  });

  test("reads up to the head that the store reports, in pages", async () => {
    const { sequencer, played, log } = setUp({ committed: 1000 });
    sequencer.noticeHead(placeOf(log.at(1000)));
    await settled(sequencer, 1000);
    expect(played).toEqual(upTo(1000));
  });

  test("reports that the store is away, and tries again", async () => {
    const { sequencer, played, log, errors } = setUp({ committed: 2 });
    log.isBroken = true;
    sequencer.noticeHead(placeOf(log.at(2)));
    while (errors.length === 0) await Bun.sleep(1);
    log.isBroken = false;
    await settled(sequencer, 2);
    expect(played).toEqual([1, 2]);
    expect(log.repairs).toBe(1);
  });

  test("skips what was purged from the log", async () => {
    const { sequencer, played, log } = setUp({ committed: 12, purgedUpTo: 10 });
    sequencer.noticeHead(placeOf(log.at(12)));
    await settled(sequencer, 12);
    expect(played).toEqual([11, 12]);
  });

  test("skips a log that was purged entirely", async () => {
    const { sequencer, played, log } = setUp({ committed: 12, purgedUpTo: 12 });
    sequencer.noticeHead(placeOf(log.at(12)));
    await settled(sequencer, 12);
    expect(sequencer.position).toBe(12);
    log.head = 13;
    sequencer.offer(event(13));
    expect(played).toEqual([13]);
  });

  test("splits a burst over several turns of the event loop", async () => {
    const { sequencer, played } = setUp();
    for (const offset of upTo(10)) sequencer.offer(event(offset, 100_000));
    expect(played.length).toBeLessThan(10);
    await settled(sequencer, 10);
    expect(played).toEqual(upTo(10));
  });

  test("can be verified while events come faster than the ring can keep them", async () => {
    const { sequencer, log } = setUp({ budgetBytes: 1 }); // forgets everything it has played
    log.onAsk = () => {
      // Before the store is read, hints bring events that its answer will hold, too.
      for (let count = 0; count < 5; count++) sequencer.offer(event(++log.head));
    };
    sequencer.offer(event(++log.head));
    await sequencer.verified();
    expect(log.reads).toBe(1);
  });

  test("ends its turn sooner if it plays to many connections", async () => {
    const { sequencer, played } = setUp({ connections: 10_000 });
    for (const offset of upTo(10)) sequencer.offer(event(offset, 1_000)); // 10 MB in total, 1 kB per connection
    expect(played).toEqual([1, 2]);
    await settled(sequencer, 10);
    expect(played).toEqual(upTo(10));
  });

  test("plays part of a burst and then waits while a connection is slow, even if events come one by one", async () => {
    const times: number[] = [];
    const { sequencer, played } = setUp({
      play: () => {
        times.push(performance.now());
        return true;
      },
    });
    for (const offset of upTo(6)) {
      sequencer.offer(event(offset, 60_000, "語")); // three bytes per character: one event fills more than half of a turn
      await new Promise((resolve) => setImmediate(resolve));
    }
    await settled(sequencer, 6);
    expect(played).toEqual(upTo(6));
    // On a busy machine a timer may fire late, but never early.
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? time));
    expect(Math.min(...pauses)).toBeGreaterThan(10);
  });

  test("keeps a few MiB of a burst at most, and reads the rest from the store", async () => {
    const { sequencer, played, log } = setUp({ committed: 200 });
    for (const offset of upTo(200)) sequencer.offer(event(offset, 200_000));
    await settled(sequencer, 200);
    expect(played).toEqual(upTo(200));
    expect(log.reads).toBe(1);
  });

  test("holds a bounded number of early events, and reads the others from the store", async () => {
    const { sequencer, played, log } = setUp({ committed: 3000 });
    for (const offset of upTo(3000, 2)) sequencer.offer(event(offset));
    sequencer.offer(event(1));
    expect(played).toEqual(upTo(1025));
    expect(log.reads).toBe(0);
    await settled(sequencer, 3000);
    expect(played).toEqual(upTo(3000));
  });

  test("holds a few MiB of early events at most", async () => {
    const { sequencer, played, log } = setUp({ committed: 100 });
    log.isBroken = true;
    const offered = upTo(100, 2).map((offset) => {
      const early = event(offset, 200_000);
      sequencer.offer(early);
      return new WeakRef(early);
    });
    await Bun.sleep(0); // a WeakRef read in this turn keeps its target alive until the end of the turn
    Bun.gc(true);
    expect(offered.filter((early) => early.deref() !== undefined).length).toBeLessThan(40);
    log.isBroken = false;
    await settled(sequencer, 100);
    expect(played).toEqual(upTo(100));
  });

  test("returns what was played after an offset, unless that is too long ago", () => {
    const { sequencer } = setUp({ position: 2 });
    for (const offset of upTo(4000, 3)) sequencer.offer(event(offset));
    expect(sequencer.playedAfter(3998)?.map(({ offset }) => offset)).toEqual([3999, 4000]);
    expect(sequencer.playedAfter(4000)).toEqual([]);
    expect(sequencer.playedAfter(2)).toBeUndefined();
  });

  test("rejects its waiters when it stops, and plays no more", async () => {
    const { sequencer, played } = setUp();
    const waiting = [sequencer.reached(1, "e1"), sequencer.verified()];
    sequencer.stop();
    sequencer.offer(event(1));
    const ends = await Promise.allSettled([...waiting, sequencer.reached(1, "e1"), sequencer.verified()]);
    expect(ends).toMatchObject(ends.map(() => ({ status: "rejected", reason: { code: "unavailable" } })));
    expect(sequencer.isOver).toBe(true);
    expect(played).toEqual([]);
  });

  test("plays an event once even if that throws, and continues", async () => {
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

  test("plays every event once and in order, whatever the bus loses, duplicates or reorders", async () => {
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

test("a recall that was played is remembered for a while, and as long as the sequencer lasts", () => {
  const { sequencer } = setUp();
  const recall: LogEvent = { ...event(1), kind: "recall", payload: '{"message_delete":{"ids":["m1","m2"]}}' };
  expect(sequencer.hasRecalled("m1")).toBe(false);
  sequencer.offer(recall);
  expect(["m1", "m2", "m3", undefined].map(sequencer.hasRecalled)).toEqual([true, true, false, false]);
  sequencer.forgetBefore(performance.now() - 60_000);
  expect(sequencer.hasRecalled("m1")).toBe(true);
  sequencer.forgetBefore(performance.now() + 1);
  expect(sequencer.hasRecalled("m1")).toBe(false);
  sequencer.offer({ ...recall, offset: 2, id: "e2", prev: "e1" });
  sequencer.stop();
  expect(sequencer.hasRecalled("m1")).toBe(false);
});
