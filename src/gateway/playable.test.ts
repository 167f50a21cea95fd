import { describe, expect, spyOn, test } from "bun:test";
import type { EventKind, LogEvent } from "../contract/log-event.ts";
import { createEventFacts } from "./event-facts.ts";
import { createPlayables } from "./playable.ts";

function eventOf(kind: EventKind, payload: string, uids?: string[]): LogEvent {
  return { org: "o", offset: 3, kind, id: "e3", prev: "e2", cid: "c", payload, uids };
}

const good: LogEvent[] = [
  eventOf("message", '{"message":{}}'),
  eventOf("system", '{"system_message":{}}', ["a"]),
  eventOf("membership", '{"added":["a"],"removed":[]}'),
  eventOf("session", '{"issuedBefore":5}'),
  eventOf("session", '{"issuedBefore":5,"uids":["a"]}'),
  eventOf("unknown", "anything"),
];

const bad: LogEvent[] = [
  ...(["message", "membership", "session"] as const).flatMap((kind) =>
    ["", "no JSON", "null", "[]", "7"].map((payload) => eventOf(kind, payload)),
  ),
  eventOf("system", "null", ["a"]),
  eventOf("system", "{}"),
  eventOf("membership", '{"added":["a"]}'),
  eventOf("membership", '{"added":[1],"removed":[]}'),
  eventOf("membership", '{"added":"a","removed":[]}'),
  eventOf("session", '{"issuedBefore":"5"}'),
  eventOf("session", '{"issuedBefore":5,"uids":"a"}'),
  eventOf("unplayable", '{"message":{}}'),
];

/** What can be played of a log of these events, and what was told of it. */
function playablesOf(events: LogEvent[] = []) {
  const told: LogEvent[] = [];
  const facts = createEventFacts();
  const playables = createPlayables({
    log: {
      heads: async () => new Map(),
      readFrom: async () => ({ head: { offset: 9, id: "e9" }, anchor: "e0", events }),
      readAfter: async () => events,
    },
    facts,
    onUnplayable: (event) => told.push(event),
  });
  return { ...playables, facts, told };
}

describe("an event that cannot be played", () => {
  test("is, of a hint, only its place: it is read from the store", () => {
    for (const event of good) expect(playablesOf().hintOf(event)).toBe(event);
    for (const event of bad)
      expect([event, playablesOf().hintOf(event)]).toEqual([event, { org: "o", offset: 3, id: "e3", prev: "e2" }]);
    const place = { org: "o", offset: 3, prev: undefined };
    expect(playablesOf().hintOf(place)).toBe(place);
    expect(playablesOf().hintOf({ org: "o" })).toEqual({ org: "o" });
  });

  test("plays to nobody where the store has nothing better, and keeps its place", async () => {
    expect(await playablesOf(good).log.readAfter("o", 0, 9, Number.POSITIVE_INFINITY)).toEqual(good);
    for (const event of [...bad, eventOf("message", "{ no JSON }")]) {
      const { log, told } = playablesOf([event]);
      const passed: LogEvent[] = [{ ...event, kind: "unplayable" }];
      expect(await log.readAfter("o", 0, 9, Number.POSITIVE_INFINITY)).toEqual(passed);
      expect(await log.readFrom("o", 0, 9)).toEqual({ head: { offset: 9, id: "e9" }, anchor: "e0", events: passed });
      expect(told).toEqual([event]);
    }
  });

  test("is told of once, of very many now and then again", async () => {
    const many = Array.from({ length: 1_025 }, (_, index) => ({ ...eventOf("message", ""), id: `e${index}` }));
    const { log, told } = playablesOf(many);
    await log.readAfter("o", 0, 9, Number.POSITIVE_INFINITY);
    expect(told).toEqual(many);
    await log.readFrom("o", 0, 9);
    expect(told.length).toBeLessThanOrEqual(2 * many.length);
  });
});

test("a change of membership is parsed once, as a hint, in however many pages, and by who follows it", async () => {
  const change = eventOf("membership", '{"added":["a"],"removed":[]}');
  const { hintOf, log, facts } = playablesOf([{ ...change }]);
  const parse = spyOn(JSON, "parse");
  hintOf(change);
  for (let page = 0; page < 3; page++)
    for (const event of await log.readAfter("o", 0, 9, Number.POSITIVE_INFINITY)) facts.follow(event, "a", new Set());
  const parses = parse.mock.calls.length;
  parse.mockRestore();
  expect(parses).toBe(1);
});
