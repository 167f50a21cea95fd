import { expect, test } from "bun:test";
import type { StoredDelivery } from "../../store/delivery/ports.ts";
import { createFirstDeliveries } from "./first-deliveries.ts";

/** First deliveries of events that each went to the users of some rows, with a count of what is read and paid. */
function prepare({ maxUsers = 1_000 } = {}) {
  const rows = new Map<number, Map<string, string[]>>();
  const read: string[] = [];
  let now = 0;
  let paid = 0;
  let long = 0;
  const findFirst = createFirstDeliveries({
    reads: {
      deliveryIds: async (_, __, offset) => [...(rows.get(offset)?.keys() ?? [])],
      async deliveries(_, ids, offset) {
        read.push(...ids);
        const uidsOf = (id: string) => rows.get(offset)?.get(id) ?? [];
        return ids.map(
          (id): StoredDelivery => ({ kind: "delivery", connections: 1, uids: uidsOf(id), first: 7, last: 8 }),
        );
      },
    },
    longReads: {
      run(work) {
        long++;
        return work();
      },
    },
    clock: { now: () => now },
    maxUsers,
  });
  return {
    read,
    paid: () => paid,
    long: () => long,
    wait(ms: number) {
      now += ms;
    },
    record(offset: number, id: string, uids: string[]) {
      rows.set(offset, (rows.get(offset) ?? new Map<string, string[]>()).set(id, uids));
    },
    async find(offset: number, uids: string[], recipients = 3) {
      const event = { id: `e${offset}`, cid: "c", offset, recipients };
      const times = await findFirst("o", event, async (cost) => {
        paid += cost;
      });
      return [...(await times.find(uids)).keys()];
    },
  };
}

test("a row is read once, and new ones are looked for once a second", async () => {
  const { record, find, read, wait } = prepare();
  record(1, "r1", ["a"]);
  expect(await find(1, ["a", "b"])).toEqual(["a"]);
  record(1, "r2", ["b"]);
  expect(await find(1, ["a", "b"])).toEqual(["a"]);
  wait(1_000);
  expect(await find(1, ["a", "b"])).toEqual(["a", "b"]);
  wait(1_000);
  expect(await find(1, ["c"])).toEqual([]);
  expect(read).toEqual(["r1", "r2"]);
});

test("callers at once share a read", async () => {
  const { record, find, read } = prepare();
  record(1, "r1", ["a"]);
  expect(await Promise.all([find(1, ["a"]), find(1, ["a"])])).toEqual([["a"], ["a"]]);
  expect(read).toEqual(["r1"]);
});

test("an event of many is a long read, and is paid for when it is read from the start", async () => {
  const { record, find, paid, long, wait } = prepare();
  record(1, "r1", ["a"]);
  await find(1, ["a"], 2_500);
  wait(1_000);
  await find(1, ["a"], 2_500);
  expect([paid(), long()]).toEqual([2, 2]);
  await find(2, ["a"], 999);
  expect([paid(), long()]).toEqual([2, 2]);
});

test("what is kept is bounded: those asked for last stay, and the last one however large", async () => {
  const { record, find, read } = prepare({ maxUsers: 100 });
  const many = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`);
  for (const offset of [1, 2, 3]) record(offset, `r${offset}`, many(30));
  for (const offset of [1, 2, 1, 3, 1, 2]) await find(offset, ["u1"]);
  expect(read).toEqual(["r1", "r2", "r3", "r2"]);
  record(4, "r4", many(500));
  for (const offset of [4, 4, 1]) await find(offset, ["u1"]);
  expect(read.slice(4)).toEqual(["r4", "r1"]);
});
