import { expect, test } from "bun:test";
import type { PacedWork } from "../../lib/queues/paced-work.ts";
import type { StoredMessage } from "../../store/messages/ports.ts";
import { createHistoryReader } from "./history.ts";

const conversation = { id: "c", name: null, createdAt: 0, updatedAt: 0, unread: 0 };

function unused(): never {
  throw new Error("not used here");
}

/** A reader of a conversation whose only message has so many bytes. Records which pace each read kept. */
function readerOf(bytes: number) {
  const kept: string[] = [];
  const paceOf = (name: string): PacedWork => ({
    async run(work, { key, isLarge = () => true }) {
      const result = await work();
      kept.push(`${key} ${name}${isLarge(result) ? ", large" : ""}`);
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
    shortReads: paceOf("short"),
    longReads: paceOf("long"),
    onUnreadable: unused,
  });
  const reads = {
    page: async () => (await reader.messagesFor("o", "u", "c", { limit: 1 })).length,
    "by id": async () => (await reader.messagesFor("o", "u", "c", { limit: 1, ids: ["m"] })).length,
    list: async () => {
      const { items } = await reader.conversationsOf("o", "u", { limit: 10 });
      return items.filter((item) => item.last_message !== null).length;
    },
  };
  return { kept, reads };
}

test.each(["page", "by id", "list"] as const)("a %s keeps the pace of its length", async (kind) => {
  for (const [bytes, expected] of [
    [16 * 1024, ["o short"]],
    [16 * 1024 + 1, ["o short, large"]],
    [64 * 1024 - 1, ["o short, large"]],
  ] as const) {
    const { kept, reads } = readerOf(bytes);
    expect(await reads[kind]()).toBe(1);
    expect(kept).toEqual([...expected]);
  }
});

test.each(["page", "by id", "list"] as const)("a long %s is read apart from short ones", async (kind) => {
  const { kept, reads } = readerOf(64 * 1024 + 1);
  expect(await reads[kind]()).toBe(1);
  expect(kept.at(-1)).toBe("o long, large");
  expect(kept[0]).toStartWith("o short");
});
