import { expect, test } from "bun:test";
import { dueRows, readWishes, type Wish } from "./wishes.ts";

const wishes: Wish[] = [
  { webhook: "w1", kinds: ["message"], waitMs: 1_000 },
  { webhook: "w2", kinds: ["message", "system"], waitMs: 2_000 },
];
const event = { org: "o", kind: "message", id: "e", createdAt: 5 } as const;

test("an event is due at each webhook that waits for its kind", () => {
  const of = { org: "o", offset: 7, event_id: "e" };
  expect(dueRows(readWishes(JSON.stringify(wishes)), event, 7)).toEqual([
    { ...of, webhook: "w1", due_at: 1_005 },
    { ...of, webhook: "w2", due_at: 2_005 },
  ]);
  expect(dueRows(wishes, { ...event, kind: "system" }, 7)).toEqual([{ ...of, webhook: "w2", due_at: 2_005 }]);
  expect(dueRows(wishes, { ...event, kind: "edit" }, 7)).toEqual([]);
});

test("a silent event is due at none", () => {
  for (const kind of ["message", "system"] as const)
    expect(dueRows(wishes, { ...event, kind, silent: true }, 7)).toEqual([]);
});
