import { expect, test } from "bun:test";
import { createUuid } from "./uuid.ts";

test("a UUID is of version 7, sorts by time, and is never the same twice", () => {
  const now = 1_795_000_000_123;
  expect(createUuid(now)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(createUuid(now).replace("-", "").slice(0, 12), 16)).toBe(now);
  expect(createUuid(now) < createUuid(now + 1)).toBe(true);
  expect(new Set(Array.from({ length: 1000 }, () => createUuid(now))).size).toBe(1000);
});
