import { describe, expect, test } from "bun:test";
import { createSharing } from "./sharing.ts";

function setUp() {
  const time = { now: 0 };
  return { time, sharing: createSharing(() => time.now) };
}

describe("a sharing", () => {
  test("is not shared by one name, however often it is noted", () => {
    const { sharing } = setUp();
    expect(sharing.isShared()).toBe(false);
    for (let times = 0; times < 3; times++) sharing.note("a");
    expect(sharing.isShared()).toBe(false);
  });

  test("is shared for a second after one name followed another", () => {
    const { time, sharing } = setUp();
    sharing.note("a");
    time.now = 5_000;
    sharing.note("b");
    expect(sharing.isShared()).toBe(true);
    time.now = 5_999;
    sharing.note("b");
    expect(sharing.isShared()).toBe(true);
    time.now = 6_000;
    expect(sharing.isShared()).toBe(false);
    sharing.note("a");
    expect(sharing.isShared()).toBe(true);
  });
});
