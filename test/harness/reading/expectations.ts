import { expect } from "bun:test";
import type { Event, ListedMessage, Message, Problem, ShownMessage, SystemMessage } from "../clients/wire.ts";
import type { Answer } from "../servers/herald.ts";

export const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const ISO_MILLISECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Expects an error response exactly as described in section 6. With `pointer`, one of its `errors` points there. */
export function expectProblem(answer: Answer<unknown>, status: number, code: string, pointer?: string): void {
  const shown = `${answer.status} ${answer.text}`;
  expect(shown).toStartWith(`${status} `);
  const problem = answer.body as Problem;
  expect(problem.code).toBe(code);
  expect(answer.headers.get("content-type") ?? "").toMatch(/^application\/problem\+json\b/);
  const members = ["type", "title", "status", "detail", "code", "request_id", ...(status === 422 ? ["errors"] : [])];
  if (code === "append_conflict") members.push("length");
  expect(Object.keys(problem).sort()).toEqual(members.sort());
  expect(problem.type).toBe(`/docs/errors#${code}`);
  expect(problem.status).toBe(status);
  expect(problem.title).toBeString();
  expect(problem.title).not.toBe("");
  expect(problem.detail).toBeString();
  expect(problem.detail).not.toBe("");
  expect(problem.request_id).not.toBe("");
  expect(answer.headers.get("x-request-id")).toBe(problem.request_id);
  if (status !== 422) return;
  expect(problem.errors).toBeArray();
  expect(problem.errors).not.toEqual([]);
  for (const error of problem.errors ?? [])
    expect(error).toEqual({ pointer: expect.any(String), detail: expect.any(String) });
  if (pointer !== undefined) expect((problem.errors ?? []).map((error) => error.pointer)).toContain(pointer);
}

/** The conversation message of an event, checked against the eight members of the seed's 2.4. */
export function messageOf(event: Event): Message {
  expect(Object.keys(event)).toEqual(["message"]);
  const message = event.message;
  if (message === undefined) throw new Error("unreachable");
  expectMessageShape(message);
  return message;
}

export function expectMessageShape(message: Message): void {
  expect(Object.keys(message).sort()).toEqual(["_id", "attachments", "body", "cid", "created_at", "from", "t", "x"]);
  expect(message._id).toMatch(UUID_V7);
  expect(message.from).toBeString();
  expect(message.body).toBeString();
  expect(message.cid).toBeString();
  expect(message.x).toBeObject();
  expect(Array.isArray(message.x)).toBe(false);
  expect(message.attachments).toBeArray();
  for (const attachment of message.attachments)
    expect(attachment).toEqual({ file_id: expect.any(String), file_name: expect.any(String) });
  expect(message.created_at).toMatch(ISO_MILLISECONDS);
  expect(message.t).toBe(Math.floor(Date.parse(message.created_at) / 1000));
}

/** The system message of an event, checked against the four members of the seed's 2.5. */
export function systemMessageOf(event: Event): SystemMessage {
  expect(Object.keys(event)).toEqual(["system_message"]);
  const message = event.system_message;
  if (message === undefined) throw new Error("unreachable");
  expect(Object.keys(message).sort()).toEqual(["_id", "from", "t", "x"]);
  expect(message._id).toBeString();
  expect(message.from).toBeString();
  expect(message.t).toBeInteger();
  expect(Math.abs(message.t - Date.now() / 1000)).toBeLessThan(600);
  expect(message.x).toBeObject();
  return message;
}

/** A message without attachments that the history over HTTP has, as a list over a socket shows it. */
export function asShown(message: ListedMessage | undefined): ShownMessage {
  if (message === undefined) throw new Error("there is no such message");
  return { ...message, updated_at: message.edited_at ?? message.created_at };
}
