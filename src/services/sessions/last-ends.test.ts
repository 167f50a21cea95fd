import { expect, test } from "bun:test";
import { createLastEnds } from "./last-ends.ts";

const bob = { org: "o", uid: "bob" };

test("the last end and the last refusal of a user are remembered, each with its time", () => {
  let now = 1;
  const ends = createLastEnds({ clock: { now: () => now } });
  expect(ends.of(bob)).toEqual({});
  ends.noteEnd(bob, { code: 1001, isSlow: false });
  now = 2;
  ends.noteRefusal(bob, "expired");
  now = 3;
  ends.noteEnd(bob, { code: 1006, isSlow: true });
  expect(ends.of(bob)).toEqual({
    ended: { at: 3, code: 1006, isSlow: true },
    refused: { at: 2, check: "expired" },
  });
  expect(ends.of({ org: "other", uid: "bob" })).toEqual({});
});

test("at most 10,000 users are remembered: those of whom something was noted last", () => {
  const ends = createLastEnds({ clock: { now: () => 1 } });
  ends.noteRefusal({ org: "o", uid: "forgotten" }, "revoked");
  ends.noteRefusal(bob, "blocked");
  for (let index = 0; index < 9_998; index++) ends.noteRefusal({ org: "o", uid: `u${index}` }, "expired");
  ends.noteRefusal(bob, "revoked");
  ends.noteRefusal({ org: "o", uid: "one more" }, "expired");
  expect(ends.of({ org: "o", uid: "forgotten" })).toEqual({});
  expect(ends.of(bob).refused?.check).toBe("revoked");
});
