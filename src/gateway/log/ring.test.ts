import { expect, test } from "bun:test";
import type { EventKind, LogEvent } from "../../contract/log/log-event.ts";
import { logStart } from "../../contract/log/log-place.ts";
import { createBudget } from "./budget.ts";
import { createRing } from "./ring.ts";

function event(offset: number, kind: EventKind, payload: string): LogEvent {
  return { org: "o", offset, kind, id: `e${offset}`, cid: "c", payload, uids: undefined };
}

const message = (offset: number) => event(offset, "message", `{"message":{"_id":"e${offset}","body":"text"}}`);
const edit = (offset: number, id: string) =>
  event(offset, "edit", `{"message_edit":{"id":"${id}","body":"edited text"}}`);
const recall = (offset: number, ...ids: string[]) =>
  event(offset, "recall", JSON.stringify({ message_delete: { ids } }));

test("a recall takes the texts of its messages and of their edits out of the ring, and their bytes off the budget", () => {
  const budget = createBudget();
  const ring = createRing(logStart, budget);
  for (const one of [message(1), message(2), edit(3, "e1"), edit(4, "e2")]) ring.push(one);
  const before = ring.bytes;
  const told = recall(5, "e1", "e9");
  ring.push(told);
  expect(ring.after(0)?.map(({ offset, kind, id }) => [offset, kind, id])).toEqual([
    [1, "blank", "e1"],
    [2, "message", "e2"],
    [3, "blank", "e3"],
    [4, "edit", "e4"],
    [5, "recall", "e5"],
  ]);
  expect(JSON.stringify(ring.after(0)?.filter(({ kind }) => kind === "blank"))).not.toContain("text");
  const texts = message(1).payload.length + edit(3, "e1").payload.length;
  expect(ring.bytes).toBe(before - texts + 600 + told.payload.length);
  expect(budget.bytes).toBe(ring.bytes);
  expect(ring.idAt(1)).toBe("e1");
});

test("a recall of system messages takes those of its sender out of the ring, whatever their ids", () => {
  const ring = createRing(logStart, createBudget());
  const system = (offset: number, _id: string, from: string) =>
    event(offset, "system", JSON.stringify({ system_message: { _id, t: 1, from, x: { text: `${from}: ${_id}` } } }));
  const ids = ['a "quoted" \\ id', "s-1", "ü👋", "other"];
  for (const [index, id] of ids.entries()) ring.push(system(index + 1, id, "alice"));
  ring.push(system(5, "s-1", "bob"));
  const payload = JSON.stringify({ system_message_delete: { ids: ids.slice(0, 3), from: "alice", t: 1 } });
  ring.push(event(6, "system_recall", payload));
  expect(ring.after(0)?.map(({ kind }) => kind)).toEqual([
    "blank",
    "blank",
    "blank",
    "system",
    "system",
    "system_recall",
  ]);
});

test("a recall that cannot be read leaves the ring as it is", () => {
  const ring = createRing(logStart, createBudget());
  ring.push(message(1));
  ring.push(event(2, "recall", "no JSON"));
  expect(ring.after(0)?.map(({ kind }) => kind)).toEqual(["message", "recall"]);
});
