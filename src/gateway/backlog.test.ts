import { describe, expect, test } from "bun:test";
import { createBacklog } from "./backlog.ts";

describe("a backlog", () => {
  function setUp(waiting: number[], maxBytes: number) {
    const time = { ms: 0 };
    const backlog = createBacklog({ maxBytes, maxLineBytes: 1_000, clock: { now: () => time.ms } });
    const check = () => {
      time.ms += 100;
      backlog.check();
    };
    const looks: number[] = [];
    const cut: number[] = [];
    const lines = waiting.map((_, index) => ({
      waitingBytes() {
        looks.push(index);
        return waiting[index] ?? 0;
      },
      cut: () => cut.push(waiting[index] ?? 0),
    }));
    return { backlog, check, lines, looks, cut, waiting, time };
  }

  function cutFrom(waiting: number[], maxBytes: number): number[] {
    const { backlog, check, lines, cut } = setUp(waiting, maxBytes);
    for (const line of lines) backlog.watch(line);
    check();
    return cut;
  }

  test("leaves everyone alone up to the limit", () => {
    expect(cutFrom([10, 0, 30], 40)).toEqual([]);
    expect(cutFrom([10, 30], Number.POSITIVE_INFINITY)).toEqual([]);
  });

  test("cuts those that are the most behind, and no more than needed", () => {
    expect(cutFrom([10, 50, 0, 30, 40], 80)).toEqual([50]);
    expect(cutFrom([10, 50, 0, 30, 40], 79)).toEqual([50, 40]);
  });

  test("looks at a line only while bytes wait for it", () => {
    const { backlog, check, lines, looks, waiting } = setUp([10, 20, 30], 100);
    const [first, second, idle] = lines;
    if (first === undefined || second === undefined || idle === undefined) throw new Error("three lines");
    backlog.watch(first);
    backlog.suspect("topic", 1, () => [second, first]);
    check();
    expect(looks.toSorted()).toEqual([0, 1]);
    expect(backlog.bytes).toBe(30);
    waiting[1] = 0;
    check();
    check();
    expect(looks.toSorted()).toEqual([0, 0, 0, 1, 1]);
    backlog.forget(first);
    expect(backlog.bytes).toBe(0);
    check();
    expect(looks.length).toBe(5);
  });

  test("looks at those who follow the same topic once a second at most, and at those that are slow each time", () => {
    const { backlog, check, lines, looks } = setUp([10, 0, 0], 100);
    for (let round = 0; round < 20; round++) {
      backlog.suspect("topic", 1, () => lines);
      check();
    }
    expect(looks.filter((index) => index === 0).length).toBe(20);
    expect(looks.filter((index) => index > 0).length).toBe(2 * 2);
  });

  test("is looked at ten times a second at most", () => {
    const { backlog, lines, looks, time } = setUp([10], 100);
    for (const line of lines) backlog.watch(line);
    for (; time.ms < 1_000; time.ms += 10) backlog.check();
    expect(looks.length).toBe(10);
  });

  test("looks again at once when a line could have come a quarter of the way to its limit", () => {
    const { backlog, lines, looks } = setUp([0], 100);
    for (let published = 0; published < 2_000; published += 50) {
      backlog.suspect("topic", 50, () => lines);
      backlog.check();
    }
    expect(looks.length).toBe(1 + 7); // the first, and one for each 250 bytes after it
  });
});
