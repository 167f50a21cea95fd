import { describe, expect, test } from "bun:test";
import { event } from "../log/testing/sequencer-setup.ts";
import { createCrowds } from "./crowds.ts";

const unheard = () => expect.unreachable();

/** Crowds on fake native topics, which note for each socket what it heard. */
function useCrowds({ isShared = true }: { isShared?: boolean } = {}) {
  const followers = new Map<string, Set<number>>();
  const heard = new Map<number, string[]>();
  const slow = new Set<number>();
  const given: [string, number][] = [];
  const state = { isShared, publishes: 0 };
  const of = (name: string) => followers.get(name) ?? new Set();
  const crowds = createCrowds({
    sockets: {
      countSubscribers: (name) => of(name).size,
      publish(name, frame) {
        state.publishes++;
        for (const socket of of(name)) heard.set(socket, [...(heard.get(socket) ?? []), frame]);
        return [...of(name)].some((socket) => slow.has(socket)) ? -1 : frame.length;
      },
    },
    isShared: () => state.isShared,
    onDelivery: ({ id }, connections) => given.push([id, connections]),
  });
  const socketOf = (socket: number) => ({
    subscribe: (name: string) => followers.set(name, of(name).add(socket)),
    unsubscribe: (name: string) => of(name).delete(socket),
  });
  return {
    ...crowds,
    state,
    slow,
    given,
    socketOf,
    /** Adds so many sockets to a topic. */
    gather(topic: string, count: number, from = 0) {
      for (let index = from; index < from + count; index++) crowds.add(topic, "o", socketOf(index));
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

describe("a crowd", () => {
  test("of few is written to at once, and so is a large one while the organization is alone", () => {
    const { gather, publish, given, next } = useCrowds();
    gather("few", 250);
    expect(publish("few", first, unheard)).toEqual({ connections: 250, isSlow: false });
    expect([given, next("o")]).toEqual([[["e1", 250]], undefined]);

    const alone = useCrowds({ isShared: false });
    alone.gather("many", 600);
    expect(alone.publish("many", first, unheard).connections).toBe(600);
    expect(alone.given.map(([, connections]) => connections)).toEqual([250, 250, 100]);
  });

  test("is written to part by part on a shared node, and each part hears all that waits for it, in order", () => {
    const { gather, publish, next, heardBy, state } = useCrowds();
    gather("many", 600);
    expect(publish("many", first, unheard)).toEqual({ connections: 600, isSlow: false });
    publish("many", second, unheard);
    expect(state.publishes).toBe(0);
    const parts: number[] = [];
    for (let part = next("o"); part !== undefined; part = next("o")) {
      parts.push(part.deliveries);
      expect(part.write()).toBe(part.deliveries);
      if (parts.length === 1) publish("many", third, unheard); // those who had the others wait for it longest
    }
    expect(parts).toEqual([500, 750, 300, 250]);
    for (let socket = 0; socket < 600; socket++) expect(heardBy(socket)).toEqual(["1", "2", "3"]);
  });

  test("has heard all before its sockets hear of another topic, and before a node is no longer shared", () => {
    const { gather, publish, settle, heardBy, state, add, socketOf } = useCrowds();
    gather("many", 300);
    add("user", "o", socketOf(299));
    publish("many", first, unheard);
    publish("user", second, unheard);
    expect(heardBy(299)).toEqual(["1", "2"]);
    publish("many", second, unheard);
    state.isShared = false;
    publish("many", third, unheard);
    expect(heardBy(299)).toEqual(["1", "2", "2", "3"]);
    settle("o"); // nothing waits
    expect(heardBy(299)).toEqual(["1", "2", "2", "3"]);
  });

  test("lets those who come hear what is published from then on, and not what waits for others", () => {
    const { gather, publish, next, settle, heardBy } = useCrowds();
    gather("many", 300);
    publish("many", first, unheard);
    gather("many", 1, 300);
    publish("many", second, unheard);
    next("o")?.write();
    gather("many", 1, 301);
    settle("o");
    expect([0, 299, 300, 301].map(heardBy)).toEqual([["1", "2"], ["1", "2"], ["2"], []]);
    publish("many", third, unheard);
    settle("o");
    expect([0, 299, 300, 301].map(heardBy)).toEqual([["1", "2", "3"], ["1", "2", "3"], ["2", "3"], ["3"]]);
  });

  test("of another organization waits on", () => {
    const { gather, publish, add, next, socketOf } = useCrowds();
    gather("many", 300);
    publish("many", first, unheard);
    publish("theirs", { ...second, org: "p" }, unheard);
    add("theirs", "p", socketOf(300));
    expect(next("o")?.deliveries).toBe(250);
  });

  test("takes those who come where others have left, and is of one part again once they have gone", () => {
    const { gather, publish, close, given, next, state } = useCrowds();
    gather("many", 300);
    close(0);
    gather("many", 200, 300); // fill the second part
    gather("many", 1, 500);
    publish("many", first, unheard);
    expect(next("o")?.deliveries).toBe(250);
    for (let socket = 249; socket < 500; socket++) close(socket);
    state.isShared = false;
    publish("many", second, unheard);
    expect(given.slice(-1)).toEqual([["e2", 249]]);
  });

  test("tells of a socket that is slow when it is written to, and does not hear what it has left", () => {
    const { gather, publish, next, remove, socketOf, slow, heardBy } = useCrowds();
    gather("many", 300);
    slow.add(299);
    let told = 0;
    publish("many", first, () => told++);
    expect(told).toBe(0);
    remove("many", socketOf(298));
    for (let part = next("o"); part !== undefined; part = next("o")) part.write();
    expect([told, heardBy(298), heardBy(299)]).toEqual([1, [], ["1"]]);
  });

  test("is forgotten with its last socket", () => {
    const { gather, publish, forget, close, given } = useCrowds();
    gather("many", 300);
    for (let socket = 0; socket < 300; socket++) close(socket);
    forget("many");
    gather("many", 1);
    publish("many", first, unheard);
    expect(given).toEqual([["e1", 1]]);
  });
});
