import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createRandom } from "../../../test/harness/random.ts";
import { type AudienceVersion, createAudience } from "./audience.ts";

const begin = Date.UTC(2026, 10, 20);
const livesMs = 6 * 3600 * 1000;

/** Collects what the store would keep, and resolves a version to its users. */
function createArchive() {
  const kept = new Map<string, NonNullable<AudienceVersion["kept"]>>();
  function usersOf(id: string): Set<string> {
    const version = kept.get(id);
    if (version === undefined) throw new Error("an audience builds on one that was not kept");
    const users = version.parent === undefined ? new Set<string>() : usersOf(version.parent);
    for (const uid of version.removed) users.delete(uid);
    for (const uid of version.added) users.add(uid);
    return users;
  }
  return {
    names: () => [...kept.values()].reduce((sum, { added, removed }) => sum + added.length + removed.length, 0),
    size: () => kept.size,
    keep({ listed, kept: version }: AudienceVersion): string[] {
      if (version !== undefined) kept.set(version.id, version);
      return (listed ?? [...usersOf(version?.id ?? "")]).toSorted();
    },
  };
}

describe("an audience", () => {
  test("lists in each version the users present at the time, whoever joined and left, and however often", () => {
    const uid = fc.integer({ min: 0, max: 40 }).map((index) => (index === 0 ? "__proto__" : `u${index}`));
    const step = fc.record({ uid, isComing: fc.boolean(), isLooked: fc.boolean(), later: fc.constantFrom(0, 1, 1e7) });
    let looks = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300, size: "max" }), (steps) => {
        const audience = createAudience("o", "c");
        const archive = createArchive();
        const model: string[] = [];
        let now = begin;
        let epoch = 0;
        for (const { uid, isComing, isLooked, later } of steps) {
          now += later;
          if (later === 1) epoch++;
          const place = model.indexOf(uid);
          if (isComing) {
            model.push(uid);
            audience.add(uid);
          } else if (place !== -1) {
            model.splice(place, 1);
            audience.remove(uid);
          }
          expect(audience.connections).toBe(model.length);
          if (!isLooked) continue;
          looks++;
          expect(archive.keep(audience.version(now, epoch, livesMs))).toEqual([...new Set(model)].toSorted());
        }
      }),
    );
    expect(looks).toBeGreaterThan(2_000);
  });

  test("is the same version until somebody joins or leaves for good", () => {
    const audience = createAudience("o", "c");
    for (let index = 0; index < 50; index++) audience.add(`u${index}`);
    const first = audience.version(begin, 0, livesMs);
    audience.add("u1");
    audience.remove("u2");
    audience.add("u2");
    expect(audience.version(begin + 1, 0, livesMs)).toBe(first);
    audience.remove("u2");
    expect(audience.version(begin + 2, 0, livesMs)).not.toBe(first);
  });

  test("costs a few names per change in total, not all of its users for each", () => {
    const audience = createAudience("o", "c");
    const archive = createArchive();
    const [users, changes] = [1_000, 5_000];
    for (let index = 0; index < users; index++) audience.add(`u${index}`);
    for (let change = 0; change < changes; change++) {
      audience.remove(`u${change % users}`);
      archive.keep(audience.version(begin, 0, livesMs));
      audience.add(`u${change % users}`);
      archive.keep(audience.version(begin, 0, livesMs));
    }
    expect(archive.size()).toBe(changes * 2);
    expect(archive.names()).toBeLessThan(changes * 2 * 3 + users);
  });

  test("knows who is here with inactive connections only, whatever comes, goes and changes", () => {
    const random = createRandom();
    const audience = createAudience("o", "c");
    const connections: { uid: string; isInactive: boolean }[] = [];
    for (let step = 0; step < 5_000; step++) {
      const one = connections[random.integer(0, connections.length)];
      if (one === undefined || connections.length < 5) {
        const added = { uid: `u${random.integer(0, 7)}`, isInactive: random.integer(0, 2) === 0 };
        connections.push(added);
        audience.add(added.uid, added.isInactive);
      } else if (random.integer(0, 2) === 0) {
        connections.splice(connections.indexOf(one), 1);
        audience.remove(one.uid, one.isInactive);
      } else {
        one.isInactive = !one.isInactive;
        audience.setInactive(one.uid, one.isInactive);
      }
      const active = new Set(connections.filter(({ isInactive }) => !isInactive).map(({ uid }) => uid));
      const away = new Set(connections.map(({ uid }) => uid).filter((uid) => !active.has(uid)));
      expect([...(audience.away?.uids() ?? [])].toSorted()).toEqual([...away].toSorted());
      expect(audience.away === undefined).toBe(away.size === 0);
      expect(audience.connections).toBe(connections.length);
    }
  });

  test("begins a new chain after six hours, and when earlier versions were lost", () => {
    const audience = createAudience("o", "c");
    for (let index = 0; index < 50; index++) audience.add(`u${index}`);
    const parentAt = (now: number, epoch: number) => audience.version(now, epoch, livesMs).kept?.parent;
    const first = audience.version(begin, 0, livesMs).kept?.id;
    audience.add("later");
    expect(parentAt(begin + 1, 0)).toBe(first);
    expect(parentAt(begin + 1, 1)).toBeUndefined();
    audience.remove("later");
    expect(parentAt(begin + livesMs, 1)).toBeString();
    expect(parentAt(begin + livesMs + 1, 1)).toBeUndefined();
  });
});
