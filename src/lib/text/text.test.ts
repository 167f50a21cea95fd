import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countCharacters, isAtMost, isStorableText } from "./text.ts";

/** Any text, including code points outside the BMP, lone surrogates and U+0000. */
const anyText = fc
  .string({ unit: "binary" })
  .chain((text) => fc.constantFrom("", "\u0000", "😀", "\ud800", "\udc00", "\ud800x").map((end) => text + end));

describe("text", () => {
  test("is counted in code points, like iterating over it", () => {
    fc.assert(fc.property(anyText, (text) => expect(countCharacters(text)).toBe([...text].length)));
  });

  test("is at most as long as its number of code points", () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (text, maximum) =>
        expect(isAtMost(text, maximum)).toBe([...text].length <= maximum),
      ),
    );
  });

  test("fits exactly at the limit if each character takes two code units", () => {
    expect(isAtMost("😀".repeat(8), 8)).toBe(true);
    expect(isAtMost("😀".repeat(9), 8)).toBe(false);
    expect(isAtMost("anything", Number.POSITIVE_INFINITY)).toBe(true);
  });

  test("cannot be stored if it contains U+0000 or a lone surrogate", () => {
    expect(isStorableText("")).toBe(true);
    expect(isStorableText("a\u0001\u200b😀")).toBe(true);
    expect(isStorableText("a\u0000")).toBe(false);
    expect(isStorableText("\ud83d")).toBe(false);
    expect(isStorableText("\ude00\ud83d")).toBe(false);
  });
});
