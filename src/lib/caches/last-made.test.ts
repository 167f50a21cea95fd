import { expect, test } from "bun:test";
import { createLastMade } from "./last-made.ts";

test("what was made of the last source is made once, until another source is asked for or it is forgotten", () => {
  const made: string[] = [];
  const lengths = createLastMade(({ text }: { text: string }) => made.push(text));
  const [one, other] = [{ text: "one" }, { text: "other" }];
  expect([lengths.of(one), lengths.of(one), lengths.of(other), lengths.of(one)]).toEqual([1, 1, 2, 3]);
  lengths.forget();
  expect(lengths.of(one)).toBe(4);
  expect(made).toEqual(["one", "other", "one", "one"]);
});
