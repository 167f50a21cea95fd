import { expect, test } from "bun:test";
import type { StoredMessage } from "../../store/messages/ports.ts";
import { createHistoryReader } from "./history.ts";

const conversation = { id: "c", name: null, createdAt: 0, updatedAt: 0, unread: 0 };

function unused(): never {
  throw new Error("not used here");
}

/** A reader of a conversation whose only message has so many bytes. Counts the reads that waited for other long ones. */
function readerOf(bytes: number) {
  let long = 0;
  const longReads = {
    async run<Result>(work: () => Promise<Result>): Promise<Result> {
      long++;
      return await work();
    },
  };
  const frame = '{"message":{"_id":"m","body":"","attachments":[]}}'.length;
  const message: StoredMessage = {
    offset: 1,
    cid: "c",
    payload: JSON.stringify({ message: { _id: "m", body: "x".repeat(bytes - frame), attachments: [] } }),
    editedAt: undefined,
    reactions: undefined,
  };
  const reader = createHistoryReader({
    history: {
      messages: async () => [message],
      messagesAt: async () => [message],
      places: async () => [{ cid: "c", offset: 1, bytes }],
      lastPlaces: async () => [{ cid: "c", offset: 1, bytes }],
      offsetOf: unused,
      offsetAfter: unused,
      reactionsBy: unused,
    },
    files: { among: unused },
    organizations: { get: unused },
    conversations: { get: unused },
    participants: { has: async () => true },
    standing: { conversations: async () => [conversation] },
    longReads,
    onUnreadable: unused,
  });
  const readers = {
    page: async () => (await reader.messagesFor("o", "u", "c", { limit: 1 })).length,
    "list by ids": async () => (await reader.messagesFor("o", "u", "c", { limit: 1, ids: ["m"] })).length,
    "list of conversations": async () => {
      const { items } = await reader.conversationsOf("o", "u", { limit: 10 });
      return items.filter((item) => item.last_message !== null).length;
    },
  };
  return { long: () => long, readers };
}

const kibibyte = 1_024;

test.each([
  [63, 0],
  [128, 1],
])("a page of %i KiB waits for other long pages if it is long, and no list does", async (size, expected) => {
  const { long, readers } = readerOf(size * kibibyte);
  for (const kind of ["page", "list by ids", "list of conversations"] as const) expect(await readers[kind]()).toBe(1);
  expect(long()).toBe(expected);
});
