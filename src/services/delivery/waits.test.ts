import { describe, expect, test } from "bun:test";
import type { DeliveryNews, WatchQuestion } from "../../bus/bus.ts";
import { createWaits } from "./waits.ts";

type Hear = (node: string, news: DeliveryNews) => void;

const quiet = { online: [], missed: [], acknowledged: [], isPlayed: false, isDone: false };
const never = new AbortController().signal;
const wanted = { event: "e", ack: "e", seconds: 30, signal: never };

/** Waits on a bus that a test speaks for, with two nodes. */
function prepare(most = { ofOrganization: 2, ofNode: 3, uids: 10 }) {
  const asked: { question: WatchQuestion; hear: Hear; isEnded: boolean }[] = [];
  const waits = createWaits({
    bus: {
      watch(question, hear) {
        const one = { question, hear, isEnded: false };
        asked.push(one);
        return () => {
          one.isEnded = true;
        };
      },
    },
    nodes: () => ["a", "b"],
    most,
  });
  return { waits, asked };
}

describe("a wait", () => {
  test("ends when every node has nothing to await, and then the watch ends", async () => {
    const { waits, asked } = prepare();
    const wait = waits.open({ ...wanted, org: "o" });
    expect(asked[0]?.question).toEqual({ org: "o", event: "e", ack: "e", forMs: 30_000 });
    asked[0]?.hear("a", { ...quiet, isDone: true });
    expect(asked[0]?.isEnded).toBe(false);
    asked[0]?.hear("b", { ...quiet, online: ["bob"], isPlayed: true, isDone: true });
    expect(await wait?.counts).toEqual({ online: 1, delivered: 1, acknowledged: 0 });
    expect([asked[0]?.isEnded, waits.size]).toEqual([true, 0]);
  });

  test("ends with the counts so far when its caller hangs up, when it is ended, and when the node stops", async () => {
    const { waits, asked } = prepare();
    const caller = new AbortController();
    const open = [
      waits.open({ ...wanted, org: "o", signal: caller.signal }),
      waits.open({ ...wanted, org: "o" }),
      waits.open({ ...wanted, org: "p" }),
    ];
    for (const { hear } of asked) hear("a", { ...quiet, online: ["bob"], isPlayed: true, acknowledged: ["bob"] });
    caller.abort();
    open[1]?.end();
    waits.stop();
    for (const wait of open) expect(await wait?.counts).toEqual({ online: 1, delivered: 1, acknowledged: 1 });
    expect([waits.size, asked.every(({ isEnded }) => isEnded)]).toEqual([0, true]);
    expect(waits.open({ ...wanted, org: "o" })).toBeUndefined();
  });

  test("hears the last news of this node as it ends", async () => {
    const asked: Hear[] = [];
    const waits = createWaits({
      bus: {
        watch(_, hear) {
          asked.push(hear);
          return () => hear("a", { ...quiet, acknowledged: ["bob"] });
        },
      },
      nodes: () => ["a"],
    });
    const wait = waits.open({ ...wanted, org: "o" });
    asked[0]?.("a", { ...quiet, online: ["bob", "cat"], isPlayed: true });
    wait?.end();
    expect(await wait?.counts).toEqual({ online: 2, delivered: 2, acknowledged: 1 });
  });

  test("no longer waits for a node that has gone, and counts what it told", async () => {
    const live = ["a", "b"];
    const asked: Hear[] = [];
    const waits = createWaits({
      bus: {
        watch(_, hear) {
          asked.push(hear);
          return () => undefined;
        },
      },
      nodes: () => [...live],
    });
    waits.lookAtNodes();
    const wait = waits.open({ ...wanted, org: "o" });
    asked[0]?.("b", { ...quiet, online: ["bob"], isPlayed: true });
    asked[0]?.("new", { ...quiet, online: ["cat"], isPlayed: true }); // not heard of yet
    asked[0]?.("a", { ...quiet, isDone: true });
    waits.lookAtNodes();
    expect(waits.size).toBe(1);
    live.pop();
    waits.lookAtNodes();
    expect(waits.size).toBe(1);
    asked[0]?.("new", { ...quiet, isPlayed: true, isDone: true });
    expect(await wait?.counts).toEqual({ online: 2, delivered: 2, acknowledged: 0 });
  });

  test("is not begun beyond the limit of its organization or of the node; each place is given back", () => {
    const { waits } = prepare();
    const first = waits.open({ ...wanted, org: "o" });
    expect(waits.open({ ...wanted, org: "o" })).toBeDefined();
    expect(waits.open({ ...wanted, org: "o" })).toBeUndefined();
    expect(waits.open({ ...wanted, org: "p" })).toBeDefined();
    expect(waits.open({ ...wanted, org: "p" })).toBeUndefined();
    first?.end();
    first?.end();
    expect(waits.open({ ...wanted, org: "o" })).toBeDefined();
    expect(waits.open({ ...wanted, org: "p" })).toBeUndefined();
  });

  test("ends without counts if there are too many users to keep apart, and leaves room for the others", async () => {
    const { waits, asked } = prepare();
    const uids = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`);
    const one = waits.open({ ...wanted, org: "o" });
    const other = waits.open({ ...wanted, org: "o" });
    asked[0]?.hear("a", { ...quiet, online: uids(10), isPlayed: true });
    asked[1]?.hear("a", { ...quiet, online: uids(1), isPlayed: true });
    expect(await other?.counts).toBeUndefined();
    asked[0]?.hear("b", { ...quiet, isDone: true });
    const third = waits.open({ ...wanted, org: "o" });
    asked[2]?.hear("a", { ...quiet, online: uids(10), isPlayed: true, isDone: true });
    asked[2]?.hear("b", { ...quiet, isDone: true });
    expect(await third?.counts).toEqual({ online: 10, delivered: 10, acknowledged: 0 });
    one?.end();
    expect(await one?.counts).toEqual({ online: 10, delivered: 10, acknowledged: 0 });
  });
});
