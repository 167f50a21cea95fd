import { describe, expect, test } from "bun:test";
import { createWebhookPace } from "./webhook-pace.ts";

describe("the pace of webhooks", () => {
  test("lets an organization that is alone, or has no webhooks, go at once", () => {
    const pace = createWebhookPace(() => 0);
    pace.note("alone", 20);
    expect(pace.turnOf("alone")).toBeUndefined();
    expect(pace.turnOf("another")).toBeUndefined();
    expect(pace.of("another")).toBe(0);
  });

  test("lets sends with webhooks go as 50 rows in 10 ms on a shared node, in order", async () => {
    const pace = createWebhookPace(() => 0);
    void pace.turnOf("other");
    void pace.turnOf("busy");
    pace.note("busy", 20);
    const gone: number[] = [];
    const turns = Array.from({ length: 12 }, (_, index) => pace.turnOf("busy")?.then(() => gone.push(index)));
    pace.note("busy", 0); // what comes now waits behind those
    turns.push(pace.turnOf("busy")?.then(() => gone.push(12)));
    await Bun.sleep(0);
    expect(gone).toEqual([0, 1, 2]);
    expect(pace.turnOf("other")).toBeUndefined();
    await Promise.all(turns);
    expect(gone).toEqual(Array.from({ length: 13 }, (_, index) => index));
    expect(pace.turnOf("busy")).toBeUndefined();
  });
});
