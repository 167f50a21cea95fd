import { expect, test } from "bun:test";
import { compareTexts, compareTimes, inOrder } from "./order.ts";

const items = [
  { id: "alice", name: "Zoe 2", seen: null },
  { id: "bob", name: "zoe 10", seen: "2026-03-01T00:00:00.000Z" },
  { id: "carol", name: "anna", seen: "2026-02-01T00:00:00.000Z" },
  { id: "dora", name: "Émile", seen: null },
];
type Item = (typeof items)[number];
const idsOf = (some: readonly Item[]) => some.map(({ id }) => id);
const byName = (left: Item, right: Item) => compareTexts(left.name, right.name);
const bySeen = (left: Item, right: Item) => compareTimes(left.seen, right.seen);

test("names are compared without their case, and numbers in them by their value", () => {
  expect(idsOf(inOrder(items, byName, "ascending"))).toEqual(["carol", "dora", "alice", "bob"]);
  expect(idsOf(inOrder(items, byName, "descending"))).toEqual(["bob", "alice", "dora", "carol"]);
});

test("a time that is missing is before all others, or where it is said to be, and items that are equal keep their order", () => {
  expect(idsOf(inOrder(items, bySeen, "descending"))).toEqual(["bob", "carol", "alice", "dora"]);
  expect(idsOf(inOrder(items, bySeen, "ascending"))).toEqual(["alice", "dora", "carol", "bob"]);
  expect(compareTimes(null, "2026-03-01T00:00:00.000Z", Number.POSITIVE_INFINITY)).toBeGreaterThan(0);
  expect(compareTimes(null, null, Number.POSITIVE_INFINITY)).toBe(0);
});
