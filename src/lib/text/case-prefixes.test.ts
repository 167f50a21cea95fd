import { describe, expect, test } from "bun:test";
import { createCasePrefix } from "./case-prefixes.ts";

const byCode = (left: string, right: string) => Buffer.compare(Buffer.from(left), Buffer.from(right));

describe("a prefix that ignores case", () => {
  test.each([
    ["an", ["AN", "An", "anna", "aNNa"], ["a", "ban", "", "än"]],
    ["É", ["é", "Éa", "éa"], ["e", "E"]],
    ["ß", ["ßx"], ["ss", "SS", "ẞ"]],
    ["İ", ["İ"], ["i", "ı"]],
    ["a👋b", ["A👋B", "a👋bc"], ["a👋", "a👌b"]],
    ["%_", ["%_x"], ["a_", "%a"]],
    ["\u{10ffff}", ["\u{10ffff}", "\u{10ffff}a"], ["a"]],
  ])("%p begins these, and not those", (text, these, those) => {
    const prefix = createCasePrefix(text);
    for (const one of these) expect([one, prefix.matches(one)]).toEqual([one, true]);
    for (const one of those) expect([one, prefix.matches(one)]).toEqual([one, false]);
  });

  test("leads from each string that does not match to the next that may, and misses none", () => {
    const letters = ["", "A", "B", "a", "b", "é", "É", "-"];
    const words = letters.flatMap((one) => letters.flatMap((two) => letters.map((three) => one + two + three)));
    const sorted = [...new Set(words)].sort(byCode);
    for (const text of ["a", "AB", "é", "bÉ", "a-", "ab-"]) {
      const prefix = createCasePrefix(text);
      const expected = sorted.filter(prefix.matches);
      const found: string[] = [];
      let from: string | undefined = prefix.first;
      while (from !== undefined) {
        const begin: string = from;
        const next = sorted.find((word) => byCode(word, begin) >= 0);
        if (next === undefined) break;
        if (prefix.matches(next)) found.push(next);
        from = prefix.matches(next) ? `${next}\u0001` : prefix.next(next);
        if (from !== undefined) expect(byCode(from, next)).toBe(1);
      }
      expect(found).toEqual(expected);
      for (const word of expected) expect(byCode(word, prefix.end ?? "")).toBe(-1);
    }
  });
});
