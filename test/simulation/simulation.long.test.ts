import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import type { Hearing } from "./models/client.ts";
import { product } from "./product.ts";
import { expectWhole, searchTimeoutMs } from "./search.ts";
import { type Report, simulate } from "./world.ts";

const seeds = Number(process.env.SIMULATION_SEEDS ?? 3_000);

describe.skipIf(process.env.TEST_SEED !== undefined)("the simulation", () => {
  test(
    "finds nothing in many more worlds",
    () => expectWhole(createRandom().seed, seeds, { product }),
    searchTimeoutMs,
  );

  test(
    "every kind of trouble occurs in some world",
    () => {
      const worlds = Array.from({ length: 1_000 }, (_, index) => simulate(index + 1, { product }));
      const hearings = worlds.flatMap((world) => world.hearings);
      const count = (isWanted: (hearing: Hearing) => boolean) => hearings.filter(isWanted).length;
      const replayed = ({ head = 0, heard }: Hearing) => heard.filter(({ event }) => event.offset <= head).length;
      for (const code of [1006, 1011, 1012, 4401, 4403])
        expect(count(({ ended }) => ended?.code === code && !ended.byClient)).toBeGreaterThan(17);
      expect(count(({ answer }) => answer?.recovered === false)).toBeGreaterThan(167);
      expect(count((hearing) => replayed(hearing) > 0)).toBeGreaterThan(167);
      expect(count((hearing) => replayed(hearing) > 50)).toBeGreaterThan(3);
      expect(count(({ ended, heard }) => ended === undefined && heard.length > 10)).toBeGreaterThan(167);
      const hears = (kind: string) => count(({ heard }) => heard.some(({ event }) => event.kind === kind));
      expect([hears("edit"), hears("recall")].map((times) => times > 500)).toEqual([true, true]);
      const isRecalled = ({ head = 0, heard }: Hearing) =>
        heard.some(({ event }) => event.kind === "recall" && event.offset <= head);
      expect(count(isRecalled)).toBeGreaterThan(100);
      const worldsWith = (isWanted: (figures: Report["figures"]) => boolean) =>
        worlds.filter(({ figures }) => isWanted(figures)).length;
      for (const isWanted of [1, 2].map(
        (wanted) =>
          ({ organizations }: Report["figures"]) =>
            organizations === wanted,
      ))
        expect(worldsWith(isWanted)).toBeGreaterThan(300);
      expect(worldsWith(({ organizations }) => organizations > 2)).toBeGreaterThan(100);
      expect(worldsWith(({ waits }) => waits > 10)).toBeGreaterThan(100);
      expect(worldsWith(({ partWrites }) => partWrites > 10)).toBeGreaterThan(100);
    },
    searchTimeoutMs,
  );
});
