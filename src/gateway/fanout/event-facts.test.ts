import { describe, expect, spyOn, test } from "bun:test";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { createEventFacts } from "./event-facts.ts";

const names = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`);

function membership(offset: number, added: string[], removed: string[] = []): LogEvent {
  const payload = JSON.stringify({ added, removed });
  return { org: "o", offset, kind: "membership", id: `e${offset}`, cid: `c${offset}`, payload, uids: undefined };
}

/** How often `work` parses JSON. */
function parsesOf(work: () => void): number {
  const parse = spyOn(JSON, "parse");
  work();
  const count = parse.mock.calls.length;
  parse.mockRestore();
  return count;
}

describe("event facts", () => {
  test("are parsed once, for any number of users and copies of the event", () => {
    const facts = createEventFacts();
    const change = membership(1, names(20_000));
    const cids = new Set<string>();
    const follow = () => {
      for (const uid of names(900)) facts.follow({ ...change }, uid, cids);
    };
    expect(parsesOf(follow)).toBe(1);
    expect([...cids]).toEqual(["c1"]);
  });

  test("are not parsed for a user the event does not name", () => {
    const facts = createEventFacts();
    const cids = new Set(["c1"]);
    const named = membership(1, ['a "quoted" name'], ["ö"]);
    expect(parsesOf(() => facts.follow(named, "quoted", cids))).toBe(0);
    expect([...cids]).toEqual(["c1"]);
    facts.follow(named, "ö", cids);
    expect([...cids]).toEqual([]);
    facts.follow(named, 'a "quoted" name', cids);
    expect([...cids]).toEqual(["c1"]);
  });

  test("are kept for few changes, or for one of any size", () => {
    const facts = createEventFacts();
    const changes = [1, 2, 3, 4].map((offset) => membership(offset, names(offset === 4 ? 300_000 : 90_000)));
    const parses = (wanted: LogEvent[]) =>
      parsesOf(() => {
        for (const change of wanted) facts.membershipOf(change);
      });
    const [first = membership(0, []), second = first, third = first, largest = first] = changes;
    expect(parses([first, second, first, second])).toBe(2);
    expect(parses([third, second, third, first])).toBe(2);
    expect(parses([largest, largest])).toBe(1);
    expect(parses([third])).toBe(1);
  });

  test("name the sender and the recipients of a system message", () => {
    const facts = createEventFacts();
    const payload = JSON.stringify({ system_message: { from: "a" } });
    const event: LogEvent = { ...membership(1, []), kind: "system", payload, uids: ["b"] };
    const ask = () => {
      for (let round = 0; round < 100; round++) expect(facts.systemOf(event).sender).toBe("a");
    };
    expect(parsesOf(ask)).toBe(1);
    expect([...facts.systemOf(event).recipients]).toEqual(["b"]);
  });
});
