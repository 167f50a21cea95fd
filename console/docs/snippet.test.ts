import { expect, test } from "bun:test";
import { snippetOf } from "./snippet.ts";

const told = (text: string, words: string[]) =>
  snippetOf(text, words)
    .map(({ text, isHit }) => (isHit ? `[${text}]` : text))
    .join("");

test("a short text is shown whole, with what was found marked at the beginnings of words", () => {
  expect(told("Herald heralds; a-herald, unherald.", ["herald"])).toBe("[Herald] [herald]s; a-[herald], unherald.");
  expect(told("It costs a.b (once).", ["a.b", "(once"])).toBe("It costs [a.b] [(once]).");
  expect(told("Nothing of it.", ["else"])).toBe("Nothing of it.");
  expect(told("Nothing at all.", [])).toBe("Nothing at all.");
});

test("of a long text, the place of the first hit is shown, cut between words", () => {
  const text = `${"before ".repeat(40)}the offset is here ${"after ".repeat(60)}end`;
  const snippet = told(text, ["offset"]);
  expect(snippet).toMatch(/^… before (?:before )+the \[offset\] is here after (?:after )+after …$/);
  expect(snippet.length).toBeLessThan(180);
  expect(told("x".repeat(900), ["x"])).toEndWith(" …");
});
