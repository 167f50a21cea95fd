import { expect, test } from "bun:test";
import { userConnectionExample } from "../contract/documents/examples.ts";
import type { PresenceAnswer } from "./bus.ts";
import { presenceAnswer } from "./presence-codec.ts";

const { node, ...connection } = userConnectionExample;
const answer: Required<PresenceAnswer> = {
  online: [{ id: "u", connections: 1, devices: [null] }],
  hasMore: false,
  total: { users: 1, connections: 1 },
  version: "1.0.0",
  rates: { requests: 2, messages: 1 },
  connections: [{ ...connection, device_id: null, client: null }],
  last: {
    last_ended: { at: connection.since, code: 1006, was_slow: true },
    last_refused: { at: connection.since, check: "expired" },
  },
};

test("all of a node's answer arrives", () => {
  expect(presenceAnswer.parse({ node, answer })).toEqual({ node, answer });
});

test("what a later version remembers, and this one does not know, is left out", () => {
  const later = { ...answer, last: { last_refused: { at: connection.since, check: "of a later version" } } };
  expect(presenceAnswer.parse({ node, answer: later }).answer).toEqual({ ...answer, last: undefined });
});
