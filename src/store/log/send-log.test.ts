import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { createCoalescer } from "./send-log.ts";

const event = (offset: number): LogEvent => ({
  org: "o",
  offset,
  kind: "message",
  id: `e${offset}`,
  cid: "c",
  payload: "{}",
  uids: undefined,
});

describe("a coalescer", () => {
  let isBusy = false;
  let announced: number[][] = [];
  const setUp = () =>
    createCoalescer({
      isBusy: () => isBusy,
      announce: (events) => announced.push(events.map(({ offset }) => offset)),
    });

  beforeEach(() => {
    jest.useFakeTimers();
    isBusy = false;
    announced = [];
  });
  afterEach(() => void jest.useRealTimers());

  test("announces at once if no more events are about to come", () => {
    setUp()([event(1)]);
    expect(announced).toEqual([[1]]);
  });

  test("announces in one group events that come while more are about to", () => {
    const coalesce = setUp();
    isBusy = true;
    coalesce([event(1)]);
    coalesce([event(2), event(3)]);
    expect(announced).toEqual([]);
    isBusy = false;
    coalesce([]);
    expect(announced).toEqual([[1, 2, 3]]);
    jest.advanceTimersByTime(10);
    expect(announced).toHaveLength(1);
  });

  test("holds events for 2 ms at most, however busy", () => {
    const coalesce = setUp();
    isBusy = true;
    coalesce([event(1)]);
    jest.advanceTimersByTime(1);
    coalesce([event(2)]);
    jest.advanceTimersByTime(1);
    expect(announced).toEqual([[1, 2]]);
    coalesce([event(3)]);
    jest.advanceTimersByTime(2);
    expect(announced).toEqual([[1, 2], [3]]);
  });
});
