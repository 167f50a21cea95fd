import { describe, expect, test } from "bun:test";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { createSteppedThread } from "../../lib/event-loop/testing/stepped-thread.ts";
import { event } from "../log/testing/sequencer-setup.ts";
import { createSocketTopics } from "./socket-topics.ts";

const unheard = () => expect.unreachable();

/** Topics on fake native ones, which note what each socket heard, and a thread whose turns the test takes. */
function useSocketTopics() {
  const thread = createSteppedThread();
  const followers = new Map<string, Set<number>>();
  const heard = new Map<number, string[]>();
  const slow = new Set<number>();
  const given: [string, number][] = [];
  const errors: unknown[] = [];
  const state = { publishes: 0, now: 0 };
  const of = (name: string) => followers.get(name) ?? new Set();
  const socketTopics = createSocketTopics({
    sockets: {
      countSubscribers: (name) => of(name).size,
      publish(name, frame) {
        state.publishes++;
        for (const socket of of(name)) heard.set(socket, [...(heard.get(socket) ?? []), frame]);
        return [...of(name)].some((socket) => slow.has(socket)) ? -1 : frame.length;
      },
    },
    thread,
    databaseClock: { now: () => state.now },
    socketsPerShard: 100,
    onDelivery: ({ id }, connections) => given.push([id, connections]),
    onError: (error) => errors.push(error),
  });
  const socketOf = (socket: number) => ({
    subscribe: (name: string) => followers.set(name, of(name).add(socket)),
    unsubscribe: (name: string) => of(name).delete(socket),
  });
  return {
    ...socketTopics,
    thread,
    state,
    slow,
    given,
    errors,
    socketOf,
    /** Adds so many sockets to a topic. */
    gather(topic: string, count: number, from = 0) {
      for (let index = from; index < from + count; index++) socketTopics.add(topic, "o", socketOf(index));
    },
    close(socket: number) {
      for (const sockets of followers.values()) sockets.delete(socket);
    },
    heardBy: (socket: number) => heard.get(socket) ?? [],
  };
}

const [first, second, third] = [1, 2, 3].map((offset) => ({ ...event(offset), payload: `${offset}` })) as [
  ReturnType<typeof event>,
  ReturnType<typeof event>,
  ReturnType<typeof event>,
];

describe("a topic of sockets", () => {
  test("with few subscribers is written to at once, and the organization continues", () => {
    const { gather, publish, given, leave } = useSocketTopics();
    gather("few", 100);
    expect(publish("few", first, unheard)).toEqual({ connections: 100, isSlow: false });
    expect([given, leave("o")]).toEqual([[["e1", 100]], undefined]);
  });

  test("with many is written to shard by shard, in turns, and each shard gets all that waits for it, in order", async () => {
    const { gather, publish, leave, thread, heardBy, state, given } = useSocketTopics();
    gather("many", 250);
    expect(publish("many", first, unheard)).toEqual({ connections: 250, isSlow: false });
    publish("many", second, unheard);
    expect(state.publishes).toBe(0);
    let isOver = false;
    void leave("o")?.then(() => {
      isOver = true;
    });
    const seen: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      await nextTurn();
      seen.push(given.reduce((sum, [, connections]) => sum + connections, 0));
      thread.step();
    }
    expect([seen, isOver]).toEqual([[200, 400, 500, 500], true]);
    for (let socket = 0; socket < 250; socket++) expect(heardBy(socket)).toEqual(["1", "2"]);
  });

  test("is not written to once what waits has expired", async () => {
    const { gather, publish, leave, thread, heardBy, state, given } = useSocketTopics();
    gather("many", 200);
    publish("many", { ...first, expiresAt: 10 }, unheard);
    publish("many", second, unheard);
    const left = leave("o");
    await nextTurn();
    thread.step();
    state.now = 10;
    await nextTurn();
    thread.open();
    await left;
    expect([heardBy(0), heardBy(199)]).toEqual([["1", "2"], ["2"]]);
    expect(given).toEqual([
      ["e1", 100],
      ["e2", 100],
      ["e2", 100],
    ]);
  });

  test("waits for the thread while another organization uses it", async () => {
    const { gather, publish, leave, thread, heardBy } = useSocketTopics();
    void thread.turn("p", 1);
    gather("many", 150);
    publish("many", first, unheard);
    const left = leave("o");
    await nextTurn();
    expect(heardBy(0)).toEqual([]);
    thread.open();
    await left;
    expect([heardBy(0), heardBy(149)]).toEqual([["1"], ["1"]]);
  });

  test("with few waits, too, once the organization has used up its slice, and is written to after what was played before", async () => {
    const { add, publish, leave, thread, state, heardBy, socketOf } = useSocketTopics();
    const users = Array.from({ length: 400 }, (_, index) => index);
    for (const user of users) add(`user ${user}`, "o", socketOf(user));
    for (const user of users) publish(`user ${user}`, first, unheard);
    expect(state.publishes).toBeWithin(100, 300); // about a millisecond
    publish("user 0", second, unheard);
    expect(heardBy(0)).toEqual(["1"]);
    thread.open();
    await leave("o");
    expect([heardBy(0), heardBy(399)]).toEqual([["1", "2"], ["1"]]);
  });

  test("is written to after what waits for other topics of its organization", () => {
    const { gather, publish, settle, heardBy, add, socketOf } = useSocketTopics();
    gather("many", 150);
    add("user", "o", socketOf(149));
    publish("many", first, unheard);
    publish("user", second, unheard);
    publish("many", third, unheard);
    expect(heardBy(149)).toEqual([]);
    settle("o");
    expect([heardBy(149), heardBy(0)]).toEqual([
      ["1", "2", "3"],
      ["1", "3"],
    ]);
    settle("o"); // nothing waits
    expect(heardBy(149)).toEqual(["1", "2", "3"]);
  });

  test("gives a new subscriber what is published from then on, and not what waits for others", () => {
    const { gather, publish, settle, heardBy } = useSocketTopics();
    gather("many", 150);
    publish("many", first, unheard);
    gather("many", 1, 150);
    publish("many", second, unheard);
    gather("many", 1, 151);
    settle("o");
    expect([0, 149, 150, 151].map(heardBy)).toEqual([["1", "2"], ["1", "2"], ["2"], []]);
    publish("many", third, unheard);
    settle("o");
    expect([0, 149, 150, 151].map(heardBy)).toEqual([["1", "2", "3"], ["1", "2", "3"], ["2", "3"], ["3"]]);
  });

  test("keep what is published after all that waited was written out of turn", async () => {
    const { gather, publish, settle, leave, thread, heardBy } = useSocketTopics();
    gather("many", 150);
    publish("many", first, unheard);
    const waiting = leave("o");
    settle("o");
    void leave("o");
    publish("many", second, unheard);
    thread.open();
    await waiting;
    await leave("o");
    expect([heardBy(0), heardBy(149)]).toEqual([
      ["1", "2"],
      ["1", "2"],
    ]);
  });

  test("let the organization go on when the thread is free, as what was written counts as its work", async () => {
    const { gather, publish, leave, thread } = useSocketTopics();
    gather("few", 100);
    publish("few", first, unheard);
    void thread.turn("p", 1);
    const left = leave("o");
    expect(thread.waiting).toBe(1);
    thread.step();
    await left;
    expect(leave("o")).toBeUndefined(); // nothing was written since
  });

  test("goes on after a write that fails", async () => {
    const { gather, publish, leave, thread, slow, errors, heardBy } = useSocketTopics();
    gather("many", 150);
    slow.add(0);
    const failure = new Error("it fails");
    publish("many", first, () => {
      throw failure;
    });
    publish("many", second, () => undefined);
    thread.open();
    await leave("o");
    expect([errors, heardBy(0), heardBy(149)]).toEqual([[failure], ["1", "2"], ["1", "2"]]);
  });

  test("of another organization keeps waiting", () => {
    const { gather, publish, add, settle, socketOf, heardBy } = useSocketTopics();
    gather("many", 150);
    publish("many", first, unheard);
    add("theirs", "p", socketOf(150));
    publish("theirs", { ...second, org: "p" }, unheard);
    settle("p");
    expect([heardBy(150), heardBy(0)]).toEqual([["2"], []]);
  });

  test("has new subscribers take the places of former ones, and drops a shard that is empty", () => {
    const { gather, publish, close, given, settle } = useSocketTopics();
    gather("many", 150);
    close(0);
    gather("many", 50, 150); // fill the second shard
    gather("many", 1, 200);
    publish("many", first, unheard);
    settle("o");
    expect(given.map(([, connections]) => connections)).toEqual([100, 100]);
    for (let socket = 100; socket < 200; socket++) close(socket);
    publish("many", second, unheard);
    expect(given.slice(-1)).toEqual([["e2", 100]]);
  });

  test("tells the organization to rest if a socket was slow to take what waited", async () => {
    const { gather, publish, leave, thread, slow } = useSocketTopics();
    thread.open();
    gather("many", 150);
    publish("many", first, () => undefined);
    expect(await leave("o")).toBe(false);
    slow.add(149);
    publish("many", second, () => undefined);
    expect(await leave("o")).toBe(true);
    slow.clear();
    publish("many", third, unheard);
    expect(await leave("o")).toBe(false);
  });

  test("reports a slow socket when it is written to, and a socket that has left gets nothing", () => {
    const { gather, publish, settle, remove, socketOf, slow, heardBy } = useSocketTopics();
    gather("many", 150);
    slow.add(149);
    let told = 0;
    publish("many", first, () => told++);
    expect(told).toBe(0);
    remove("many", socketOf(148));
    settle("o");
    expect([told, heardBy(148), heardBy(149)]).toEqual([1, [], ["1"]]);
  });

  test("is forgotten with its last subscriber", () => {
    const { gather, publish, forget, close, given } = useSocketTopics();
    gather("many", 150);
    for (let socket = 0; socket < 150; socket++) close(socket);
    forget("many");
    gather("many", 1);
    publish("many", first, unheard);
    expect(given).toEqual([["e1", 1]]);
  });
});
