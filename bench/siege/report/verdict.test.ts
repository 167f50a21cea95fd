import { describe, expect, test } from "bun:test";
import { asked, judge, wrongPrefix } from "./verdict.ts";

const good = { calmP99Ms: 5, p99Ms: 14, victimFailed: 0, grownMebibytes: 30, died: 0, told: 1 };

describe("the verdict on a raid", () => {
  test("is that it holds if the victim waits at most three times as long, the attacker was told, and memory is bounded", () => {
    expect(judge([good])).toEqual({ ratio: 2.8, wrongs: [] });
  });

  test("uses the median of the rounds' ratios, and the worst round for the rest", () => {
    const slow = { ...good, p99Ms: 500 };
    expect(judge([good, slow, good]).wrongs).toEqual([]);
    expect(judge([slow, slow, good]).wrongs).toEqual(["waits"]);
    expect(judge([good, good, { ...good, victimFailed: 1 }]).wrongs).toEqual(["failed sends"]);
    expect(judge([good, { ...good, grownMebibytes: asked.grownMebibytes + 1 }]).wrongs).toEqual(["memory"]);
    expect(judge([good, { ...good, told: 0 }]).wrongs).toEqual([]);
    expect(judge([good, { ...good, told: 0, mustBeTold: 1 }]).wrongs).toEqual(["not told"]);
    expect(judge([good, { ...good, died: 1 }]).wrongs).toEqual(["the node died"]);
  });

  test("raises an undisturbed p99 below the floor to the floor", () => {
    expect(judge([{ ...good, calmP99Ms: 1, p99Ms: 3 * asked.floorMs }]).wrongs).toEqual([]);
    expect(judge([{ ...good, calmP99Ms: 1, p99Ms: 3 * asked.floorMs + 1 }]).wrongs).toEqual(["waits"]);
  });

  test("is that the victim waits if no send was answered at all", () => {
    expect(judge([{ ...good, p99Ms: Number.NaN }]).wrongs).toEqual(["waits"]);
  });

  test("names whatever else was examined, and requires no victim if there was none", () => {
    expect(judge([{ [`${wrongPrefix}an outsider hears`]: 1 }]).wrongs).toEqual(["an outsider hears"]);
    expect(judge([{ [`${wrongPrefix}an outsider hears`]: 0 }]).wrongs).toEqual([]);
  });
});
