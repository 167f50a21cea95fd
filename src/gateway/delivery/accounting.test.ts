import { describe, expect, test } from "bun:test";
import { createGuard } from "../../lib/observing/guard.ts";
import { createOwner } from "../../lib/owner.ts";
import type { Connection } from "../connections/connection.ts";
import { createRoster } from "../connections/roster.ts";
import { createAudiences } from "../fanout/audiences.ts";
import { createEventFacts } from "../fanout/event-facts.ts";
import { toNobody } from "../fanout/played.ts";
import { createPlayback, createPlayer, type TracePlay } from "../fanout/player.ts";
import { conversationTopic, createTopics, userTopic } from "../fanout/topics.ts";
import { createBudget } from "../log/budget.ts";
import { createSequencer } from "../log/sequencer.ts";
import { placeOf, event as plainEvent } from "../log/testing/sequencer-setup.ts";
import { createStreamFrames } from "../streams/stream-frames.ts";
import { createAccounting } from "./accounting.ts";

const broken = (): never => {
  throw new Error("no accounting today");
};

/** An event with its own name in the payload, like those of the log. */
function event(offset: number) {
  const plain = plainEvent(offset);
  return { ...plain, payload: JSON.stringify({ message: { _id: plain.id } }) };
}

/** One user on one connection, a real player and sequencer, and accounting in which everything fails that can. */
function setUp(tracePlay?: TracePlay) {
  const heard: string[] = [];
  const errors: unknown[] = [];
  const unknown: string[] = [];
  const { guardedLedger, noteDelivery } = createAccounting({
    ledger: { played: broken, playedTo: broken, given: broken, renew: broken, flush: broken },
    onDelivery: broken,
    onError: (error) => errors.push(error),
  });
  const socketTopics = { publish: () => toNobody, settle: () => undefined };
  const topics = createTopics({ frames: createStreamFrames(), onDelivery: noteDelivery, onError: broken });
  const [roster, joining, audiences] = [createRoster(), createRoster(), createAudiences(() => undefined)];
  const connection: Connection = {
    id: "1",
    org: "o",
    uid: "u",
    issuedAt: 0,
    arrival: { transport: "websocket", address: "", client: undefined, since: 0 },
    isOpen: true,
    deliver: broken,
    isReadyForMore: async () => true,
    subscribe: () => undefined,
    unsubscribe: () => undefined,
    end: broken,
    cut: broken,
    takings: 0,
    waitingBytes: () => 0,
    owner: createOwner(broken),
  };
  const idOf = (frame: Uint8Array) => /"_id":"(.*?)"/.exec(new TextDecoder().decode(frame))?.[1] ?? "";
  const listener = { deliver: (frame: Uint8Array) => heard.push(idOf(frame)) === 0 };
  for (const topic of [conversationTopic("o", "c"), userTopic("o", "u")]) topics.streams.add(topic, listener);
  roster.add(connection);
  audiences.join(connection, "c");
  const backlog = { suspect: broken, check: broken, withdraw: broken };
  const play = createPlayer({
    topics,
    socketTopics,
    roster,
    joining,
    audiences,
    ledger: guardedLedger,
    backlog,
    facts: createEventFacts(),
    frames: createStreamFrames(),
    onUnknown: ({ id }) => unknown.push(id),
  });
  const sequencer = createSequencer({
    start: placeOf(event(0)),
    budget: createBudget(),
    read: broken,
    play: createPlayback({
      play,
      topics,
      backlog,
      tracePlay,
      databaseClock: Date,
      guard: createGuard((error) => errors.push(error)),
    }),
    leave: () => undefined,
    onRepair: broken,
    onBreak: broken,
    onError: (error) => errors.push(error),
  });
  return { sequencer, heard, unknown, errors };
}

test("an event of an unknown kind keeps its place and is played to nobody", () => {
  const { sequencer, heard, unknown } = setUp();
  for (const one of [event(1), { ...event(2), kind: "unknown" as const }, event(3)]) sequencer.offer(one);
  expect([heard, unknown, sequencer.position]).toEqual([["e1", "e3"], ["e2"], 3]);
});

test("an event that has expired keeps its place and is played to nobody", () => {
  const { sequencer, heard } = setUp();
  const later = Date.now() + 60_000;
  for (const one of [event(1), { ...event(2), expiresAt: 1 }, { ...event(3), expiresAt: later }]) sequencer.offer(one);
  expect([heard, sequencer.position]).toEqual([["e1", "e3"], 3]);
});

describe("accounting that fails", () => {
  test("withholds no message, delivers none twice, and is reported", () => {
    const { sequencer, heard, errors } = setUp();
    sequencer.offer(event(1));
    sequencer.offer({ ...event(2), kind: "system" as const, uids: ["u"] });
    for (const offset of [2, 1, 3]) sequencer.offer(event(offset));
    expect(heard).toEqual(["e1", "e2", "e3"]);
    expect(sequencer.position).toBe(3);
    expect(errors.map(String)).toEqual(["Error: no accounting today"]);
  });

  test("plays each event once, whether the trace fails before it, fails after it or never plays it", () => {
    const trace: TracePlay = ({ offset }, play) => {
      if (offset === 1) broken();
      if (offset !== 2) play();
      if (offset === 3) broken();
      if (offset === 4) play();
    };
    const { sequencer, heard } = setUp(trace);
    for (const offset of [1, 2, 3, 4, 5]) sequencer.offer(event(offset));
    expect(heard).toEqual(["e1", "e2", "e3", "e4", "e5"]);
  });
});
