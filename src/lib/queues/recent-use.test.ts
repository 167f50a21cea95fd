import { describe, expect, test } from "bun:test";
import { createRecentUse } from "./recent-use.ts";

function setUp() {
  const time = { now: 0 };
  return { time, use: createRecentUse(100, () => time.now) };
}

describe("recent use", () => {
  test("adds up items and weights by name", () => {
    const { use } = setUp();
    use.note("a", 3);
    use.note("b", 1);
    use.note("a", 4);
    expect(use.of("a")).toEqual({ items: 2, weight: 7 });
    expect(use.of("b")).toEqual({ items: 1, weight: 1 });
    expect(use.of("c")).toEqual({ items: 0, weight: 0 });
  });

  test("remembers everything for its time, and nothing for more than twice as long", () => {
    const { time, use } = setUp();
    time.now = 90;
    use.note("a", 1);
    time.now = 190;
    use.note("a", 1);
    expect(use.of("a").items).toBe(2);
    time.now = 291;
    expect(use.of("a").items).toBe(1);
    time.now = 400;
    expect(use.of("a").items).toBe(0);
  });

  test("forgets all after a pause", () => {
    const { time, use } = setUp();
    use.note("a", 1);
    time.now = 200;
    expect(use.of("a").items).toBe(0);
  });
});
