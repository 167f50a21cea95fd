import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LogEvent } from "../contract/log-event.ts";
import { createSequencer, type Sequencer } from "./sequencer.ts";

function event(offset: number, characters = 10, character = "x"): LogEvent {
  const payload = character.repeat(characters);
  return { org: "o", offset, kind: "message", id: `e${offset}`, cid: "c", payload, uids: undefined };
}

/** A log that reads like the store, and a sequencer on it. */
function setUp(options: { position?: number; committed?: number; purgedUpTo?: number; play?: () => boolean } = {}) {
  const log = { head: options.committed ?? 0, reads: 0, repairs: 0, isBroken: false };
  const played: number[] = [];
  const errors: unknown[] = [];
  const sequencer = createSequencer({
    position: options.position ?? 0,
    read: async (offset, limit) => {
      log.reads++;
      if (log.isBroken) throw new Error("the store is away");
      const first = Math.max(offset, options.purgedUpTo ?? 0) + 1;
      return Array.from({ length: Math.max(0, Math.min(limit, log.head - first + 1)) }, (_, index) =>
        event(first + index),
      );
    },
    play: (played_) => {
      played.push(played_.offset);
      return options.play?.() ?? false;
    },
    onRepair: () => log.repairs++,
    onError: (error) => errors.push(error),
  });
  return { sequencer, played, errors, log };
}

function upTo(offset: number, from = 1): number[] {
  return Array.from({ length: offset - from + 1 }, (_, index) => from + index);
}

async function settled(sequencer: Sequencer, offset: number): Promise<void> {
  await sequencer.reached(offset);
}

describe("a sequencer", () => {
  test("plays what is next at once, in the same turn", () => {
    const { sequencer, played } = setUp();
    sequencer.offer(event(1));
    sequencer.offer(event(2));
    expect(played).toEqual([1, 2]);
    expect(sequencer.position).toBe(2);
  });

  test("drops what it played before", () => {
    const { sequencer, played } = setUp({ position: 5 });
    for (const offset of [3, 5, 6, 6, 1]) sequencer.offer(event(offset));
    expect(played).toEqual([6]);
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
    const { sequencer, played } = setUp({ committed: 1000 });
    sequencer.noticeHead(1000);
    await settled(sequencer, 1000);
    expect(played).toEqual(upTo(1000));
  });

  test("tries again when the store is away, and says so", async () => {
    const { sequencer, played, log, errors } = setUp({ committed: 2 });
    log.isBroken = true;
    sequencer.noticeHead(2);
    while (errors.length === 0) await Bun.sleep(1);
    log.isBroken = false;
    await settled(sequencer, 2);
    expect(played).toEqual([1, 2]);
    expect(log.repairs).toBe(1);
  });

  test("passes over what was purged from the log", async () => {
    const { sequencer, played } = setUp({ committed: 12, purgedUpTo: 10 });
    sequencer.noticeHead(12);
    await settled(sequencer, 12);
    expect(played).toEqual([11, 12]);
  });

  test("cuts a burst into turns of the event loop", async () => {
    const { sequencer, played } = setUp();
    for (const offset of upTo(10)) sequencer.offer(event(offset, 100_000));
    expect(played.length).toBeLessThan(10);
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
    expect(log.reads).toBeGreaterThan(0);
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
    const waiting = sequencer.reached(1);
    sequencer.stop();
    sequencer.offer(event(1));
    await expect(waiting).rejects.toThrow("stopped");
    await expect(sequencer.reached(1)).rejects.toThrow("stopped");
    expect(played).toEqual([]);
  });

  test("plays every event once and in order, whatever the bus loses, doubles and reorders", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 120 }), async (hints) => {
        const { sequencer, played } = setUp({ committed: 40 });
        for (const offset of hints) sequencer.offer(event(offset));
        sequencer.noticeHead(40);
        await settled(sequencer, 40);
        expect(played).toEqual(upTo(40));
      }),
      { numRuns: 60 },
    );
  });
});
