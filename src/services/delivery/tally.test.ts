import { describe, expect, test } from "bun:test";
import fc from "fast-check";
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

type Told = { node: string; parts: DeliveryNews[] };

/** What a node tells of an event, in order. */
const story = fc
  .record({
    online: fc.uniqueArray(fc.nat(12).map(String), { maxLength: 8 }),
    missed: fc.nat(2),
    acknowledged: fc.nat(8),
    size: fc.integer({ min: 1, max: 8 }),
  })
  .map(({ online, missed, acknowledged, size }): DeliveryNews[] => {
    const delivered = online.slice(missed);
    const parts: DeliveryNews[] = [news({ missed: online.slice(0, missed) })];
    for (let from = 0; from < online.length; from += size)
      parts.push(news({ online: online.slice(from, from + size) }));
    parts.push(news({ isPlayed: true }));
    for (const uid of delivered.slice(0, acknowledged)) parts.push(news({ acknowledged: [uid], isPlayed: true }));
    return [...parts, news({ isPlayed: true, isDone: true })];
  });

describe("a tally", () => {
  test("never counts too many, whatever is lost and in whichever order nodes tell; if nothing is lost, it counts all", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(story, fc.boolean(), fc.nat(12)), { minLength: 1, maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        (stories, turns) => {
          const whole = stories.map(([parts]) => parts.flatMap((part) => [part]));
          const users = (of: (part: DeliveryNews) => readonly string[]) =>
            new Set(whole.flatMap((parts) => parts.flatMap((part) => of(part))));
          const online = users((part) => part.online);
          const delivered = new Set(
            whole.flatMap((parts) => {
              const missed = new Set(parts.flatMap((part) => part.missed));
              return parts.flatMap((part) => part.online).filter((uid) => !missed.has(uid));
            }),
          );
          const truth = {
            online: online.size,
            delivered: delivered.size,
            acknowledged: users((part) => part.acknowledged).size,
          };
          const left: Told[] = stories.map(([parts, isWhole, kept], node) => ({
            node: String(node),
            parts: isWhole ? [...parts] : parts.slice(0, Math.min(kept, parts.length - 1)),
          }));
          const isWhole = stories.every(([, isOne]) => isOne);
          const tally = createTally(stories.map((_, node) => String(node)));
          while (left.some(({ parts }) => parts.length > 0)) {
            const telling = left.filter(({ parts }) => parts.length > 0);
            const one = telling[(turns.next().value ?? 0) % telling.length];
            const part = one?.parts.shift();
            if (one === undefined || part === undefined) break;
            tally.take(one.node, part);
            const counted = tally.counts();
            for (const name of ["online", "delivered", "acknowledged"] as const)
              expect(counted[name]).toBeLessThanOrEqual(truth[name]);
            expect(counted.acknowledged).toBeLessThanOrEqual(counted.online);
            if (left.every(({ parts }) => parts.length === 0) && isWhole) expect(counted).toEqual(truth);
          }
          expect(tally.isDone).toBe(isWhole);
        },
      ),
      { numRuns: 500 },
    );
  });

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
