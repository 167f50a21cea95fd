import { expect, test } from "bun:test";
import type { LogEvent } from "../../contract/log/log-event.ts";
import { blankFeedFrame, createStreamFrames } from "./stream-frames.ts";

const id = "019aa8c4-7a3e-7b1f-8c2d-0123456789ab";
const base = { org: "o", offset: 7, id, cid: "c", prev: undefined, uids: undefined, expiresAt: undefined };

function blanked(event: Pick<LogEvent, "kind" | "payload">): string {
  const frame = createStreamFrames().forFeeds({ ...base, ...event });
  return new TextDecoder().decode(blankFeedFrame(frame));
}

test("what is left of a message or system message in a feed is who sent it when, at its cursor", () => {
  const message = { _id: id, t: 1, from: "alice", cid: "c", created_at: "2026-01-01T00:00:01.000Z" };
  const text = { body: "line\\nsecret", x: { secret: 1 }, attachments: [{ file_id: "f", file_name: "secret" }] };
  const frame = blanked({ kind: "message", payload: JSON.stringify({ message: { ...message, ...text } }) });
  const [name, cursor, data = "", ...end] = frame.split("\n");
  expect([name, cursor, end]).toEqual(["event: message", `id: 7-${id}`, ["", ""]]);
  expect(JSON.parse(data.slice("data: ".length)).message).toMatchObject({ ...message, t: 1767225601, body: "", x: {} });
  expect(frame).not.toContain("secret");
  const system = { _id: "s", t: 2, from: "alice", x: { secret: 1 } };
  expect(blanked({ kind: "system", payload: JSON.stringify({ system_message: system }) })).toBe(
    `event: system_message\nid: 7-${id}\ndata: ${JSON.stringify({ system_message: { ...system, x: {} } })}\n\n`,
  );
});

test("what is left of an edit is its cursor", () => {
  const payload = JSON.stringify({ message_edit: { id, cid: "c", from: "alice", body: "secret", x: {}, t: 1 } });
  expect(blanked({ kind: "edit", payload })).toBe(`:\nid: 7-${id}\n\n`);
});
