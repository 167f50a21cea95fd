import { expect, test } from "bun:test";
import fc from "fast-check";
import { printableJson, printableLine, printableLines } from "./printable.ts";

const drivesTerminal = /[\u0000-\u001f\u007f-\u009f]/;

test("no text drives the terminal, and ordinary text stays as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(printableLine(text)).not.toMatch(drivesTerminal);
      expect(printableLines(text).join("")).not.toMatch(drivesTerminal);
      expect(printableJson({ text })).not.toMatch(drivesTerminal);
      expect(JSON.parse(printableJson({ [text]: text }))).toEqual({ [text]: text });
    }),
  );
  expect(printableLine("Grüße, 世界 👩‍👩‍👧 שלום")).toBe("Grüße, 世界 👩‍👩‍👧 שלום");
});

test("what is not printable becomes visible", () => {
  expect(printableLine("\u001b[2J\u009b1m\r\u0007\u202e")).toBe("\\u001b[2J\\u009b1m\\u000d\\u0007\\u202e");
});

test("line breaks are kept, whichever system made them, and tabs become spaces", () => {
  expect(printableLines("a\r\nb\n\tc\rd")).toEqual(["a", "b", "    c\\u000dd"]);
});
