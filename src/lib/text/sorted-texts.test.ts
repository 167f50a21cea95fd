import { expect, test } from "bun:test";
import fc from "fast-check";
import { createSortedTexts } from "./sorted-texts.ts";
import { compareBytes } from "./text.ts";

const byBytes = (left: string, right: string) => Buffer.compare(Buffer.from(left), Buffer.from(right));

test("texts compare like their UTF-8 bytes", () => {
  const text = fc.string({ unit: "binary", maxLength: 4 });
  fc.assert(
    fc.property(text, text, (left, right) => {
      expect(Math.sign(compareBytes(left, right))).toBe(byBytes(left, right));
    }),
  );
  expect(compareBytes("\ue000", "😀")).toBeLessThan(0);
  expect(compareBytes("a", "a")).toBe(0);
});

test("a sorted set finds what comes after a place, whatever was added and removed before", () => {
  const text = fc.string({ unit: "binary", maxLength: 2 });
  fc.assert(
    fc.property(fc.array(text), text, (changes, place) => {
      const sorted = createSortedTexts();
      const model = new Set<string>();
      for (const change of changes) {
        if (model.delete(change)) sorted.remove(change);
        else {
          model.add(change);
          sorted.add(change);
        }
      }
      expect([...sorted.after(place)]).toEqual([...model].sort(byBytes).filter((one) => byBytes(one, place) > 0));
    }),
  );
});
