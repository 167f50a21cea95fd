import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import type { LogEvent } from "../../contract/log/log-event.ts";
import type { NewSend } from "../ports.ts";
import { createCoalescer, createSendLog } from "./send-log.ts";

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

describe("a commit of sends", () => {
  const sendOf = (org: string): NewSend => ({
    org,
    kind: "message",
    id: `${org}-1`,
    cid: "c",
    sender: "u",
    mid: undefined,
    fingerprint: "",
    payload: "{}",
    uids: undefined,
    createdAt: 0,
    keyId: "k",
  });

  /** Most sends of `o` in a commit, once the log knows how many webhooks wait for them. */
  async function mostOfOne(webhooks: number | undefined): Promise<number> {
    const sizes: number[] = [];
    const sends = createSendLog({
      log: {
        async appendAll(batch) {
          sizes.push(batch.filter(({ org }) => org === "o").length);
          return batch.map(({ id, createdAt }, offset) => ({ outcome: "stored", id, createdAt, offset, webhooks }));
        },
        check: () => Promise.reject(new Error("not asked")),
      },
      announce: () => undefined,
    });
    await sends.append(sendOf("o"));
    await Promise.all([...Array.from({ length: 200 }, () => sendOf("o")), sendOf("p")].map(sends.append));
    return Math.max(...sizes);
  }

  test("takes fewer if webhooks wait for each, as those are rows of it, too", async () => {
    expect(await mostOfOne(undefined)).toBe(128);
    expect(await mostOfOne(1)).toBe(127); // and one of another organization
    expect(await mostOfOne(20)).toBe(25);
  });

  test("takes sends that go together in one, however many organizations take turns", async () => {
    const sizes: number[] = [];
    const sends = createSendLog({
      log: {
        async appendAll(batch) {
          sizes.push(batch.filter(({ org }) => org === "o").length);
          return batch.map(({ id, createdAt }, offset) => ({ outcome: "stored", id, createdAt, offset }));
        },
        check: () => Promise.reject(new Error("not asked")),
      },
      announce: () => undefined,
    });
    const others = Array.from({ length: 500 }, (_, index) => sends.append(sendOf(`p${index % 10}`)));
    const together = sends.appendTogether(Array.from({ length: 64 }, () => sendOf("o")));
    await Promise.all([...others, ...together]);
    expect(sizes.filter(Boolean)).toEqual([64]);
  });
});
