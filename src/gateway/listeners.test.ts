import { describe, expect, test } from "bun:test";
import { cutMostBehind } from "./listeners.ts";

describe("cutMostBehind", () => {
  const cutFrom = (waiting: number[], maxBytes: number) => {
    const cut: number[] = [];
    const listeners = waiting.map((bytes) => ({ waitingBytes: () => bytes, cut: () => cut.push(bytes) }));
    const count = cutMostBehind(listeners, maxBytes);
    expect(count).toBe(cut.length);
    return cut;
  };

  test("leaves everyone alone up to the limit", () => {
    expect(cutFrom([10, 0, 30], 40)).toEqual([]);
    expect(cutFrom([10, 30], Number.POSITIVE_INFINITY)).toEqual([]);
  });

  test("cuts those that are the most behind, and no more than needed", () => {
    expect(cutFrom([10, 50, 0, 30, 40], 80)).toEqual([50]);
    expect(cutFrom([10, 50, 0, 30, 40], 79)).toEqual([50, 40]);
  });
});
