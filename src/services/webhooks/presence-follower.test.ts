import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { migrateStore } from "../../store/migrate.ts";
import type { Driver } from "../../store/sql/driver.ts";
import { openSqlite } from "../../store/sqlite/sqlite.ts";
import { createTestStore } from "../../store/testing/test-store.ts";
import type { StoredWebhook } from "../../store/webhooks/ports.ts";
import { createPresenceFollower } from "./presence-follower.ts";
import { presencePartsOf } from "./presence-parts.ts";

const waitMs = 1_000;

describe("a node that follows presence for a webhook", () => {
  let folder: string;
  let driver: Driver;
  let store: ReturnType<typeof createTestStore>;
  let hook: StoredWebhook;
  let now: number;
  let connected: string[];
  let looks: number;
  let listed: string | undefined; // the version that is listed, if it is not that of all who are connected

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "herald-presence-"));
    driver = openSqlite(join(folder, "herald.db"));
    await migrateStore(driver);
    store = createTestStore(driver);
    [now, connected, looks, listed] = [1_000_000, [], 0, undefined];
    await store.organizations.put("o", undefined, now);
    const wish = { url: "https://example.org/", waitMs, until: "delivered", secret: "s", now, most: 1 } as const;
    const put = await store.webhooks.put("o", { id: "counter", ref: "w", events: ["users.presence"], ...wish });
    if (put.outcome !== "done") throw new Error(put.outcome);
    hook = put.webhook;
  });
  afterEach(async () => {
    await driver.close();
    rmSync(folder, { recursive: true });
  });

  const lease = { now: () => now, until: () => now + 15_000, isOver: () => false };

  /** A node that takes the webhook over, unless another one holds it. */
  async function take(holder: string) {
    const place = { org: "o", webhook: hook.ref };
    const seq = await store.webhookPresence.hold(place, { holder, now, until: lease.until() });
    if (seq === undefined) return undefined;
    const presence = {
      versionOf: async () => connected.join(),
      async everyone() {
        looks++;
        return { uids: new Set(connected), version: listed ?? connected.join() };
      },
    };
    const follower = createPresenceFollower({ ...store, holder, presence }, hook, seq);
    return async (after = 0) => {
      now += after;
      await follower.look(now);
      return await follower.tell(waitMs, lease);
    };
  }

  async function taken(holder: string) {
    const step = await take(holder);
    if (step === undefined) throw new Error(`${holder} may not take it`);
    return step;
  }

  const toldSoFar = async () => {
    const page = { state: undefined, before: undefined, limit: 100 };
    const deliveries = await store.webhookDeliveries.list("o", hook.ref, page);
    return deliveries.map(({ notice }) => notice?.data).toSorted((one, other) => seqIn(one) - seqIn(other));
  };
  const seqIn = (data: object | undefined) => Number(data !== undefined && "seq" in data ? data.seq : 0);

  test("tells who comes at once, and who goes after the wait, unless they come back before", async () => {
    const step = await taken("one");
    connected = ["a", "b"];
    expect(await step()).toBe(1);
    connected = ["b"];
    expect(await step()).toBe(0);
    expect(await step(waitMs - 1)).toBe(0);
    connected = ["a", "b"];
    expect(await step()).toBe(0);
    connected = ["b", "c"];
    expect(await step(5_000)).toBe(1);
    expect(await step(waitMs)).toBe(1);
    expect(await toldSoFar()).toEqual([
      { online: ["a", "b"], offline: [], seq: 1 },
      { online: ["c"], offline: [], seq: 2 },
      { online: [], offline: ["a"], seq: 3 },
    ]);
    expect([...(await store.webhookPresence.told({ org: "o", webhook: hook.ref }))]).toEqual(["b", "c"]);
  });

  test("does not list who is online while nobody comes or goes", async () => {
    const step = await taken("one");
    connected = ["a"];
    await step();
    for (let count = 0; count < 5; count++) await step(1_000);
    expect(looks).toBe(1);
  });

  test("lists who is online again if a node was missing from the list that had told its version", async () => {
    const step = await taken("one");
    connected = ["a"];
    listed = "the version of fewer nodes";
    await step();
    listed = undefined;
    await step();
    await step();
    expect(looks).toBe(2);
  });

  test("is replaced once its lease has ended, and then tells nothing more: there is one sequence", async () => {
    const one = await taken("one");
    connected = ["a", "b"];
    expect(await one()).toBe(1);
    expect(await take("two")).toBeUndefined();
    now += 15_001;
    const two = await taken("two");
    connected = ["b", "c"];
    expect(await two()).toBe(1);
    connected = ["d"];
    expect(await one()).toBeUndefined();
    expect(await two()).toBe(1);
    expect(await two(waitMs)).toBe(1);
    expect(await toldSoFar()).toEqual([
      { online: ["a", "b"], offline: [], seq: 1 },
      { online: ["c"], offline: [], seq: 2 },
      { online: ["d"], offline: [], seq: 3 },
      { online: [], offline: ["a", "b", "c"], seq: 4 },
    ]);
  });

  test("gives way at once if the other node stops, and goes on after what was told", async () => {
    const one = await taken("one");
    expect(await one()).toBe(1);
    await store.webhookPresence.release("one");
    const two = await taken("two");
    expect(await two()).toBe(0);
    expect(await toldSoFar()).toEqual([{ online: [], offline: [], seq: 1 }]);
  });
});

test("parts name everybody once, in order, and are under 20 kB with their envelope", () => {
  const uid = fc.string({ minLength: 1, maxLength: 128, unit: "grapheme" });
  const uids = fc.array(uid, { maxLength: 300, size: "max" });
  fc.assert(
    fc.property(uids, uids, (online, offline) => {
      const parts = [...presencePartsOf({ online, offline })];
      expect(parts.flatMap((part) => part.online)).toEqual(online);
      expect(parts.flatMap((part) => part.offline)).toEqual(offline);
      const sizes = parts.map((part) => Buffer.byteLength(JSON.stringify(part)));
      expect(Math.max(0, ...sizes)).toBeLessThan(19_100);
      // No part could have taken the first user of the next one.
      expect(sizes.slice(0, -1).every((size) => size > 19_000 - 4 * 128 * 6)).toBe(true);
    }),
    { numRuns: 50 },
  );
});
