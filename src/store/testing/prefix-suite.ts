import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { PrefixPlace } from "../ports.ts";
import { type OpenDatabase, useStore } from "./log-suite.ts";

const byBytes = (left: string, right: string) => Buffer.compare(Buffer.from(left), Buffer.from(right));

/** Whether two characters count as the same: they are, or they are each other's lower and upper case. */
const isFormOf = (one: string, other: string) =>
  one === other ||
  (one.toLowerCase() === other && other.toUpperCase() === one) ||
  (one.toUpperCase() === other && other.toLowerCase() === one);

/** Tests the reads of users by the beginning of ids and names, for every engine. */
export function describePrefixes(engine: string, open: OpenDatabase): void {
  describe(`users on ${engine}`, () => {
    const context = useStore(open);

    const createOrganization = () => context.createOrganization();

    test("are found by the beginning of their ids and names, whatever the case and the organization beside", async () => {
      const { users } = context.store;
      const [org, other] = [await createOrganization(), await createOrganization()];
      await users.put(other, "anna", undefined, 1);
      for (const uid of ["anna", "ANNE", "Anders", "éva", "Éric", "a_n"]) await users.put(org, uid, undefined, 1);
      await users.put(org, "zed", "ÀnnÁ", 1);
      const find = async (prefix: string) => {
        const { entities, next } = await users.find(org, { prefix, after: undefined, limit: 10 });
        expect(next).toBeUndefined();
        return entities.map(({ id }) => id);
      };
      expect(await find("AN")).toEqual(["ANNE", "Anders", "anna"]);
      expect(await find("É")).toEqual(["Éric", "éva"]);
      expect(await find("ànná")).toEqual(["zed"]);
      expect(await find("a_")).toEqual(["a_n"]);
      await users.remove(org, "anna", 2);
      expect(await find("anna")).toEqual([]);
    });

    test("are found like a filter finds them that looks at each, in pages of any size", async () => {
      const { users } = context.store;
      const org = await createOrganization();
      const text = fc.array(fc.constantFrom(..."aAbBzZéÉßẞİiIıſsSKkKσςΣǆǅǄ_%-.😀\u{10ffff}"), {
        minLength: 1,
        maxLength: 4,
      });
      const everyone = new Map<string, string | null>();
      for (const [id, name] of fc.sample(fc.tuple(text, fc.option(text)), 300))
        everyone.set(id.join(""), name?.join("") ?? null);
      await Promise.all(Array.from(everyone, ([id, name]) => users.put(org, id, name, 1)));
      const naive = (prefix: readonly string[]) => {
        const isFound = (given: string | null) => {
          const characters = [...(given ?? "")];
          return prefix.every((one, index) => isFormOf(one, characters[index] ?? ""));
        };
        const byId = [...everyone.keys()].filter(isFound).sort(byBytes);
        const byName = [...everyone].filter(([id, name]) => isFound(name) && !isFound(id));
        byName.sort(([id, name], [otherId, otherName]) => byBytes(name ?? "", otherName ?? "") || byBytes(id, otherId));
        return [...byId, ...byName.map(([id]) => id)];
      };
      const property = fc.asyncProperty(text, fc.integer({ min: 1, max: 40 }), async (prefix, limit) => {
        const found: string[] = [];
        let after: PrefixPlace | undefined;
        do {
          const { entities, next } = await users.find(org, { prefix: prefix.join(""), after, limit });
          expect(entities.length).toBeLessThanOrEqual(limit);
          found.push(...entities.map(({ id }) => id));
          after = next;
        } while (after !== undefined);
        expect(found).toEqual(naive(prefix));
      });
      await fc.assert(property, { numRuns: 60 });
    });
  });
}
