import { expect, test } from "bun:test";
import fc from "fast-check";
import { groupInSpans } from "./spans.ts";

test("items are grouped by key, in order, never further apart than the span; none is lost or duplicated", () => {
  const item = fc.record({ key: fc.constantFrom("a", "b", "c"), place: fc.nat(300) });
  fc.assert(
    fc.property(fc.array(item), fc.integer({ min: 1, max: 64 }), (items, span) => {
      const groups = groupInSpans(items, { keyOf: ({ key }) => key, placeOf: ({ place }) => place, span });
      for (const group of groups) {
        expect(new Set(group.map(({ key }) => key)).size).toBe(1);
        const places = group.map(({ place }) => place);
        expect(places).toEqual(places.toSorted((left, right) => left - right));
        expect((places.at(-1) ?? 0) - (places[0] ?? 0)).toBeLessThan(span);
      }
      expect(new Set(groups.flat())).toEqual(new Set(items));
      expect(groups.flat()).toHaveLength(items.length);
    }),
  );
});

test("there are no more groups than necessary", () => {
  const items = Array.from({ length: 128 }, (_, place) => ({ key: "a", place }));
  const options = { keyOf: () => "a", placeOf: ({ place }: { place: number }) => place, span: 64 };
  expect(groupInSpans(items, options)).toHaveLength(2);
});
