import { expect, test } from "bun:test";
import type { UserConnections } from "../../../sdk/types.ts";
import { type Explanation, explain, type Facts } from "./explain.ts";

const sentAt = "2026-11-28T14:00:00.000Z";
const before = "2026-11-28T13:00:00.000Z";
const after = "2026-11-28T15:00:00.000Z";
const later = "2026-11-28T16:00:00.000Z";

const offline: UserConnections = { items: [], last_ended: null, last_refused: null };

/** What is known of a message that bob does not have, who is offline, and in the conversation. */
function factsOf(more: Partial<Omit<Facts, "sent">> & { sent?: Partial<Facts["sent"]> } = {}): Facts {
  return {
    uid: "bob",
    state: "missing",
    user: { createdAt: before, isBlocked: false },
    isParticipant: true,
    connections: offline,
    removal: undefined,
    webhook: undefined,
    ...more,
    sent: {
      kind: "message",
      from: "alice",
      at: sentAt,
      cid: "c",
      isKept: true,
      recalledAt: undefined,
      expiredAt: undefined,
      ...more.sent,
    },
  };
}

const toUsers = { kind: "system_message", cid: undefined, isKept: false } as const;

function connectedSince(since: string, waiting = 0): UserConnections {
  const connection = { connection_id: "k", node: "n", transport: "websocket", device_id: null, client: null } as const;
  return { ...offline, items: [{ ...connection, address: "", since, waiting_bytes: waiting }] };
}

const textOf = ({ says }: Explanation) => says.map((part) => (typeof part === "string" ? part : part.at)).join("");
const labelsOf = ({ actions }: Explanation) => actions.map(({ label }) => label);

/** The cause, what is said in full, and what may be done, for what else is known. */
function explained(more: Parameters<typeof factsOf>[0]) {
  const explanation = explain(factsOf(more));
  return [explanation.cause, textOf(explanation), labelsOf(explanation)];
}

test("what was taken back or has expired says so, before anything about the user", () => {
  const blocked = { user: { createdAt: before, isBlocked: true } };
  expect(explained({ ...blocked, sent: { recalledAt: after } })).toEqual([
    "recalled",
    `It was taken back at ${after}, before it reached them.`,
    ["Send it again"],
  ]);
  expect(explained({ sent: { expiredAt: after } })[0]).toBe("expired");
  expect(explained({ state: "has_it", sent: { recalledAt: after } })[0]).toBe("has_it");
});

test("users to whom it was not addressed are told apart: who came later, joined later, or is in no way part of it", () => {
  expect(explained({ user: "gone" })[0]).toBe("no_user");
  const none = { state: "not_addressed" } as const;
  expect(explained({ ...none, user: { createdAt: after, isBlocked: false } })[0]).toBe("came_later");
  expect(explained({ ...none })).toEqual([
    "joined_later",
    "They joined the conversation after it was sent. Herald does not keep when.",
    ["Open the conversation", "Who was added"],
  ]);
  const [cause, , actions] = explained({ ...none, isParticipant: false });
  expect([cause, actions]).toEqual(["no_participant", ["Add bob to the conversation", "Who was removed"]]);
  expect(explained({ ...none, sent: toUsers, isParticipant: undefined })[0]).toBe("not_addressed");
  expect(explained({ ...none, isParticipant: undefined })[0]).toBe("not_addressed");
});

test("a recipient who has left, or is blocked, does not hear it whether connected or not", () => {
  for (const connections of [offline, connectedSince(before)]) {
    expect(explained({ isParticipant: false, connections })).toEqual([
      "left",
      "They left the conversation, or were removed from it, before it reached them.",
      ["Add bob to the conversation", "Who was removed"],
    ]);
    const [cause, , actions] = explained({ user: { createdAt: before, isBlocked: true }, connections });
    expect([cause, actions]).toEqual(["blocked", ["Unblock bob", "Who was blocked"]]);
  }
});

test("a connected user reads too slowly, came back later, or has no record of a delivery", () => {
  expect(explained({ connections: connectedSince(before, 4_096) }).slice(0, 2)).toEqual([
    "slow",
    "They are connected, but read too slowly: 4,096 bytes wait for them.",
  ]);
  expect(explained({ connections: connectedSince(before) })[0]).toBe("unrecorded");
  const [cause, said] = explained({ connections: connectedSince(after) });
  expect([cause, said]).toEqual(["reconnected", expect.stringContaining("has not recovered it")]);
  expect(explained({ connections: connectedSince(after), sent: toUsers })).toEqual([
    "reconnected",
    `They have been connected since ${after}, after it was sent, and it is not kept for those who were offline.`,
    ["Send it again, and keep it in inboxes", "See their connections"],
  ]);
});

test("an absent user was refused if that came last, and is offline since the last connection ended otherwise", () => {
  const ended = { at: before, code: 1006 };
  const refused = { at: after, check: "expired" } as const;
  expect(explained({ connections: { ...offline, last_ended: ended, last_refused: refused } })).toEqual([
    "refused",
    `Their token was refused at ${after}: it had expired; their app has to fetch a fresh one. Offline since ${before}. They receive it when their client reconnects and recovers what it missed.`,
    ["Issue a token to test with"],
  ]);
  const cameBack = { ...offline, last_ended: { ...ended, at: later }, last_refused: refused };
  expect(explained({ connections: cameBack }).slice(0, 2)).toEqual([
    "offline",
    `Offline since ${later}: the line broke, or the client did not answer any more (1006). They receive it when their client reconnects and recovers what it missed.`,
  ]);
  expect(explained({ connections: { ...offline, last_ended: { ...ended, was_slow: true } } })[0]).toBe("cut");
});

test("what Herald does not know, it does not claim", () => {
  const [, unknownWhy] = explained({ connections: { ...offline, last_ended: { at: before } } });
  expect(unknownWhy).toStartWith(`Offline since ${before}; Herald does not keep why.`);
  const [, never] = explained({});
  expect(never).toStartWith("Offline. Herald knows of no earlier connection.");
  expect(explained({ connections: undefined })).toEqual([
    "unknown",
    "It has not reached them. Your key does not show whether they are connected.",
    [],
  ]);
  expect(explained({ connections: { ...offline, last_ended: { at: before, code: 4999 } } })[1]).toContain("(4999)");
});

test("a system message that is not kept is lost for those who are offline, and is to be kept next time", () => {
  const webhook = { id: "push", since: before };
  expect(explained({ sent: toUsers, isParticipant: undefined, webhook })).toEqual([
    "offline",
    "Offline. Herald knows of no earlier connection. It is not kept, so they do not receive it.",
    ["The webhook push fails: redeliver what it has not told", "Send it again, and keep it in inboxes", "Open bob"],
  ]);
  const [, kept] = explained({ sent: { ...toUsers, isKept: true }, isParticipant: undefined });
  expect(kept).toEndWith("They find it in their inbox.");
});

test("a removal that the audit log knows is told with its time and by whom, if it was before the send", () => {
  const removal = { at: before, by: "the key k" };
  const asked = { state: "not_addressed", isParticipant: false } as const;
  expect(explain(factsOf({ ...asked, removal })).says).toEqual([
    ...["They were removed from the conversation at ", { at: before }, ", by the key k", ", before it was sent."],
  ]);
  expect(explain(factsOf({ ...asked, removal: { ...removal, at: after } })).says).toEqual([
    "They were not in the conversation when it was sent, and are not in it now: removed before, or never in it.",
  ]);
  expect(explain(factsOf({ isParticipant: false, removal })).says).toContain(", before it reached them.");
});
