import { expect, test } from "bun:test";
import type { AuditEntry } from "../../../sdk/types.ts";
import type { ReadLog } from "./log-pages.ts";
import { type About, isAbout, lookInLog, names } from "./sources.ts";

const message = { kind: "message", id: "m-1" } as const;
const system = { kind: "system_message", id: "m-1" } as const;
const cursorAt = (at: number, offset: number) =>
  `${offset}-${at
    .toString(16)
    .padStart(12, "0")
    .replace(/^(.{8})/, "$1-")}-7000-8000-000000000000`;

test("a delivery of a webhook is about a message if it names it", () => {
  const about = { sent: message, from: "alice" };
  expect(isAbout({ data: { message: { _id: "m-1" } } }, about)).toBe(true);
  expect(isAbout({ data: { message_read: { ids: ["m-0", "m-1"] } } }, about)).toBe(true);
  expect(isAbout({ data: { undeliverable: { type: "message.unreached", id: "m-1" } } }, about)).toBe(true);
  expect(isAbout({ data: { undeliverable: { type: "scheduled.failed", id: "m-1" } } }, about)).toBe(false);
  expect(isAbout({ data: { system_message: { _id: "m-1", from: "alice" } } }, about)).toBe(false);
  expect(isAbout(null, about)).toBe(false);
});

test("a system message of another sender with the same id is another one", () => {
  const request = { data: { system_message: { _id: "m-1", from: "alice" } } };
  expect(isAbout(request, { sent: system, from: "alice" })).toBe(true);
  expect(isAbout(request, { sent: system, from: "bob" })).toBe(false);
});

test("an entry of the audit log names a message by its id, and a system message with the same id is another one", () => {
  const entry = (operation: string, target: AuditEntry["target"]) => ({ operation, target }) as AuditEntry;
  expect(names(entry("getMessage", { message: "m-1" }), message)).toBe(true);
  expect(names(entry("recallMessages", { messages: ["m-0", "m-1"] }), message)).toBe(true);
  expect(names(entry("recallSystemMessages", { messages: ["m-1"] }), message)).toBe(false);
  expect(names(entry("getSystemMessage", { message: "m-1" }), system)).toBe(true);
  expect(names(entry("createKey", { key: "m-1" }), message)).toBe(false);
});

test("a look at a log keeps what is about the message, and ends at the end of the log or after a few pages", async () => {
  const about: About = { org: "o", sent: message, from: "alice", cid: "c", sentAt: "2026-12-01T09:00:00.000Z" };
  const edit = (id: string) => ({ message_edit: { id, cid: "c", from: "alice", body: "", x: {}, t: 0 } });
  const old = Date.UTC(2026, 0, 1);
  const asked: (string | undefined)[] = [];
  const readOf =
    (pages: number): ReadLog =>
    async ({ after }) => {
      asked.push(after);
      const offset = Math.min(pages, Number(after?.split("-", 1)[0] ?? 0) + 1);
      const entries = ["m-0", "m-1"].map((id) => ({ cursor: "", at: "", event: edit(id) }));
      return { entries, next: cursorAt(old, offset) };
    };
  const short = await lookInLog(readOf(1), about, undefined);
  expect([short.items.length, short.next, asked]).toEqual([2, undefined, [undefined, cursorAt(old, 1)]]);
  const long = await lookInLog(readOf(100), about, undefined);
  expect([long.items.length, long.next]).toEqual([3, cursorAt(old, 3)]);
  expect((await lookInLog(readOf(100), about, long.next)).next).toBe(cursorAt(old, 6));
});
