import { expect, test } from "bun:test";
import { createLocalBus } from "../../bus/local.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { logStart } from "../../contract/log/log-place.ts";
import { systemClock } from "../../lib/time/clock.ts";
import { createSequencers } from "./sequencers.ts";

test("an organization whose start hangs does not keep the others from their head checks", async () => {
  const event: LogEvent = { org: "b", offset: 1, kind: "message", id: "e", cid: "c", payload: "{}", uids: undefined };
  const played = Promise.withResolvers<LogEvent>();
  let head = logStart;
  const sequencers = createSequencers({
    bus: createLocalBus({ nodeId: "n", guard: (work) => work() }),
    log: {
      heads(orgs) {
        if (orgs.join() === "a") return new Promise(() => undefined);
        return Promise.resolve(new Map(orgs.map((org) => [org, head])));
      },
      readFrom: async () => ({ head, anchor: undefined, events: [event] }),
      readAfter: async () => [event],
    },
    play(heard) {
      played.resolve(heard);
      return { connections: 1, isSlow: false };
    },
    clock: systemClock,
    leave: () => undefined,
    onRepair: () => undefined,
    onBreak: () => undefined,
    onError: played.reject,
  });
  void sequencers.acquire("a");
  await sequencers.acquire("b");
  head = { offset: 1, id: "e" };
  await sequencers.checkHeads();
  expect(await played.promise).toEqual(event);
  sequencers.stop();
});

test("an organization whose log was set back starts anew, and holders of the old sequencer release the old one", async () => {
  const breaks: string[] = [];
  let head = { offset: 30, id: "old" };
  const sequencers = createSequencers({
    bus: createLocalBus({ nodeId: "n", guard: (work) => work() }),
    log: {
      heads: async (orgs) => new Map(orgs.map((org) => [org, head])),
      readFrom: async () => ({ head, anchor: undefined, events: [] }),
      readAfter: async () => [],
    },
    play: () => ({ connections: 0, isSlow: false }),
    clock: systemClock,
    leave: () => undefined,
    onRepair: () => undefined,
    onBreak: (org, { played, head: found }) => breaks.push(`${org}: ${played.id}, ${found.offset}`),
    onError: expect.unreachable,
  });
  const before = await sequencers.acquire("o");
  head = { offset: 20, id: "new" };
  await sequencers.checkHeads();
  await expect(before.verified()).rejects.toMatchObject({ code: "unavailable" });
  expect(breaks).toEqual(["o: old, 20"]);
  const [anew, again] = [await sequencers.acquire("o"), await sequencers.acquire("o")];
  expect(anew).toBe(again);
  expect([anew.position, anew.isOver]).toEqual([20, false]);
  for (const given of [before, anew]) sequencers.release(given);
  expect(await sequencers.acquire("o")).toBe(anew); // `again` still holds it
  sequencers.stop();
});

test("the loss of an organization itself is noticed", async () => {
  const breaks: string[] = [];
  const heads = new Map([["o", { offset: 3, id: "e3" }]]);
  const sequencers = createSequencers({
    bus: createLocalBus({ nodeId: "n", guard: (work) => work() }),
    log: {
      heads: async () => heads,
      readFrom: async () => ({ head: logStart, anchor: undefined, events: [] }),
      readAfter: async () => [],
    },
    play: () => ({ connections: 0, isSlow: false }),
    clock: systemClock,
    leave: () => undefined,
    onRepair: () => undefined,
    onBreak: (org) => breaks.push(org),
    onError: expect.unreachable,
  });
  const sequencer = await sequencers.acquire("o");
  heads.clear();
  await sequencers.checkHeads();
  await expect(sequencer.verified()).rejects.toMatchObject({ code: "unavailable" });
  expect(breaks).toEqual(["o"]);
  sequencers.stop();
});

test("hints that come before an organization has started are kept up to 4 MiB; the rest is read from the store", async () => {
  const mebibyte = 1024 * 1024;
  const events = Array.from({ length: 8 }, (_, index): LogEvent => {
    const offset = index + 1;
    const payload = "x".repeat(mebibyte);
    const prev = index === 0 ? "" : `e${index}`;
    return { org: "o", offset, kind: "message", id: `e${offset}`, prev, cid: "c", payload, uids: undefined };
  });
  const head = { offset: events.length, id: "e8" };
  const bus = createLocalBus({ nodeId: "n", guard: (work) => work() });
  const heads = Promise.withResolvers<Map<string, typeof logStart>>();
  const isAsked = Promise.withResolvers<void>();
  const played: number[] = [];
  const readFrom: number[] = [];
  const sequencers = createSequencers({
    bus,
    log: {
      heads() {
        isAsked.resolve();
        return heads.promise;
      },
      async readFrom(_, offset) {
        readFrom.push(offset);
        return { head, anchor: events[offset - 1]?.id ?? "", events: events.slice(offset) };
      },
      readAfter: async () => [],
    },
    play({ offset }) {
      played.push(offset);
      return { connections: 1, isSlow: false };
    },
    clock: systemClock,
    leave: () => undefined,
    onRepair: () => undefined,
    onBreak: expect.unreachable,
    onError: expect.unreachable,
  });
  const acquired = sequencers.acquire("o");
  await isAsked.promise;
  bus.publish(events);
  heads.resolve(new Map([["o", logStart]]));
  await (await acquired).reached(head.offset, head.id);
  expect(played).toEqual(events.map(({ offset }) => offset));
  expect(readFrom[0]).toBe(4);
  sequencers.stop();
});
