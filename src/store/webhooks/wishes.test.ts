import { expect, test } from "bun:test";
import type { StoredWebhook } from "./ports.ts";
import { dueRows, readWishes, refsOf, type Wish, wishesColumn } from "./wishes.ts";

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

const stored = (change: Partial<StoredWebhook>): StoredWebhook => ({
  org: "o",
  id: "push",
  ref: "w",
  url: "https://example.org/",
  events: ["message.unreached"],
  waitMs: 1_000,
  until: "delivered",
  secrets: [],
  createdAt: 1,
  disabledAt: null,
  failing: null,
  ...change,
});

test("the column of an organization holds what its webhooks wait for, or nothing if they wait for nothing", () => {
  const of = (change: Partial<StoredWebhook>) => wishesColumn([stored(change)]);
  expect(readWishes(of({}) ?? "")).toEqual([{ webhook: "w", kinds: ["message"], waitMs: 1_000 }]);
  expect(readWishes(of({ events: ["message.read", "system_message.unreached"] }) ?? "")).toEqual([
    { webhook: "w", kinds: ["system"], waitMs: 1_000, notices: ["message.read"] },
  ]);
  expect(of({ disabledAt: 5 })).toBeNull();
  expect(wishesColumn([])).toBeNull();
});

test("a notice goes to the webhooks that want it", () => {
  const all: Wish[] = [
    ...wishes,
    { webhook: "w3", kinds: [], waitMs: 1, notices: ["message.read", "scheduled.failed"] },
  ];
  expect(refsOf(all, "message.read")).toEqual(["w3"]);
  expect(refsOf(all, "message.undeliverable")).toEqual([]);
});

test("a silent event is due at none", () => {
  for (const kind of ["message", "system"] as const)
    expect(dueRows(wishes, { ...event, kind, silent: true }, 7)).toEqual([]);
});
