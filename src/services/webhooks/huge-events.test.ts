import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../../test/harness/deadline.ts";
import { mostOfLarge, startWebhookNode } from "../../../test/harness/servers/webhook-node.ts";
import type { NewDelivery } from "../../contract/log/deliveries.ts";
import type { Unreached } from "../../contract/webhooks/payloads.ts";
import { messageOf } from "../../store/testing/log-suite.ts";

const users = mostOfLarge + 400;
// Long ones, so that few fit a part.
const uids = Array.from({ length: users }, (_, index) => `user-${String(index).padStart(5, "0")}-${"x".repeat(80)}`);
const holdMs = 60_000;

describe("an event with very many recipients", () => {
  let node: Awaited<ReturnType<typeof startWebhookNode>>;

  beforeEach(async () => {
    node = await startWebhookNode();
    await node.store.conversations.put("o", "huge", { participants: uids }, node.state.now);
    const message = messageOf("o", { cid: "huge", sender: uids[0] ?? "", createdAt: node.state.now });
    expect(await node.store.sends.append(message)).toMatchObject({ outcome: "stored" });
    node.state.now += 1_000;
  });
  afterEach(async () => {
    await node.close();
  });

  const dueLater = () => node.store.unreached.due(Number.MAX_SAFE_INTEGER, 10);
  const isOver = () => eventually(async () => (await dueLater()).length === 0 || undefined, "everyone to be told of");

  /** Whom the deliveries tell of, in the order of their parts, and these. */
  async function told() {
    const parts = (await node.deliveries()).toSorted((one, other) => one.part - other.part);
    const named = parts.flatMap(({ unreached }): Unreached[] => JSON.parse(unreached));
    return { parts, uids: named.map(({ uid }) => uid) };
  }

  async function expectAllOnce(): Promise<void> {
    const { parts, uids: named } = await told();
    expect(named).toEqual(uids);
    expect(parts.length).toBeGreaterThan(16);
    expect(parts.map(({ part }) => part)).toEqual(parts.map((_, index) => index + 1));
    expect(new Set(parts.map(({ parts: all }) => all))).toEqual(new Set([parts.length]));
  }

  test("is told in parts of several commits, while others are settled", async () => {
    expect(await node.settle()).toBe("settled");
    await node.send();
    node.state.now += 1_000;
    expect(await node.settle()).toBe("settled");
    expect((await node.deliveries()).filter(({ parts }) => parts === 1)).toHaveLength(1);
    await isOver();
    const small = (await node.deliveries()).find(({ parts }) => parts === 1);
    expect(JSON.parse(small?.unreached ?? "")).toHaveLength(2);
  });

  test("is told once by two nodes that find it at the same time", async () => {
    const other = node.addNode();
    const outcomes = await Promise.all([node.settle(), other.settle()]);
    expect(outcomes.toSorted()).toEqual(["late", "settled"]);
    await isOver();
    await expectAllOnce();
  });

  test("is told to its end by another node if one dies, which forgets nobody and tells of nobody twice", async () => {
    let commits = 0;
    const dying = node.addNode({
      async settleParts(...parts) {
        if (++commits > 3) throw new Error("the node is dead");
        return await node.store.webhookDeliveries.settleParts(...parts);
      },
    });
    expect(await dying.settle()).toBe("settled");
    await eventually(() => dying.errors.length > 0 || undefined, "the node to die");
    const before = await told();
    expect(before.uids.length).toBeGreaterThan(0);
    expect(before.uids.length).toBeLessThan(users);
    node.state.now += holdMs - 2_000;
    expect(await node.settle()).toBe("none");
    node.state.now += 3_000;
    expect(await node.settle()).toBe("settled");
    await isOver();
    await expectAllOnce();
  });

  test("is left to another node at once by one that stops", async () => {
    const stopping = node.addNode();
    expect(await stopping.settle()).toBe("settled");
    await stopping.hugeEvents.stop();
    expect((await told()).uids.length).toBeLessThan(users);
    expect(await stopping.settle()).toBe("late");
    expect(await node.settle()).toBe("settled");
    await isOver();
    await expectAllOnce();
  });

  test("names nobody who has it, or who has acknowledged it", async () => {
    const [due] = await dueLater();
    if (due === undefined) throw new Error("the event is due");
    const at = { org: "o", cid: "huge", offset: due.offset };
    const delivery = { id: "d", ...at, kind: "delivery" as const, connections: 1, audience: undefined };
    const have = uids.filter((_, index) => index % 3 === 0);
    await node.store.deliveries.record({
      audiences: [],
      deliveries: [{ ...delivery, uids: have, plays: [[due.offset, 1, 1]] }],
    });
    await node.store.deliveries.acknowledge(
      uids.filter((_, index) => index % 3 === 1).map((uid) => ({ org: "o", uid, id: due.eventId, at: 1 })),
    );
    await node.settle();
    await isOver();
    expect((await told()).uids).toEqual(uids.filter((_, index) => index % 3 === 2));
  });

  test("names who was away when it came, and on no node active", async () => {
    const [due] = await dueLater();
    if (due === undefined) throw new Error("the event is due");
    const row = (kind: "delivery" | "away", id: string, some: string[]): NewDelivery => ({
      ...{ id, org: "o", cid: "huge", kind, connections: 1, audience: undefined, uids: some },
      plays: [[due.offset, 1, 1]],
    });
    const ofRest = (rest: number) => uids.filter((_, index) => index % 3 === rest);
    const deliveries = [
      row("delivery", "d1", uids),
      row("away", "a1", [...ofRest(0), ...ofRest(1)]),
      row("delivery", "d2", ofRest(1)),
    ];
    await node.store.deliveries.record({ audiences: [], deliveries });
    await node.settle();
    await isOver();
    const { parts, uids: named } = await told();
    expect(named).toEqual(ofRest(0));
    const [first] = JSON.parse(parts[0]?.unreached ?? "[]");
    expect(first).toEqual({ uid: uids[0], reason: "unacknowledged" });
  });
});
