import { describe, expect, test } from "bun:test";
import type { DeliveryNews } from "../../bus/bus.ts";
import { createTally } from "./tally.ts";

const news = (told: Partial<DeliveryNews>): DeliveryNews => ({
  online: [],
  missed: [],
  acknowledged: [],
  isPlayed: false,
  isDone: false,
  ...told,
});
const played = (online: string[], told: Partial<DeliveryNews> = {}) => news({ online, isPlayed: true, ...told });

describe("a tally", () => {
  test("counts a user once, whoever is online on several nodes, and as delivered if it was written on one of them", () => {
    const tally = createTally(["a", "b", "c"]);
    tally.take("a", played(["ann", "bob"], { missed: ["bob"] }));
    expect(tally.counts()).toEqual({ online: 2, delivered: 1, acknowledged: 0 });
    tally.take("b", played(["bob", "cat"], { missed: ["cat"], acknowledged: ["bob"] }));
    expect(tally.counts()).toEqual({ online: 3, delivered: 2, acknowledged: 1 });
    tally.take("c", played(["bob"], { acknowledged: ["bob"], isDone: true }));
    tally.take("a", news({ acknowledged: ["ann"], isDone: true }));
    expect(tally.isDone).toBe(false);
    tally.take("b", news({ acknowledged: [], isDone: true }));
    expect([tally.isDone, tally.counts()]).toEqual([true, { online: 3, delivered: 2, acknowledged: 2 }]);
  });

  test("forgets who is online once every node has played the event, and all users if they are on one node", () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `u${index}`);
    const alone = createTally(["a", "b"]);
    alone.take("a", played(many, { acknowledged: ["u1"] }));
    expect(alone.weight).toBe(1_001);
    alone.take("b", news({ isDone: true }));
    expect(alone.weight).toBe(0);
    alone.take("a", news({ acknowledged: ["u2", "u3"], isDone: true }));
    expect([alone.weight, alone.counts()]).toEqual([0, { online: 1_000, delivered: 1_000, acknowledged: 3 }]);

    const shared = createTally(["a", "b"]);
    shared.take("a", played(many, { acknowledged: ["u1"] }));
    shared.take("b", played(many, { acknowledged: ["u1", "u2"] }));
    expect([shared.weight, shared.counts()]).toEqual([2, { online: 1_000, delivered: 1_000, acknowledged: 2 }]);
    shared.take("a", news({ acknowledged: ["u2", "u3"] }));
    expect([shared.weight, shared.counts().acknowledged]).toEqual([3, 3]);
  });

  test("awaits the expected nodes and those that tell, and puts news in parts together", () => {
    const tally = createTally(["a"]);
    tally.take("new", news({}));
    tally.take("a", news({ isDone: true }));
    expect(tally.isDone).toBe(false);
    tally.take("new", news({ online: ["ann"] }));
    tally.take("new", played(["bob"], { isDone: true }));
    expect([tally.isDone, tally.counts()]).toEqual([true, { online: 2, delivered: 2, acknowledged: 0 }]);
    tally.take("late", played(["cat"], { isDone: true })); // all was counted without it
    expect([tally.isDone, tally.counts()]).toEqual([true, { online: 2, delivered: 2, acknowledged: 0 }]);
  });
});
