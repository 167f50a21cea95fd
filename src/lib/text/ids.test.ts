import { expect, test } from "bun:test";
import { createId, derivedIdOf, timeOfId } from "./ids.ts";

test("a derived id is a UUIDv7 of its time, equal for equal texts only", () => {
  const at = 1_763_643_960_123;
  const ids = Array.from({ length: 200 }, (_, index) => derivedIdOf(at, `text ${index}`));
  for (const id of ids) {
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(timeOfId(id)).toBe(at);
    expect(id < createId(at + 1)).toBeTrue();
  }
  expect(new Set(ids).size).toBe(200);
  expect(derivedIdOf(at, "text 7")).toBe(ids[7] ?? "");
  expect(derivedIdOf(at + 1, "text 7").slice(14)).toBe(ids[7]?.slice(14) ?? "");
});
