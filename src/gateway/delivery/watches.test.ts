import { describe, expect, test } from "bun:test";
import type { DeliveryNews } from "../../bus/bus.ts";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { createTimerWheel } from "../../lib/time/timer-wheel.ts";
import { toNobody } from "../fanout/played.ts";
import { createAudience } from "./audience.ts";
import type { DeliveryLedger } from "./delivery-ledger.ts";
import { createWatches } from "./watches.ts";

const recorded: DeliveryLedger = {
  played: () => undefined,
  playedTo: () => undefined,
  given: () => undefined,
  renew: () => undefined,
  flush: async () => undefined,
};
const event = (id: string): LogEvent => ({
  org: "o",
  offset: 1,
  kind: "message",
  id,
  cid: "c",
  payload: "{}",
  uids: undefined,
});

/** Watches on connections that a test names by their user. */
function prepare({
  most,
  uids = ["bob", "cat"],
}: {
  most?: { watches: number; weight: number };
  uids?: string[];
} = {}) {
  let now = 0;
  const wheel = createTimerWheel({ clock: { now: () => now }, tickMs: 250, onError: raise });
  const connections = uids.map((uid) => ({ org: "o", uid }));
  const audience = createAudience("o", "c");
  for (const uid of uids) audience.add(uid);
  const watches = createWatches({
    roster: {
      *ofAll(_, asked) {
        for (const uid of asked) yield* connections.filter((connection) => connection.uid === uid);
      },
      totalOf: () => ({ users: connections.length, connections: connections.length }),
    },
    wheel,
    guard: (work) => work(),
    ...(most && { most }),
  });
  const ledger = watches.following(recorded);
  const told: DeliveryNews[] = [];
  return {
    watches,
    told,
    connections,
    of: (uid: string) => connections.find((connection) => connection.uid === uid) ?? { org: "o", uid },
    begin: (id: string, ack = id) =>
      watches.begin(`watch of ${id}`, { org: "o", event: id, ack, forMs: 1_000 }, (news) => told.push(news)),
    play: (id: string, meanwhile = () => {}) =>
      watches.during((played) => {
        meanwhile();
        ledger.played(played, audience);
        return toNobody;
      })(event(id)),
    leave(uid: string) {
      audience.remove(uid);
      for (const connection of connections.splice(0))
        if (connection.uid === uid) watches.left(connection);
        else connections.push(connection);
    },
    pass(ms: number) {
      now += ms;
      wheel.turn();
    },
  };
}

function raise(error: unknown): never {
  throw error;
}

const quiet = { online: [], missed: [], acknowledged: [], isPlayed: false, isDone: false };

describe("a watch", () => {
  test("tells that it is there, whom the event was written to, and that nobody acknowledges", () => {
    const { begin, play, told } = prepare();
    begin("e");
    play("another");
    expect(told).toEqual([quiet]);
    play("e");
    play("e"); // an event is played once
    expect(told.slice(1)).toEqual([{ ...quiet, online: ["bob", "cat"], isPlayed: true, isDone: true }]);
  });

  test("awaits connections that have acknowledged something, until they acknowledge or are gone", () => {
    const { begin, play, told, watches, of, leave } = prepare();
    watches.acknowledged(of("bob"), ["something"]);
    watches.acknowledged(of("cat"), ["something"]);
    begin("e");
    play("e");
    expect(told.at(-1)).toMatchObject({ isPlayed: true, isDone: false });
    leave("cat");
    expect(told).toHaveLength(2);
    watches.acknowledged(of("bob"), ["e"]);
    expect(told.slice(2)).toEqual([{ ...quiet, acknowledged: ["bob"], isPlayed: true, isDone: true }]);
  });

  test("tells acknowledgements together, some milliseconds late, and the last one that is awaited at once", async () => {
    const uids = Array.from({ length: 100 }, (_, index) => `u${index}`);
    const { begin, play, told, watches, of } = prepare({ uids });
    for (const uid of uids) watches.acknowledged(of(uid), ["something"]);
    begin("e");
    play("e");
    for (const uid of uids.slice(0, 50)) for (const id of ["e", "e"]) watches.acknowledged(of(uid), [id]);
    expect(told).toHaveLength(2);
    while (told.length < 3) await new Promise(setImmediate);
    expect(told[2]).toEqual({ ...quiet, acknowledged: uids.slice(0, 50), isPlayed: true });
    for (const uid of uids.slice(50)) watches.acknowledged(of(uid), ["e"]);
    expect(told.slice(3)).toEqual([{ ...quiet, acknowledged: uids.slice(50), isPlayed: true, isDone: true }]);
  });

  test("counts acknowledgements of those only whom it was written to, also of connections that are not awaited", () => {
    const { begin, play, told, watches, of } = prepare();
    watches.acknowledged(of("bob"), ["something"]);
    begin("e", "s");
    play("e");
    watches.acknowledged({ org: "o", uid: "eve" }, ["s"]);
    watches.acknowledged({ org: "p", uid: "bob" }, ["s"]);
    watches.acknowledged(of("bob"), ["e"]);
    watches.acknowledged(of("cat"), ["s"]);
    watches.acknowledged(of("bob"), ["s"]);
    expect(told.slice(2)).toEqual([{ ...quiet, acknowledged: ["cat", "bob"], isPlayed: true, isDone: true }]);
  });

  test("tells of users whose connections were cut in the attempt to write the event", () => {
    const { begin, play, told, leave } = prepare();
    begin("e");
    play("e", () => leave("bob"));
    expect(told[1]).toEqual({ ...quiet, online: ["cat", "bob"], missed: ["bob"], isPlayed: true, isDone: true });
  });

  test("ends after its time, or when it is ended, with what is not told yet; then it holds nothing", () => {
    const { begin, play, told, watches, of, pass } = prepare();
    watches.acknowledged(of("bob"), ["something"]);
    begin("e");
    begin("f");
    play("e");
    watches.acknowledged(of("cat"), ["e"]);
    watches.end("watch of e");
    expect(told.at(-1)).toEqual({ ...quiet, acknowledged: ["cat"], isPlayed: true });
    expect(watches.size).toBe(1);
    pass(2_000);
    expect(watches.size).toBe(0);
    const before = told.length;
    play("f");
    watches.acknowledged(of("bob"), ["e", "f"]);
    expect(told).toHaveLength(before);
  });

  test("is not begun without connections, which it says, nor beyond the limits, of which it says nothing", () => {
    const nobody = prepare({ uids: [] });
    nobody.begin("e");
    expect([nobody.told, nobody.watches.size]).toEqual([[{ ...quiet, isDone: true }], 0]);
    const few = prepare({ most: { watches: 2, weight: 1 } });
    for (const id of ["e", "e", "f", "g"]) few.begin(id);
    expect([few.told.length, few.watches.size]).toEqual([2, 2]);
    few.play("e"); // which weighs as much as there is room
    few.watches.end("watch of f");
    few.begin("h");
    expect(few.watches.size).toBe(1);
    few.watches.end("watch of e");
    few.begin("h");
    expect(few.watches.size).toBe(1);
  });
});
