import { describe, expect, spyOn, test } from "bun:test";
import type { Hint } from "../../bus/bus.ts";
import type { EventKind, LogEvent } from "../../contract/log/log-event.ts";
import type { MissedEvent } from "../../store/messages/ports.ts";
import { createEventFacts } from "../fanout/event-facts.ts";
import { createPlayables, type Unplayable } from "./playable.ts";

function eventOf(kind: EventKind, payload: string, uids?: string[]): LogEvent {
  return { org: "o", offset: 3, kind, id: "e3", prev: "e2", cid: "c", payload, uids };
}

const placeOf = ({ org, offset, id }: LogEvent): Unplayable => ({ org, offset, id });

const good: LogEvent[] = [
  eventOf("message", '{"message":{}}'),
  eventOf("system", '{"system_message":{}}', ["a"]),
  eventOf("system", '{"system_message":{}}', []),
  { ...eventOf("system", '{"system_message":{}}', []), cid: undefined },
  eventOf("read", '{"message_read":{}}', ["a"]),
  eventOf("membership", '{"added":["a"],"removed":[]}'),
  eventOf("session", '{"issuedBefore":5}'),
  eventOf("session", '{"issuedBefore":5,"uids":["a"]}'),
  eventOf("edit", '{"message_edit":{"id":"m1"}}'),
  eventOf("recall", '{"message_delete":{"ids":["m1"]}}'),
  eventOf("system_recall", '{"system_message_delete":{"ids":["s1"],"from":"a"}}', []),
  eventOf("blank", ""),
  eventOf("unknown", "anything"),
];

const bad: LogEvent[] = [
  ...(["message", "membership", "session", "edit", "recall"] as const).flatMap((kind) =>
    ["", "no JSON", "null", "[]", "7"].map((payload) => eventOf(kind, payload)),
  ),
  eventOf("system", "null", ["a"]),
  eventOf("system", "{}"),
  eventOf("system", '{"system_message":{}}'),
  { ...eventOf("system", '{"system_message":{}}'), cid: undefined }, // a lost list is not everyone
  eventOf("read", "null", ["a"]),
  eventOf("read", '{"message_read":{}}'),
  eventOf("system_recall", '{"system_message_delete":{"ids":["s1"],"from":"a"}}'),
  eventOf("system_recall", '{"system_message_delete":{"ids":["s1"]}}', []),
  eventOf("system_recall", '{"system_message_delete":{"from":"a"}}', []),
  eventOf("recall", '{"message_delete":{}}'),
  eventOf("recall", '{"message_delete":{"ids":[7]}}'),
  eventOf("membership", '{"added":["a"]}'),
  eventOf("membership", '{"added":[1],"removed":[]}'),
  eventOf("membership", '{"added":"a","removed":[]}'),
  eventOf("session", '{"issuedBefore":"5"}'),
  eventOf("session", '{"issuedBefore":5,"uids":"a"}'),
  eventOf("session", '{"issuedBefore":-1,"uids":["a"],"token":7}'),
  eventOf("unplayable", '{"message":{}}'),
];

/** Playables over a log of these events, and what was reported. */
function playablesOf(events: LogEvent[] = [], missed: MissedEvent[] = []) {
  const told: Unplayable[] = [];
  const facts = createEventFacts();
  let hint: Hint = { org: "o" };
  let heard: Hint | undefined;
  const playables = createPlayables({
    bus: {
      async subscribe(_, handler) {
        handler(hint);
        return () => undefined;
      },
    },
    log: {
      heads: async () => new Map(),
      readFrom: async () => ({ head: { offset: 9, id: "e9" }, anchor: "e0", events }),
      readAfter: async () => events,
      readShown: async () => events,
    },
    recovery: {
      resumeAfter: async () => ({ offset: 0, grown: [] }),
      readGrown: async () => [],
      read: async (_, after) => missed.filter(({ offset }) => offset > after).slice(0, 2),
    },
    facts,
    onUnplayable: (event) => told.push(event),
  });
  /** The hint that subscribers receive for this one. */
  function hintOf(given: Hint): Hint | undefined {
    hint = given;
    void playables.playableHints.subscribe("o", (one) => {
      heard = one;
    });
    return heard;
  }
  return { ...playables, hintOf, facts, told };
}

describe("an event that cannot be played", () => {
  test("is reduced to its place in a hint, and read from the store", () => {
    for (const event of good) expect(playablesOf().hintOf(event)).toBe(event);
    for (const event of bad)
      expect([event, playablesOf().hintOf(event)]).toEqual([event, { org: "o", offset: 3, id: "e3", prev: "e2" }]);
    const place = { org: "o", offset: 3, prev: undefined };
    expect(playablesOf().hintOf(place)).toBe(place);
    expect(playablesOf().hintOf({ org: "o" })).toEqual({ org: "o" });
  });

  test("plays to nobody if the store holds nothing better, and keeps its place", async () => {
    expect(await playablesOf(good).playableLog.readAfter("o", 0, 9, Number.POSITIVE_INFINITY)).toEqual(good);
    const alsoBad = [
      eventOf("message", "{ no JSON }"),
      eventOf("message", '{"system_message":{}}'),
      eventOf("system", '{"message":{}}', ["a"]),
      eventOf("read", '{"message":{}}', ["a"]),
    ];
    for (const event of [...bad, ...alsoBad]) {
      const { playableLog, told } = playablesOf([event]);
      const passed: LogEvent[] = [{ ...event, kind: "unplayable" }];
      expect(await playableLog.readAfter("o", 0, 9, Number.POSITIVE_INFINITY)).toEqual(passed);
      expect(await playableLog.readFrom("o", 0, 9)).toEqual({
        head: { offset: 9, id: "e9" },
        anchor: "e0",
        events: passed,
      });
      expect(told).toEqual([placeOf(event)]);
    }
  });

  test("is left out of what a connection missed, which continues after it", async () => {
    const payloads = ["no JSON", "{}", '{"message":{}}', "null", "[]", '{"message":7}', "", '{"message":{"x":1}}', "{"];
    const missed = payloads.map((payload, index) => {
      const offset = index + 1;
      return { offset, kind: "message" as const, payload, id: `m${offset}`, cid: "c", isRecipient: true };
    });
    const { playableRecovery, told } = playablesOf([], missed);
    const given: MissedEvent[] = [];
    for (let page: MissedEvent[] | undefined; page?.length !== 0; given.push(...page))
      page = await playableRecovery.read(
        { org: "o", uid: "a", head: 9, hasInboxes: false },
        page?.at(-1)?.offset ?? 0,
        1,
      );
    expect(given.map(({ offset }) => offset)).toEqual([3, 8]);
    expect(told.map(({ org, offset, id }) => [org, offset, id])).toEqual(
      [1, 2, 4, 5, 6, 7, 9].map((offset) => ["o", offset, `m${offset}`]),
    );
  });

  test("is reported once, or now and then again if there are very many", async () => {
    const many = Array.from({ length: 1_025 }, (_, index) => ({ ...eventOf("message", ""), id: `e${index}` }));
    const { playableLog, told } = playablesOf(many);
    await playableLog.readAfter("o", 0, 9, Number.POSITIVE_INFINITY);
    expect(told).toEqual(many.map(placeOf));
    await playableLog.readFrom("o", 0, 9);
    expect(told.length).toBeLessThanOrEqual(2 * many.length);
  });
});

test("a membership change is parsed once, for its hint, any number of pages, and those who follow it", async () => {
  const change = eventOf("membership", '{"added":["a"],"removed":[]}');
  const { hintOf, playableLog, facts } = playablesOf([{ ...change }]);
  const parse = spyOn(JSON, "parse");
  hintOf(change);
  for (let page = 0; page < 3; page++)
    for (const event of await playableLog.readAfter("o", 0, 9, Number.POSITIVE_INFINITY))
      facts.follow(event, "a", new Set());
  const parses = parse.mock.calls.length;
  parse.mockRestore();
  expect(parses).toBe(1);
});
