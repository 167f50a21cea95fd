import { expect, test } from "bun:test";
import { systemClock } from "../../lib/time/clock.ts";
import type { NewReceipt } from "../../store/delivery/ports.ts";
import { createReceipts } from "./receipts.ts";

/** Receipts on a store that answers on demand. */
function prepare() {
  const batches: NewReceipt[][] = [];
  let answered = Promise.withResolvers<void>();
  const deliveries = {
    record: async () => undefined,
    acknowledge(receipts: NewReceipt[]) {
      batches.push(receipts);
      return answered.promise;
    },
  };
  return {
    batches,
    receipts: createReceipts({ deliveries, clock: systemClock }),
    answer() {
      answered.resolve();
      answered = Promise.withResolvers();
    },
    fail() {
      answered.reject(new Error("the store is away"));
      answered = Promise.withResolvers();
    },
  };
}

const alice = { org: "o", uid: "alice" };

test("a repeated receipt waits for the store once, and all callers learn its outcome", async () => {
  const { batches, receipts, answer } = prepare();
  const said = Array.from({ length: 30_000 }, () => receipts.acknowledge(alice, ["m1", "m1", "m2"]));
  said.push(receipts.acknowledge({ org: "o", uid: "bob" }, ["m1"]));
  await new Promise(setImmediate);
  const later = receipts.acknowledge(alice, ["m1"]);
  expect(batches.map((batch) => batch.map(({ uid, id }) => `${uid} ${id}`))).toEqual([
    ["alice m1", "alice m2", "bob m1"],
  ]);
  answer();
  await Promise.all([...said, later]);
  const again = receipts.acknowledge(alice, ["m1"]);
  await new Promise(setImmediate);
  expect(batches).toHaveLength(2);
  answer();
  await again;
});

test("a receipt that could not be stored can be repeated", async () => {
  const { batches, receipts, answer, fail } = prepare();
  const said = [receipts.acknowledge(alice, ["m1"]), receipts.acknowledge(alice, ["m1"])];
  await new Promise(setImmediate);
  fail();
  expect((await Promise.allSettled(said)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const again = receipts.acknowledge(alice, ["m1"]);
  await new Promise(setImmediate);
  answer();
  await again;
  expect(batches).toHaveLength(2);
});
