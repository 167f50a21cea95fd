import { expect, test } from "bun:test";
import { createLocalBus } from "../bus/local.ts";
import type { LogEvent } from "../contract/log/log-event.ts";
import { createSteppedThread } from "../lib/event-loop/testing/stepped-thread.ts";
import { createAudience } from "./delivery/audience.ts";
import { conversationTopic } from "./fanout/topics.ts";
import { createTyping } from "./typing.ts";

const raise = (error: unknown) => {
  throw error;
};

/** Typing on a node where these users, each with a connection, take part in the conversation `c`. */
function prepare(uids: string[]) {
  const state = { now: 1_000_000, users: uids.length, position: 5, played: [] as LogEvent[] | undefined };
  const thread = createSteppedThread();
  const audience = createAudience("o", "c");
  for (const uid of uids) audience.add(uid);
  const heard: Record<string, string[]> = {};
  const behind = new Set<string>();
  const bus = createLocalBus({ nodeId: "n", guard: (work) => work() });
  const typing = createTyping({
    bus,
    audiences: { of: (topic) => (topic === conversationTopic("o", "c") ? audience : undefined) },
    roster: {
      totalOf: () => ({ users: state.users, connections: state.users }),
      ofAll: (_, asked) =>
        [...asked].map((uid) => ({
          isOpen: true,
          waitingBytes: () => (behind.has(uid) ? 300_000 : 0),
          write: (frames) => void Object.assign(heard, { [uid]: [...(heard[uid] ?? []), ...frames] }),
        })),
    },
    sequencerOf: () => ({ position: state.position, playedAfter: () => state.played }),
    thread,
    clock: { now: () => state.now },
    onError: raise,
  });
  typing.follow("o");
  const pass = (uid: string, status: "start" | "stop" = "start") =>
    typing.pass({ org: "o", uid }, { cid: "c", status });
  return { typing, bus, thread, audience, heard, behind, state, pass };
}

const frame = (from: string, status = "start") => JSON.stringify({ typing: { cid: "c", from, status, t: 1_000 } });

/** Lets what waits for a turn of the thread go on. */
const settled = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

test("a status goes to the others who keep up; of several that wait for a turn, the newest is told", async () => {
  const { pass, heard, behind, thread, typing } = prepare(["ann", "bob", "cat"]);
  behind.add("cat");
  void thread.turn("o", 1_000);
  expect(pass("ann")).toBe(3);
  pass("ann", "stop");
  pass("bob");
  thread.open();
  while (typing.size > 1) await new Promise(setImmediate);
  expect(heard).toEqual({ bob: [frame("ann", "stop")], ann: [frame("bob")] });
});

test("250 connections of a conversation hear a status, and of 251 none", async () => {
  const uids = Array.from({ length: 250 }, (_, index) => `u${index}`);
  const { pass, heard, thread, audience, typing } = prepare(uids);
  thread.open();
  expect(pass("u0")).toBe(250);
  while (typing.size > 1) await new Promise(setImmediate);
  expect(Object.keys(heard)).toHaveLength(249);
  audience.add("one more");
  expect(pass("u1")).toBe(0);
  await settled();
  expect([typing.size, heard.u0]).toEqual([1, undefined]);
});

test("a status that another node told more than ten seconds ago is dropped", async () => {
  const { bus, heard, state, thread, typing } = prepare(["ann", "bob"]);
  thread.open();
  const note = { org: "o", cid: "c", from: "ann", status: "start", t: 1_000 } as const;
  state.now += 10_001;
  bus.tellTyping(note);
  await settled();
  expect([typing.size, heard]).toEqual([1, {}]);
  state.now -= 1;
  bus.tellTyping(note);
  while (typing.size > 1) await new Promise(setImmediate);
  expect(heard).toEqual({ bob: [frame("ann")] });
});

test("a status is dropped after a message of the user in the conversation, however long it waited, and after no other", async () => {
  const { bus, heard, state, thread, typing } = prepare(["ann", "bob"]);
  const said = (from: string, cid = "c", kind: LogEvent["kind"] = "message"): LogEvent => ({
    ...{ org: "o", offset: 6, kind, id: "m", cid, uids: undefined },
    payload: JSON.stringify({ message: { _id: "m", from, body: '"ann"', cid } }),
  });
  const note = { org: "o", cid: "c", from: "ann", status: "start", t: 1_000, after: 5 } as const;
  const told = async () => {
    while (typing.size > 1) await new Promise(setImmediate);
    const frames = heard.bob?.length ?? 0;
    delete heard.bob;
    return frames;
  };
  bus.tellTyping(note); // waits for its turn meanwhile
  state.played = [said("ann")];
  thread.open();
  expect(await told()).toBe(0);
  state.played = [said("bob"), said("ann", "other"), said("ann", "c", "edit")];
  bus.tellTyping(note);
  expect(await told()).toBe(1);
  state.played = undefined; // too much was played since
  bus.tellTyping(note);
  expect(await told()).toBe(0);
  const { after: _, ...ofEarlierVersion } = note;
  bus.tellTyping(ofEarlierVersion);
  expect(await told()).toBe(1);
});

test("a status tells what its node has played of the log, and clients do not hear that", async () => {
  const { bus, pass, heard, thread, typing } = prepare(["ann", "bob"]);
  const notes: unknown[] = [];
  bus.followTyping("o", (note) => void notes.push(note));
  thread.open();
  pass("ann");
  while (typing.size > 1) await new Promise(setImmediate);
  expect(notes).toEqual([{ org: "o", cid: "c", from: "ann", status: "start", t: 1_000, after: 5 }]);
  expect(heard).toEqual({ bob: [frame("ann")] });
});

test("a node follows an organization while any of its users is connected", () => {
  const { typing, bus, state, heard } = prepare(["ann", "bob"]);
  typing.follow("o");
  expect(typing.size).toBe(1);
  state.users = 0;
  typing.follow("o");
  typing.follow("o");
  bus.tellTyping({ org: "o", cid: "c", from: "ann", status: "start", t: 1_000 });
  expect([typing.size, heard]).toEqual([0, {}]);
});
