import { describe, expect, test } from "bun:test";
import type { PacedWork } from "../../lib/queues/paced-work.ts";
import type { StoredMessage } from "../../store/messages/ports.ts";
import { createHistoryReader } from "./history.ts";

const conversation = { id: "c", name: null, createdAt: 0, updatedAt: 0, unread: 0 };

function unused(): never {
  throw new Error("not used here");
}

/** A reader of a conversation whose only message has so many bytes. Records the pauses after each read. */
function readerOf(bytes: number, isShared = false) {
  const pauses: string[] = [];
  const paced = (name: string): PacedWork => ({
    async run(work, { key, pausesAfter = () => 1 }) {
      const result = await work();
      pauses.push(`${key}: ${name}, ${pausesAfter(result)}`);
      return result;
    },
  });
  const frame = '{"message":{"_id":"m","body":""}}'.length;
  const message: StoredMessage = {
    offset: 1,
    payload: JSON.stringify({ message: { _id: "m", body: "x".repeat(bytes - frame) } }),
    editedAt: undefined,
  };
  const reader = createHistoryReader({
    history: {
      messages: async () => [message],
      messagesAt: async () => [message],
      places: async () => [{ cid: "c", offset: 1, bytes }],
      lastPlaces: async () => [{ cid: "c", offset: 1, bytes }],
      offsetOf: unused,
      offsetAfter: unused,
    },
    organizations: { get: unused },
    conversations: { get: unused },
    participants: { has: async () => true },
    standing: { conversations: async () => [conversation] },
    reads: paced("read"),
    longPages: paced("long page"),
    isShared: () => isShared,
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
  return { pauses, readers };
}

const kibibyte = 1_024;

describe.each(["page", "list by ids", "list of conversations"] as const)("after a %s", (kind) => {
  test.each([
    [16, 0],
    [32, 0.5],
    [63, 63 / 64],
  ])("of %i KiB, there is a pause for what was read, if that was much", async (size, expected) => {
    const { pauses, readers } = readerOf(size * kibibyte);
    expect(await readers[kind]()).toBe(1);
    expect(pauses).toEqual([`o: read, ${expected}`]);
  });
});

test("a list of 128 KiB takes two pauses, and a page of more than 64 KiB waits for other long pages", async () => {
  const { pauses, readers } = readerOf(128 * kibibyte);
  expect(await readers["list by ids"]()).toBe(1);
  expect(await readers["list of conversations"]()).toBe(1);
  expect(await readers.page()).toBe(1);
  expect(pauses).toEqual(["o: read, 2", "o: read, 2", "o: read, 2", "o: long page, 1"]);
});

test("while organizations share the node, a long page takes three pauses", async () => {
  const { pauses, readers } = readerOf(128 * kibibyte, true);
  expect(await readers.page()).toBe(1);
  expect(pauses).toEqual(["o: read, 2", "o: long page, 3"]);
});
