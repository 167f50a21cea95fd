import { describe, expect, test } from "bun:test";
import type { EventKind, LogEvent } from "../contract/log-event.ts";
import { createPlayableLog, playableHint } from "./playable.ts";

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

/** A log of these events, and what was told of it. */
function logOf(events: LogEvent[]) {
  const told: LogEvent[] = [];
  const log = createPlayableLog(
    {
      heads: async () => new Map(),
      readFrom: async () => ({ head: { offset: 9, id: "e9" }, anchor: "e0", events }),
      readAfter: async () => events,
    },
    (event) => told.push(event),
  );
  return { log, told };
}

describe("an event that cannot be played", () => {
  test("is, of a hint, only its place: it is read from the store", () => {
    for (const event of good) expect(playableHint(event)).toBe(event);
    for (const event of bad)
      expect([event, playableHint(event)]).toEqual([event, { org: "o", offset: 3, id: "e3", prev: "e2" }]);
    const place = { org: "o", offset: 3, prev: undefined };
    expect(playableHint(place)).toBe(place);
    expect(playableHint({ org: "o" })).toEqual({ org: "o" });
  });

  test("plays to nobody where the store has nothing better, and keeps its place", async () => {
    expect(await logOf(good).log.readAfter("o", 0, 9, Number.POSITIVE_INFINITY)).toEqual(good);
    for (const event of [...bad, eventOf("message", "{ no JSON }")]) {
      const { log, told } = logOf([event]);
      const passed: LogEvent[] = [{ ...event, kind: "unplayable" }];
      expect(await log.readAfter("o", 0, 9, Number.POSITIVE_INFINITY)).toEqual(passed);
      expect(await log.readFrom("o", 0, 9)).toEqual({ head: { offset: 9, id: "e9" }, anchor: "e0", events: passed });
      expect(told).toEqual([event]);
    }
  });

  test("is told of once, of very many now and then again", async () => {
    const many = Array.from({ length: 1_025 }, (_, index) => ({ ...eventOf("message", ""), id: `e${index}` }));
    const { log, told } = logOf(many);
    await log.readAfter("o", 0, 9, Number.POSITIVE_INFINITY);
    expect(told).toEqual(many);
    await log.readFrom("o", 0, 9);
    expect(told.length).toBeLessThanOrEqual(2 * many.length);
  });
});
