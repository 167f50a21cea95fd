import { expect, test } from "bun:test";
import type { DueEvent } from "../../store/webhooks/ports.ts";
import { createDueTurns } from "./due-turns.ts";

const dueOf = (org: string, offset: number): DueEvent => ({
  org,
  offset,
  webhook: "w",
  eventId: `${org}-${offset}`,
  dueAt: offset,
  told: undefined,
});

/** Turns among organizations with so many due events each, those of the first due longest. */
function turnsOf(counts: Record<string, number>) {
  const lists = Object.entries(counts).map(([org, count]) =>
    Array.from({ length: count }, (_, index) => dueOf(org, index)),
  );
  return createDueTurns({
    due: async (_, limit) => lists.flat().slice(0, limit),
    dueOfEach: async (_, { after, orgs, each }) =>
      lists
        .filter(([one]) => one !== undefined && one.org > after)
        .slice(0, orgs)
        .map((list) => list.slice(0, each)),
  });
}

test("a few due events are all settled, those that have been due longest first", async () => {
  const due = await turnsOf({ a: 3, b: 2 })(9);
  expect(due.map(({ eventId }) => eventId)).toEqual(["a-0", "a-1", "a-2", "b-0", "b-1"]);
});

test("of many, each organization has its share, and each is first in turn", async () => {
  const turns = turnsOf({ a: 5_000, b: 1, c: 2 });
  const looks = [await turns(9), await turns(9), await turns(9), await turns(9)];
  expect(looks.map((due) => due.slice(0, 4).map(({ eventId }) => eventId))).toEqual([
    ["a-0", "b-0", "c-0", "a-1"],
    ["b-0", "c-0", "a-0", "c-1"],
    ["c-0", "a-0", "b-0", "c-1"],
    ["a-0", "b-0", "c-0", "a-1"],
  ]);
  expect(looks.map(({ length }) => length)).toEqual([103, 103, 103, 103]);
});

test("with more organizations than one look takes, all come up", async () => {
  const names = Array.from({ length: 50 }, (_, index) => `org-${String(index).padStart(2, "0")}`);
  const turns = turnsOf(Object.fromEntries(names.map((name) => [name, 100])));
  const seen = new Set<string>();
  for (let look = 0; look < 50; look++) for (const { org } of await turns(9)) seen.add(org);
  expect([...seen].sort()).toEqual(names);
});
