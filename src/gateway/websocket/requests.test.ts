import { expect, test } from "bun:test";
import { createOwner } from "../../lib/owner.ts";
import { createRequestHandler } from "./requests.ts";

test("a list of conversations costs more than its size, for the unread messages that were counted", async () => {
  const conversation = {
    _id: "c",
    name: null,
    type: "g" as const,
    created_at: "2026-11-20T13:06:00.123Z",
    updated_at: "2026-11-20T13:06:00.123Z",
    last_message: null,
  };
  const costOf = async (...unread: number[]) => {
    const items = unread.map((unread_messages_count) => ({ ...conversation, unread_messages_count }));
    const handle = createRequestHandler({
      history: {
        messagesFor: neverUsed,
        conversationsOf: async () => ({ items, cursor: null }),
      },
      reactionLists: { reactionsTo: neverUsed },
      receipts: { acknowledge: neverUsed },
      reads: { markAs: neverUsed },
      inboxes: { list: neverUsed, mark: neverUsed, countUnread: neverUsed },
      activity: { of: neverUsed, subscribe: neverUsed, unsubscribe: neverUsed },
      typing: { pass: neverUsed },
      audiences: { setInactive: neverUsed },
      acquaintances: { usersByIds: neverUsed, participantsByCids: neverUsed },
      fileAddresses: { urlsOf: neverUsed },
      onAcknowledged: neverUsed,
    });
    return (await handle(asker, "conversation_list", {})).addedCost;
  };
  expect(await costOf()).toBe(0);
  expect(await costOf(100, 0, 25)).toBe(0.05);
  expect(await costOf(...Array<number>(100).fill(100))).toBe(4);
});

const asker = {
  publicOrigin: undefined,
  org: "o",
  uid: "u",
  issuedAt: 0,
  owner: createOwner(neverUsed),
  write: neverUsed,
};

function neverUsed(): never {
  throw new Error("only conversations are listed here");
}
