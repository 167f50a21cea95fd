import { describe, expect, test } from "bun:test";
import { nodeExample } from "../../contract/documents/examples.ts";
import { createLoneRegistry } from "../../store/nodes/nodes.ts";
import type { NodeRegistry } from "../../store/ports.ts";
import { createNodes } from "./nodes.ts";

const { figures } = nodeExample;

function createNode(registry: NodeRegistry, id: string) {
  return createNodes({
    id,
    name: `name of ${id}`,
    url: () => `http://${id}`,
    adminUrl: () => undefined,
    activity: () => ({
      connections: 3,
      organizations: 2,
      lag: { events: 1, checkedAt: 2_000 },
      figures,
      refusals: { keys: 0, tokens: 0, rate_limited: 0 },
      problems: [],
    }),
    registry,
    clock: { now: () => 1_000 },
  });
}

describe("nodes", () => {
  test("that share a registry are live while they beat; one that misses three beats is silent until it beats again", async () => {
    const registry = createLoneRegistry();
    const [one, two] = [createNode(registry, "1"), createNode(registry, "2")];
    await one.beat();
    await two.beat();
    for (let beat = 1; beat <= 3; beat++) {
      await one.beat();
      expect(await one.live()).toEqual(["1", "2"]);
    }
    await one.beat();
    expect(await one.live()).toEqual(["1"]);
    expect((await one.list()).items.map(({ id, state }) => [id, state])).toEqual([
      ["1", "live"],
      ["2", "silent"],
    ]);
    expect(one.heard).toEqual(["1"]); // as of the last beat
    expect(await two.live()).toEqual(["2", "1"]);
    await two.beat();
    expect(two.heard).toEqual(["2", "1"]);
    expect(await one.live()).toEqual(["1", "2"]);
  });

  test("are forgotten after thirty missed beats, and known again once they beat", async () => {
    const registry = createLoneRegistry();
    const [one, two] = [createNode(registry, "1"), createNode(registry, "2")];
    await two.beat();
    for (let beat = 0; beat < 30; beat++) await one.beat();
    expect((await one.list()).items).toHaveLength(2);
    await one.beat();
    expect((await one.list()).items).toHaveLength(1);
    await two.beat();
    expect(await one.live()).toEqual(["1", "2"]);
  });

  test("count as live from their first beat, before anybody has looked, and no longer once they have left", async () => {
    const registry = createLoneRegistry();
    const [one, two] = [createNode(registry, "1"), createNode(registry, "2")];
    expect(await one.live()).toEqual(["1"]);
    await two.beat();
    expect(await one.live()).toEqual(["1", "2"]);
    await two.leave();
    await two.beat();
    expect(await one.live()).toEqual(["1"]);
  });

  test("miss no beats while the registry is away, as nobody can beat then", async () => {
    const registry = createLoneRegistry();
    const [one, two] = [
      createNode({ ...registry, beat: () => Promise.reject(new Error("away")) }, "1"),
      createNode(registry, "2"),
    ];
    await two.beat();
    for (let beat = 0; beat < 9; beat++) await expect(one.beat()).rejects.toThrow("away");
    expect(await one.live()).toEqual(["1", "2"]);
  });

  test("beat once if asked to during a beat: delayed beats say nothing about other nodes", async () => {
    const registry = createLoneRegistry();
    const one = createNode(registry, "1");
    await Promise.all([one.beat(), one.beat(), one.beat()]);
    expect((await registry.list()).map(({ beat }) => beat)).toEqual([1]);
    await one.beat();
    expect((await registry.list()).map(({ beat }) => beat)).toEqual([2]);
  });

  test("know which live nodes do not sign their bus messages", async () => {
    const registry = createLoneRegistry();
    const [one, two] = [createNode(registry, "1"), createNode(registry, "2")];
    await registry.beat("old", JSON.stringify({ id: "old" }));
    expect([...one.unsigning]).toEqual([]);
    await two.beat();
    await one.beat();
    expect([...one.unsigning]).toEqual(["old"]);
    for (let beat = 0; beat < 3; beat++) await one.beat();
    expect([...one.unsigning]).toEqual([]);
    await registry.beat("old", JSON.stringify({ id: "old", signs: true }));
    await one.beat();
    expect([...one.unsigning]).toEqual([]);
  });

  test("show what a later version reports as far as they know it", async () => {
    const registry = createLoneRegistry();
    const one = createNode(registry, "1");
    await one.beat();
    const [own] = (await one.list()).items;
    const { state: _, ...status } = own ?? nodeExample;
    const later = { ...status, id: "2", news: 1, figures: { ...figures, news: 1 }, problems: [{ kind: "news" }] };
    await registry.beat("2", JSON.stringify(later));
    await one.beat();
    const { items, history } = await one.list({ history: true });
    expect(items[1]).toEqual({ ...status, id: "2", problems: undefined, figures, state: "live" });
    expect(history).toMatchObject({ read_at: "1970-01-01T00:00:01.000Z", samples: [{ nodes: 1, connections: 3 }] });
  });

  test("report their identity and activity", async () => {
    const one = createNode(createLoneRegistry(), "1");
    await one.beat();
    expect((await one.list()).items).toEqual([
      {
        id: "1",
        name: "name of 1",
        version: expect.any(String),
        url: "http://1",
        started_at: "1970-01-01T00:00:01.000Z",
        reported_at: "1970-01-01T00:00:01.000Z",
        connections: 3,
        organizations: 2,
        lag_events: 1,
        lag_checked_at: "1970-01-01T00:00:02.000Z",
        refusals: { keys: 0, tokens: 0, rate_limited: 0 },
        problems: [],
        figures,
        state: "live",
      },
    ]);
  });
});
