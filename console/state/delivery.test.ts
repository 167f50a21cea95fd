import { expect, test } from "bun:test";
import { outlookOf } from "./delivery.ts";

const time = "2026-12-01T09:00:00.000Z";
const stands = { recalled_at: undefined, expired_at: undefined, isKept: true };

test("a report says whether users who do not have it will get it", () => {
  expect(outlookOf("message", stands)).toContain("They receive the message when their clients reconnect");
  expect(outlookOf("system_message", stands)).toContain("They find it in their inboxes.");
  expect(outlookOf("system_message", { ...stands, superseded_by: "m-2" })).toContain("or a newer one with its key");
  expect(outlookOf("system_message", { ...stands, isKept: false })).toContain("they do not receive it");
  for (const kind of ["message", "system_message"] as const) {
    expect(outlookOf(kind, { ...stands, recalled_at: time })).toStartWith("It was taken back");
    expect(outlookOf(kind, { ...stands, expired_at: time })).toStartWith("It has expired");
  }
});
