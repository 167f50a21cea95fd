import { describe, expect, test } from "bun:test";
import { inSimulatedTime } from "../../../test/simulation/models/time.ts";
import { createBudget } from "./budget.ts";
import { createSequencer } from "./sequencer.ts";
import { after, event, placeOf, settled, setUp, upTo } from "./testing/sequencer-setup.ts";

describe("a sequencer whose log was set back", () => {
  /** Played up to 30; then only 20 events are left of the log, and others were written up to `head`. */
  function setBack(head: number) {
    const world = setUp({ position: 0, committed: 30 });
    for (const offset of upTo(30)) world.sequencer.offer(event(offset));
    expect(world.played).toEqual(upTo(30));
    world.log.setBack(20, head);
    return world;
  }

  /** Expects one report, with the place and what stands there now, and nothing played after it. */
  async function expectBreak({ sequencer, played, breaks, log }: ReturnType<typeof setBack>): Promise<void> {
    const { head } = log;
    await expect(sequencer.verified()).rejects.toMatchObject({ code: "unavailable" });
    const found = head < 30 ? undefined : after(20, 30).id;
    expect(breaks).toEqual([{ played: { offset: 30, id: "e30" }, found, head: placeOf(log.at(head)) }]);
    expect(sequencer.isOver).toBe(true);
    sequencer.offer(after(20, 31));
    sequencer.noticeHead(placeOf(after(20, 40)));
    await Bun.sleep(20);
    expect(played).toEqual(upTo(30));
    expect(breaks).toHaveLength(1);
  }

  for (const head of [20, 25, 30, 31, 35])
    test(`notices at the next head check, with the head at ${head}`, async () => {
      const world = setBack(head);
      world.sequencer.noticeHead(placeOf(world.log.at(head)));
      while (world.breaks.length === 0) await Bun.sleep(1);
      await expectBreak(world);
    });

  for (const head of [21, 25, 30, 31, 35])
    test(`notices by the first hint of the new log, with the head at ${head}, and neither plays nor drops it`, async () => {
      const world = setBack(head);
      world.sequencer.offer(after(20, head));
      while (world.breaks.length === 0) await Bun.sleep(1);
      await expectBreak(world);
    });

  test("notices by a hint without an offset", async () => {
    const world = setBack(25);
    world.sequencer.offer({ org: "o", offset: 22 });
    while (world.breaks.length === 0) await Bun.sleep(1);
    await expectBreak(world);
  });

  test("notices when a connection joins at a place in the new log", async () => {
    const world = setBack(25);
    await expect(world.sequencer.reached(22, after(20, 22).id)).rejects.toMatchObject({ code: "unavailable" });
    await expectBreak(world);
  });

  test("notices during a read: events from hints of the old log that arrive meanwhile do not match the page", async () => {
    const world = setUp({ position: 20, committed: 20 });
    world.log.setBack(20, 23);
    world.log.onRead = () => world.sequencer.offer(event(21));
    world.sequencer.noticeHead(placeOf(after(20, 23)));
    while (world.breaks.length === 0) await Bun.sleep(1);
    expect(world.played).toEqual([21]);
    expect(world.breaks).toMatchObject([{ played: { id: "e21" }, found: after(20, 21).id }]);
  });

  test("notices during a read: events from earlier hints of the old log, and their successors, do not match the page", async () => {
    const { sequencer, played, breaks, log } = setUp({ position: 20, committed: 30 });
    for (const offset of [23, 24, 25]) sequencer.offer(event(offset)); // 21 and 22 were lost
    log.setBack(22, 30);
    sequencer.noticeHead(placeOf(after(22, 30)));
    while (breaks.length === 0) await Bun.sleep(1);
    expect(played).toEqual([21, 22, 23, 24, 25]);
    expect(breaks).toMatchObject([{ played: { offset: 25, id: "e25" }, found: after(22, 25).id }]);
  });

  test("plays none of the held events of the old log", async () => {
    const { sequencer, played, breaks, log } = setUp({ position: 20, committed: 20 });
    sequencer.offer(event(23)); // of the old log, whose 21 and 22 never come
    log.setBack(20, 24);
    for (const offset of [21, 22, 24]) sequencer.offer(after(20, offset));
    await sequencer.reached(24, after(20, 24).id);
    expect(played).toEqual([21, 22, 23, 24]);
    expect(sequencer.playedAfter(22)?.map(({ id }) => id)).toEqual([after(20, 23).id, after(20, 24).id]);
    expect(breaks).toEqual([]);
  });

  test("plays no held event that the log has lost, even if nothing else stands there yet", async () => {
    const { sequencer, played, breaks } = setUp({ position: 5, committed: 6 });
    for (const offset of [8, 7]) sequencer.offer(event(offset)); // lost since, with nothing in their place
    await sequencer.reached(6, "e6");
    await sequencer.verified();
    expect(played).toEqual([6]);
    expect(breaks).toEqual([]);
  });

  test("refuses a connection at a place in the old log, and continues", async () => {
    const { sequencer, played, breaks } = setUp({ position: 20, committed: 20 });
    await expect(sequencer.reached(30, "e30")).rejects.toMatchObject({ code: "unavailable" });
    await expect(sequencer.reached(20, "another")).rejects.toMatchObject({ code: "unavailable" });
    await sequencer.reached(20, "e20");
    await sequencer.reached(18, "e18"); // further back than its ring
    sequencer.offer(event(21));
    expect(played).toEqual([21]);
    expect(breaks).toEqual([]);
  });

  test("stops asking for events that only the old log had", () =>
    inSimulatedTime(({ pass }) => {
      const { sequencer, log } = setUp({ position: 20, committed: 20 });
      sequencer.offer(event(30));
      pass(100);
      const { reads } = log;
      pass(60_000);
      expect(log.reads).toBe(reads);
    }));
});

describe("a sequencer that is told too little", () => {
  test("asks the store about hints that do not name their predecessor, as those of the previous version", async () => {
    const { sequencer, played, breaks, log } = setUp({ committed: 3 });
    for (const offset of [1, 2, 3]) {
      const { prev: _, ...hint } = event(offset);
      sequencer.offer(hint);
    }
    expect(played).toEqual([]);
    await settled(sequencer, 3);
    expect([played, breaks, log.reads]).toEqual([[1, 2, 3], [], 1]);
  });

  test("takes the store's id if it starts without one", async () => {
    const { sequencer, played, breaks, log } = setUp({ position: 5, committed: 5 });
    const unknown = createSequencer({
      start: { offset: 5, id: undefined },
      budget: createBudget(),
      read: async () => ({ head: placeOf(log.at(log.head)), anchor: "e5", events: [] }),
      play: ({ offset }) => ({ isSlow: played.push(offset) === 0, connections: 1 }),
      leave: () => undefined,
      onRepair: () => undefined,
      onBreak: (found) => breaks.push(found),
      onError: () => undefined,
    });
    unknown.noticeHead({ offset: 5, id: "e5" });
    await unknown.verified();
    unknown.offer(event(6));
    expect([played, breaks]).toEqual([[6], []]);
    sequencer.stop();
  });

  test("does not take a head older than its hints for a break, and asks once", async () => {
    const { sequencer, played, breaks, log } = setUp({ committed: 3 });
    for (const offset of [1, 2, 3]) sequencer.offer(event(offset));
    sequencer.noticeHead(placeOf(event(1)));
    await sequencer.verified();
    expect([played, breaks, log.reads]).toEqual([[1, 2, 3], [], 1]);
  });

  test("continues if the event it played last was purged", async () => {
    const { sequencer, played, breaks, log } = setUp({ position: 5, committed: 9, purgedUpTo: 7 });
    sequencer.offer(event(9));
    await settled(sequencer, 9);
    expect([played, breaks]).toEqual([[8, 9], []]);
    log.purgedUpTo = 9;
    sequencer.offer(event(7));
    await sequencer.verified();
    expect(breaks).toEqual([]);
  });

  test("reads at once when nudged, and plays what it finds", () =>
    inSimulatedTime(({ pass }) => {
      const { sequencer, played, log } = setUp();
      for (const offset of upTo(3)) {
        log.head = offset;
        sequencer.offer({ org: "o" });
        pass(10);
        expect(played).toEqual(upTo(offset));
      }
      expect(log.reads).toBe(3);
    }));

  test("reads at most three times a second for repeated nudges and old hints, and plays on meanwhile", () =>
    inSimulatedTime(({ pass }) => {
      const { sequencer, played, breaks, log } = setUp({ position: 20, committed: 20 });
      const flood = (ms: number) => {
        for (let past = 0; past < ms; past += 10) {
          sequencer.offer(event(3)); // further back than its ring
          sequencer.offer({ org: "o" });
          pass(10);
        }
      };
      flood(1_000);
      const { reads } = log;
      flood(10_000);
      expect(log.reads - reads).toBeLessThanOrEqual(33);
      sequencer.offer(event(21));
      expect(played).toEqual([21]);
      log.head = 22; // its hint is lost
      flood(400);
      expect(played).toEqual([21, 22]);
      expect(breaks).toEqual([]);
    }));
});
