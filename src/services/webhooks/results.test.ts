import { expect, test } from "bun:test";
import { unavailable } from "../../contract/errors/errors.ts";
import type { TriedDelivery } from "../../store/webhooks/ports.ts";
import { createResults } from "./results.ts";

const resultOf = (id: string): TriedDelivery => ({
  org: "o",
  webhook: "w",
  id,
  eventId: null,
  state: "delivered",
  tries: 1,
  nextTryAt: null,
  lastTry: null,
  expiresAt: 1,
});

/** Results on a store that fails as the test says. */
function setUp(failure: (ids: string[]) => unknown) {
  const stored: string[][] = [];
  const errors: unknown[] = [];
  const results = createResults({
    async store(tried) {
      const ids = tried.map(({ id }) => id);
      const error = failure(ids);
      if (error !== undefined) throw error;
      stored.push(ids);
    },
    onError: (error) => errors.push(error),
  });
  return { results, stored, errors };
}

test("results that come together are stored in one commit", async () => {
  const { results, stored } = setUp(() => undefined);
  await Promise.all(["a", "b", "c"].map((id) => results.add(resultOf(id))));
  expect(stored).toEqual([["a", "b", "c"]]);
});

test("a result that the database takes for invalid holds up no other", async () => {
  const invalid = new Error("invalid input syntax");
  const { results, stored, errors } = setUp((ids) => (ids.includes("b") ? invalid : undefined));
  await Promise.all(["a", "b", "c"].map((id) => results.add(resultOf(id))));
  expect([stored, errors]).toEqual([[["a"], ["c"]], [invalid]]);
});

test("while the database is away, results wait, and the outage is told once", async () => {
  let tries = 0;
  const { results, stored, errors } = setUp(() => (++tries < 3 ? unavailable() : undefined));
  await results.add(resultOf("a"));
  expect([stored, errors.length, tries]).toEqual([[["a"]], 1, 3]);
});
