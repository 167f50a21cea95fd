import { describe, expect, test } from "bun:test";
import { asked, countUsual, holds, judge, wrongPrefix } from "./verdict.ts";

const good = { calmP99Ms: 5, p50Ms: 2, p99Ms: 14, victimFailed: 0, grownMebibytes: 30, died: 0, told: 1 };

describe("the verdict on an attack", () => {
  test("is that the node holds if the victim is answered soon, the attacker was told, and memory is bounded", () => {
    expect(judge([good])).toEqual({ p50Ms: 2, p99Ms: 14, wrongs: [] });
  });

  test("uses the median of the rounds' times, and the worst round for the rest", () => {
    const slow = { ...good, p99Ms: 500 };
    expect(judge([good, slow, good]).wrongs).toEqual([]);
    expect(judge([slow, slow, good]).wrongs).toEqual(["waits"]);
    expect(judge([good, good, { ...good, victimFailed: 1 }]).wrongs).toEqual(["failed sends"]);
    expect(judge([good, { ...good, grownMebibytes: asked.grownMebibytes + 1 }]).wrongs).toEqual(["memory"]);
    expect(judge([good, { ...good, told: 0 }]).wrongs).toEqual([]);
    expect(judge([good, { ...good, told: 0, mustBeTold: 1 }]).wrongs).toEqual(["not told"]);
    expect(judge([good, { ...good, died: 1 }]).wrongs).toEqual(["the node died"]);
  });

  test("bounds the victim's p50 and its p99, whatever they were without the attack", () => {
    expect(judge([{ ...good, p50Ms: asked.p50Ms, p99Ms: asked.p99Ms, calmP99Ms: 1 }]).wrongs).toEqual([]);
    expect(judge([{ ...good, p50Ms: asked.p50Ms + 0.1 }]).wrongs).toEqual(["waits"]);
    expect(judge([{ ...good, p99Ms: asked.p99Ms + 0.1, calmP99Ms: 90 }]).wrongs).toEqual(["waits"]);
  });

  test("is that the victim waits if no send was answered at all", () => {
    expect(judge([{ ...good, p50Ms: Number.NaN, p99Ms: Number.NaN }]).wrongs).toEqual(["waits"]);
  });

  test("names whatever else was examined, and requires no victim if there was none", () => {
    expect(judge([{ [`${wrongPrefix}an outsider hears`]: 1 }]).wrongs).toEqual(["an outsider hears"]);
    expect(judge([{ [`${wrongPrefix}an outsider hears`]: 0 }])).toEqual({ wrongs: [] });
  });
});

describe("the verdict on all attacks", () => {
  const [quick, slow, bus] = [judge([good]), judge([{ ...good, p99Ms: asked.usualP99Ms + 1 }]), judge([{}])];

  test("is that the node holds if it does against each, and more than half of the p99 are as usual", () => {
    expect(countUsual([quick, quick, slow, bus])).toEqual({ usual: 2, all: 3 });
    expect([holds([quick, quick, slow]), holds([quick, slow]), holds([bus]), holds([])]).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(holds([quick, quick, judge([{ ...good, p99Ms: asked.p99Ms + 1 }])])).toBe(false);
  });
});
