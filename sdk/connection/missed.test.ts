import { expect, test } from "bun:test";
import type { Message } from "../types.ts";
import { createUuid } from "../uuid.ts";
import { readMissed } from "./missed.ts";

const noon = Date.parse("2026-11-20T12:00:00Z");
const minute = 60_000;

/** Messages of a conversation, one a minute from `from` to `to` after noon, newest first. */
function messagesOf(cid: string, from: number, to: number): Message[] {
  return Array.from({ length: to - from + 1 }, (_, index): Message => {
    const at = noon + (to - index) * minute;
    const created_at = new Date(at).toISOString();
    return { _id: createUuid(at), t: at / 1000, from: "a", body: "", cid, x: {}, attachments: [], created_at };
  });
}

/** A server with these conversations, the most recently active first, and what it was asked. */
function serve(conversations: Record<string, Message[]>, known: string[] = []) {
  const asked: string[] = [];
  const summaries = Object.entries(conversations).map(([_id, messages]) => ({
    _id,
    name: null,
    type: "g",
    created_at: new Date(noon).toISOString(),
    updated_at: messages[0]?.created_at ?? new Date(noon).toISOString(),
    unread_messages_count: 0,
  }));
  return {
    asked,
    isKnown: (id: string) => known.includes(id),
    async listConversations({ limit, cursor = "0" }: { limit: number; cursor?: string }) {
      asked.push("conversations");
      const end = Number(cursor) + limit;
      return { conversations: summaries.slice(Number(cursor), end), cursor: end < summaries.length ? `${end}` : null };
    },
    async listMessages({ cid, limit, before }: { cid: string; limit: number; before?: string }) {
      asked.push(cid);
      const messages = conversations[cid] ?? [];
      const start = before === undefined ? 0 : messages.findIndex(({ _id }) => _id === before) + 1;
      return messages.slice(start, start + limit);
    },
  };
}

async function idsOf(pages: ReturnType<typeof readMissed>): Promise<string[]> {
  return (await Array.fromAsync(pages)).flatMap(({ messages }) => messages.map(({ _id }) => _id));
}

test("everything after a message is read, of every conversation that moved, page by page, and no further", async () => {
  const busy = messagesOf("busy", 1, 500);
  const other = messagesOf("other", 200, 260);
  const source = serve({ busy, other, quiet: messagesOf("quiet", 1, 5), quieter: messagesOf("quieter", 1, 4) });
  const since = busy.find(({ created_at }) => created_at === new Date(noon + 250 * minute).toISOString())?._id;
  const ids = await idsOf(readMissed(source, since));
  // A minute more than needed, since clocks differ.
  const expected = [...busy, ...other].filter(({ created_at }) => Date.parse(created_at) >= noon + 249 * minute);
  expect(ids).toEqual(expected.map(({ _id }) => _id));
  expect(source.asked).toEqual(["conversations", "busy", "busy", "busy", "other"]);
});

test("what was delivered already is left out", async () => {
  const room = messagesOf("room", 1, 3);
  const [newest, middle, oldest] = room.map(({ _id }) => _id);
  expect(await idsOf(readMissed(serve({ room }, [middle ?? ""]), oldest))).toEqual([newest ?? "", oldest ?? ""]);
});

test("without a message to begin with, all history can be read, for as long as one likes", async () => {
  const room = messagesOf("room", 1, 350);
  const source = serve({ room });
  for await (const { messages } of readMissed(source, undefined)) {
    expect(messages).toHaveLength(100);
    break;
  }
  expect(source.asked).toEqual(["conversations", "room"]);
  expect(await idsOf(readMissed(serve({ room }), "an id of nobody's"))).toHaveLength(350);
});

test("all pages of the conversations are looked through", async () => {
  const conversations = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`room ${index}`, messagesOf(`room ${index}`, 300 - index, 300 - index)]),
  );
  expect(await idsOf(readMissed(serve(conversations), undefined))).toHaveLength(30);
});
