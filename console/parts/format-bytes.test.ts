import { expect, test } from "bun:test";
import { formatBytes } from "./format-bytes.ts";

test("bytes are told in the unit in which they have up to three figures, with a decimal below ten", () => {
  const told: [number, string][] = [
    [0, "0 B"],
    [940, "940 B"],
    [1_000, "1 kB"],
    [1_540, "1.5 kB"],
    [9_960, "10 kB"],
    [999_499, "999 kB"],
    [999_500, "1 MB"],
    [24_300_000, "24 MB"],
    [5_000_000_000, "5 GB"],
    [7e15, "7,000 TB"],
  ];
  for (const [bytes, text] of told) expect(formatBytes(bytes)).toBe(text);
});
