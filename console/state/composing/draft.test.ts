import { expect, test } from "bun:test";
import { readObject } from "./check-json.ts";
import { checkSend } from "./check-send.ts";
import {
  type Draft,
  localNow,
  neededOf,
  requestOf,
  sortMistakes,
  timeMistakes,
  timeOf,
  type Upload,
  uploadMistakes,
} from "./draft.ts";

const draft: Draft = {
  kind: "message",
  senderId: "alice",
  audience: "users",
  cid: "welcome",
  body: "hello",
  uids: "bob\n\na, b\ncarol",
  x: "",
  id: "",
  attachments: [{ key: 1, name: "label.pdf", size: "12", content_type: "" }],
  isSilent: false,
  keepDays: "",
  keepKey: "",
  expires: undefined,
  sendAt: undefined,
};

test("a draft becomes the request of its operation, and a good one has no mistakes", () => {
  const message = requestOf(draft, "demo", "id-1", { a: 1 });
  expect(message).toEqual({
    organizationId: "demo",
    senderId: "alice",
    message: { id: "id-1", cid: "welcome", body: "hello", x: { a: 1 }, attachments: [{ name: "label.pdf", size: 12 }] },
  });
  const system = requestOf({ ...draft, kind: "system_message" }, "demo", "id-1", {});
  expect(system).toEqual({
    organizationId: "demo",
    senderId: "alice",
    messageSystem: { id: "id-1", uids: ["bob", "a, b", "carol"], x: {} },
  });
  expect([checkSend("message", message), checkSend("system_message", system)]).toEqual([[], []]);
  for (const [audience, address] of [
    ["conversation", { cid: "welcome" }],
    ["everyone", { everyone: true }],
  ] as const) {
    const request = requestOf({ ...draft, kind: "system_message", audience }, "demo", "id-1", {});
    expect(request).toEqual({
      organizationId: "demo",
      senderId: "alice",
      messageSystem: { id: "id-1", ...address, x: {} },
    });
    expect(checkSend("system_message", request)).toEqual([]);
  }
});

test("a silent draft asks for it in either operation", () => {
  const silent = { ...draft, isSilent: true };
  const message = requestOf(silent, "demo", "id-1", {});
  const system = requestOf({ ...silent, kind: "system_message" }, "demo", "id-1", {});
  expect([message, system]).toMatchObject([{ message: { silent: true } }, { messageSystem: { silent: true } }]);
  expect([checkSend("message", message), checkSend("system_message", system)]).toEqual([[], []]);
});

test("a draft that expires says when in either operation, in ISO 8601", () => {
  const expires_at = new Date(2026, 11, 1, 9).toISOString();
  const ending = { ...draft, expires: "2026-12-01T09:00" };
  const message = requestOf(ending, "demo", "id-1", {});
  const system = requestOf({ ...ending, kind: "system_message" }, "demo", "id-1", {});
  expect([message, system]).toMatchObject([{ message: { expires_at } }, { messageSystem: { expires_at } }]);
  expect([checkSend("message", message), checkSend("system_message", system)]).toEqual([[], []]);
  expect(timeMistakes(ending)).toEqual([]);
});

test("a system message is kept for so many days, and only then has a key", () => {
  const kept = { ...draft, kind: "system_message", keepDays: "30", keepKey: "export 42" } as const;
  const request = requestOf(kept, "demo", "id-1", {});
  expect(request).toMatchObject({ messageSystem: { keep_days: 30, key: "export 42" } });
  expect(checkSend("system_message", request)).toEqual([]);
  const [unkept, unkeyed, message] = [{ keepDays: "" }, { keepKey: "" }, { kind: "message" as const }].map((change) =>
    requestOf({ ...kept, ...change }, "demo", "id-1", {}),
  );
  expect(unkept).not.toHaveProperty("messageSystem.key");
  expect(unkeyed).toMatchObject({ messageSystem: { keep_days: 30 } });
  expect(unkeyed).not.toHaveProperty("messageSystem.key");
  expect(message).not.toHaveProperty("message.keep_days");
  for (const keepDays of ["0", "366", "1.5", "a week"]) {
    const { fields } = sortMistakes(checkSend("system_message", requestOf({ ...kept, keepDays }, "demo", "i", {})));
    expect(fields).toEqual({ keep_days: "must be a whole number from 1 to 365" });
  }
  const tooLong = requestOf({ ...kept, keepKey: "k".repeat(129) }, "demo", "i", {});
  expect(sortMistakes(checkSend("system_message", tooLong)).fields).toHaveProperty("key");
});

test("a time that was asked for and is not given is a mistake", () => {
  const { fields } = sortMistakes(timeMistakes({ ...draft, sendAt: "", expires: "" }));
  expect(fields).toEqual({ send_at: "Choose a date and a time.", expires_at: "Choose a date and a time." });
  expect(timeMistakes(draft)).toEqual([]);
});

test("mistakes are found by the contract's schemas, and stand at the field that they are about", () => {
  const attachments = [{ key: 1, name: "", size: "-1", content_type: "" }];
  const bad = { ...draft, senderId: "", cid: "a\u0007b", body: "\u0000", attachments };
  const { fields, rest } = sortMistakes(checkSend("message", requestOf(bad, "demo", "x".repeat(129), {})));
  expect(Object.keys(fields).sort()).toEqual(["attachments/0", "body", "cid", "id", "senderId"]);
  expect(rest).toEqual([]);
  const empty = { ...draft, body: "", attachments: [] };
  expect(sortMistakes(checkSend("message", requestOf(empty, "demo", "i", {}))).fields.body).toContain("non-empty");
  const nobody = requestOf({ ...draft, kind: "system_message", uids: "" }, "demo", "i", {});
  expect(sortMistakes(checkSend("system_message", nobody)).fields.uids).toBe("must name at least one user");
});

test("a field that is empty and may not be says what to enter", () => {
  const attachments = [{ key: 1, name: "", size: "", content_type: "" }];
  const said = (part: Partial<Draft>) => {
    const typed = { ...draft, senderId: "", ...part };
    return sortMistakes(checkSend(typed.kind, requestOf(typed, "demo", "i", {})), neededOf(typed)).fields;
  };
  const senderId = "Enter the user who sends it.";
  const cid = "Enter the conversation that it goes to.";
  expect(said({ cid: "", body: "", attachments: [] })).toEqual({
    senderId,
    cid,
    body: "Enter a text, or attach a file.",
  });
  expect(said({ attachments })).toEqual({ senderId, "attachments/0": "Enter the file's name." });
  expect(said({ kind: "system_message", uids: "\n" })).toEqual({ senderId, uids: "Enter at least one user." });
  expect(said({ kind: "system_message", audience: "conversation", cid: "" })).toEqual({ senderId, cid });
  expect(said({ cid: "\u0007" }).cid).toContain("must be 1 to 128 characters");
});

test("x is read as the server reads it: nothing that parsing would alter gets through", () => {
  expect(readObject(" ")).toEqual({ value: {} });
  expect(readObject('{"a":[1]}')).toEqual({ value: { a: [1] } });
  for (const text of [
    "[1]",
    "null",
    '{"a":1,"a":2}',
    '{"a":9007199254740993}',
    '{"a":1',
    `${"[".repeat(64)}${"]".repeat(64)}`,
  ])
    expect(readObject(text)).toHaveProperty("fault");
});

test("what the server says of a scheduled request stands at the same fields", () => {
  const { fields, rest } = sortMistakes([
    { pointer: "/send_at", detail: "is more than a year ahead" },
    { pointer: "/request/message/body", detail: "is too long" },
    { pointer: "/request/senderId", detail: "is too short" },
    { pointer: "/request/message/expires_at", detail: "has passed" },
  ]);
  expect(fields).toEqual({
    send_at: "is more than a year ahead",
    body: "is too long",
    senderId: "is too short",
    expires_at: "has passed",
  });
  expect(rest).toEqual([]);
});

test("a time as typed is a point in time, and what is none is noticed", () => {
  expect(timeOf("2026-12-01T09:00")).toBe(new Date(2026, 11, 1, 9).toISOString());
  expect(["", "tomorrow"].map(timeOf)).toEqual([undefined, undefined]);
  const inAnHour = Date.parse(timeOf(localNow(60)) ?? "") - Date.now();
  expect(inAnHour).toBeGreaterThan(58 * 60_000);
  expect(inAnHour).toBeLessThanOrEqual(60 * 60_000);
});

test("a message waits for its files, and then names them", () => {
  const file = new File(["x"], "a.png");
  const withUpload = (upload: Upload): Draft => ({
    ...draft,
    attachments: [...draft.attachments, { key: 2, name: "a.png", size: "1", content_type: "image/png", upload }],
  });
  for (const upload of [
    { file, is: "going" },
    { file, is: "failed", reason: "away" },
  ] as const) {
    const { fields } = sortMistakes(uploadMistakes(withUpload(upload)));
    expect(fields).toEqual({ "attachments/1": expect.stringMatching(/^file: is (still being|not) uploaded/) });
  }
  const stored = withUpload({ file, is: "stored", fileId: "f" });
  expect(uploadMistakes(stored)).toEqual([]);
  const request = requestOf(stored, "demo", "id-1", {});
  const attachment = { name: "a.png", size: 1, content_type: "image/png", file_id: "f" };
  expect(request).toMatchObject({ message: { attachments: [{ name: "label.pdf" }, attachment] } });
});
