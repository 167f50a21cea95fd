import { expect, test } from "bun:test";
import { retryAfterMs } from "./retry-after.ts";

const now = Date.UTC(2026, 10, 20, 13, 6, 0);

test.each([
  ["120", undefined, 120_000],
  ["0", undefined, 0],
  ["Fri, 20 Nov 2026 13:08:00 GMT", undefined, 120_000],
  ["Friday, 20-Nov-26 13:08:00 GMT", undefined, 120_000],
  ["Fri Nov 20 13:08:00 2026 GMT", undefined, 120_000],
  ["Fri, 20 Nov 2026 13:08:00 GMT", "Fri, 20 Nov 2026 13:07:00 GMT", 60_000],
  ["Fri, 20 Nov 2026 13:08:00 GMT", "nonsense", 120_000],
  ["Fri, 20 Nov 2026 13:00:00 GMT", undefined, 0],
  ["", undefined, undefined],
  ["soon", undefined, undefined],
  ["-5", undefined, undefined],
  ["1.5", undefined, undefined],
  ["2026-11-20", undefined, undefined],
  ["9".repeat(400), undefined, undefined],
])("Retry-After: %p with Date: %p", (after, date, expected) => {
  expect(retryAfterMs({ "retry-after": after, date }, now)).toBe(expected);
});
