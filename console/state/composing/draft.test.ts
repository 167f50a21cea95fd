import { expect, test } from "bun:test";
import { readObject } from "./check-json.ts";
import { checkSend } from "./check-send.ts";
import { type Draft, requestOf, sortMistakes } from "./draft.ts";

const draft: Draft = {
  kind: "message",
  senderId: "alice",
  cid: "welcome",
  body: "hello",
  uids: "bob\n\na, b\ncarol",
  x: "",
  id: "",
  attachments: [{ key: 1, name: "label.pdf", size: "12", content_type: "" }],
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
