import { describe, expect, test } from "bun:test";
import { createRandom } from "../harness/random.ts";
import type { Hearing } from "./models/client.ts";
import { product } from "./product.ts";
import { expectWhole, searchTimeoutMs } from "./search.ts";
import { simulate } from "./world.ts";

const seeds = Number(process.env.SIMULATION_SEEDS ?? 1_000);

describe.skipIf(process.env.TEST_SEED !== undefined)("the simulation with inboxes", () => {
  test(
    "finds nothing in many more worlds",
    () => expectWhole(createRandom().seed, seeds, { product, hasInboxes: true }),
    searchTimeoutMs,
  );

  test(
    "whatever can happen to a kept system message happens in some world",
    () => {
      const worlds = Array.from({ length: 500 }, (_, index) => simulate(index + 1, { product, hasInboxes: true }));
      const hearings = worlds.flatMap((world) => world.hearings);
      const count = (isWanted: (hearing: Hearing) => boolean) => hearings.filter(isWanted).length;
      const replays = (kind: string) =>
        count(({ head = 0, heard }) => heard.some(({ event }) => event.kind === kind && event.offset <= head));
      const plays = (kind: string) =>
        count(({ head = 0, heard }) => heard.some(({ event }) => event.kind === kind && event.offset > head));
      const expiring = (kind: string) =>
        count(({ heard }) => heard.some(({ event }) => event.kind === kind && event.expiresAt !== undefined));
      expect(replays("system")).toBeGreaterThan(300);
      expect(replays("system_recall")).toBeGreaterThan(100);
      expect(plays("system_recall")).toBeGreaterThan(300);
      expect(plays("system_read")).toBeGreaterThan(300);
      expect(count(({ answer }) => (answer?.unread_system_messages_count ?? 0) > 3)).toBeGreaterThan(300);
      expect(["message", "system"].map((kind) => expiring(kind) > 300)).toEqual([true, true]);
      expect(expiring("edit")).toBeGreaterThan(30);
      expect(worlds.reduce((sum, { figures }) => sum + figures.listings, 0)).toBeGreaterThan(1_000);
    },
    searchTimeoutMs,
  );
});
