import { z } from "zod";
import type { ConversationView } from "../../contract/connections/frames.ts";
import { errorAbout } from "../../contract/errors/naming.ts";
import { toIso } from "../../contract/identifiers.ts";
import type { ListedMessage } from "../../contract/messages/events.ts";
import { readTotals } from "../../contract/messages/reactions.ts";
import { nextTurn } from "../../lib/event-loop/next-turn.ts";
import { objectWith } from "../../lib/json/json-values.ts";
import { firstWithin } from "../../lib/queues/first-within.ts";
import type { Limiter } from "../../lib/queues/limiter.ts";
import { encodeCursor } from "../../lib/text/cursor.ts";
import type { FileReads } from "../../store/files/ports.ts";
import type { History, MessagePlace, StoredMessage } from "../../store/messages/ports.ts";
import type { Conversations, Organizations, Participants, Standing } from "../../store/ports.ts";
import { refuseMissing } from "../directory/directory.ts";
import { type Page, type PageQuery, parseCursor, toPage } from "../pages.ts";
import { createShownMessages } from "./shown-messages.ts";

/** Selects messages: older than `before`, or newer than `after`, oldest first. */
export type MessageQuery = { limit: number; before?: string | undefined; after?: string | undefined };

/** Selects what is later than `gt` and earlier than `lt`, in milliseconds since the Unix epoch. */
export type Between = { gt?: number | undefined; lt?: number | undefined };

/** Selects messages for a participant: also by time, or exactly those of `ids`. */
export type ParticipantQuery = MessageQuery & { ids?: string[] | undefined; updated_at?: Between | undefined };

type Dependencies = {
  history: History;
  files: Pick<FileReads, "among">;
  organizations: Pick<Organizations, "get">;
  conversations: Pick<Conversations, "get">;
  participants: Pick<Participants, "has">;
  standing: Pick<Standing, "conversations">;
  /** Reads a few pages of more than 64 KiB at a time. Organizations take turns. */
  longReads: Pick<Limiter, "run">;
  /** Called for a message whose stored row is damaged. The message is left out of the page. */
  onUnreadable(place: { org: string; offset: number }): void;
};

type Shown = NonNullable<ConversationView["last_message"]>;

/** A stored message, and what its text says. */
type ReadMessage = { row: StoredMessage; message: ListedMessage };

/** A page of messages, each as JSON text: what was delivered or an edit made of it, with what lists add. */
export type MessagePage = { items: string[]; cursor: string | null };

type Range = { after?: number | undefined; before?: number | undefined; direction: "forward" | "backward" };

/** A conversation that is read, for a user who does not see what is hidden, or by key. */
type Reading = { org: string; cid: string; viewer?: string };

const maxPageBytes = 512 * 1024;
const maxLastBytes = 256 * 1024;
const shortPageBytes = 64 * 1024;
const rowsAtOnce = 100;
const [opening, closing] = ['{"message":', "}"];

const messagePlace = z.strictObject({
  after: z.int().optional(),
  before: z.int().optional(),
  direction: z.enum(["forward", "backward"]),
});
const conversationPlace = z.strictObject({ updatedAt: z.int(), id: z.string() });

/** Creates the reader of conversations and their messages, for callers of the admin API and for participants. */
export function createHistoryReader(dependencies: Dependencies) {
  const { history, organizations, conversations, participants, standing } = dependencies;
  const { longReads, onUnreadable } = dependencies;
  const shown = createShownMessages(dependencies);

  async function rangeOf(org: string, cid: string, { before, after }: MessageQuery): Promise<Range> {
    const offsetOf = async (id: string | undefined) => {
      if (id === undefined) return undefined;
      const offset = await history.offsetOf(org, cid, id);
      if (offset === undefined) throw errorAbout("message_not_found", { message: id });
      return offset;
    };
    return {
      after: await offsetOf(after),
      before: await offsetOf(before),
      direction: after === undefined ? "backward" : "forward",
    };
  }

  /** At most `limit` messages, ending with the one that reaches `maxBytes`. */
  async function readUpTo(
    { org, cid, viewer }: Reading,
    range: Range,
    { limit, maxBytes }: { limit: number; maxBytes: number },
  ): Promise<{ messages: ReadMessage[]; bytes: number }> {
    const messages: ReadMessage[] = [];
    let bytes = 0;
    let rest = range;
    while (messages.length < limit && bytes < maxBytes) {
      const count = Math.min(rowsAtOnce, limit - messages.length);
      const rows = await history.messages(org, cid, { ...rest, limit: count, maxBytes: maxBytes - bytes }, viewer);
      for (const row of rows) {
        rest = beyond(rest, row);
        const message = messageIn(row);
        if (message === undefined) {
          onUnreadable({ org, offset: row.offset });
          continue;
        }
        bytes += Buffer.byteLength(row.payload);
        messages.push({ row, message });
      }
      if (rows.length < count) break; // the end, or `maxBytes` reached
    }
    return { messages, bytes };
  }

  /**
   * Calls `finish` with at most `limit` messages, ending with the one that reaches 512 KiB, as a page must not cut the
   * connection that asked for it. A request for a long page holds no messages while it waits.
   */
  async function read<Made>(
    of: Reading,
    range: Range,
    limit: number,
    finish: (messages: ReadMessage[]) => Made | Promise<Made>,
  ): Promise<Made> {
    const short = await readUpTo(of, range, { limit, maxBytes: shortPageBytes });
    if (short.bytes < shortPageBytes) return await finish(short.messages);
    const readLong = async () => {
      const { messages } = await readUpTo(of, range, { limit, maxBytes: maxPageBytes });
      await nextTurn(); // reading and answering take some milliseconds each
      return await finish(messages);
    };
    return await longReads.run(readLong, { key: of.org });
  }

  /** The range between two times, within another. */
  async function rangeBetween(org: string, cid: string, range: Range, { gt, lt }: Between): Promise<Range> {
    const after = gt === undefined ? undefined : (await history.offsetAfter(org, cid, gt)) - 1;
    const before = lt === undefined ? undefined : await history.offsetAfter(org, cid, lt - 1);
    return {
      ...range,
      after: Math.max(range.after ?? Number.MIN_SAFE_INTEGER, after ?? Number.MIN_SAFE_INTEGER),
      before: Math.min(range.before ?? Number.MAX_SAFE_INTEGER, before ?? Number.MAX_SAFE_INTEGER),
    };
  }

  /** The rows at these places and the messages in them, without those that are damaged. */
  async function readAt(org: string, places: readonly MessagePlace[]): Promise<ReadMessage[]> {
    if (places.length === 0) return [];
    const found = await history.messagesAt(
      org,
      places.map(({ offset }) => offset),
    );
    return found.flatMap((row) => {
      const message = messageIn(row);
      if (message === undefined) onUnreadable({ org, offset: row.offset });
      return message === undefined ? [] : [{ row, message }];
    });
  }

  /** Those of `ids` that are messages of the conversation, newest first: as many, at least one, as have 512 KiB together. */
  async function readByIds(org: string, uid: string, cid: string, ids: readonly string[]) {
    const places = await history.places(org, cid, [...new Set(ids)], uid);
    return await readAt(
      org,
      firstWithin(places, ({ bytes }) => bytes, maxPageBytes),
    );
  }

  /** How a user has reacted to those of the messages that have reactions, by their offsets. */
  async function ownReactions(
    org: string,
    uid: string,
    rows: readonly StoredMessage[],
  ): Promise<Map<number, string[]>> {
    const reacted = rows.filter(({ reactions }) => reactions !== undefined);
    return reacted.length === 0 ? new Map() : await history.reactionsBy(org, uid, reacted);
  }

  /** Messages with reactions, as a participant sees them, and their texts. */
  async function withReactions(org: string, uid: string, messages: readonly ReadMessage[]) {
    const own = await ownReactions(
      org,
      uid,
      messages.map(({ row }) => row),
    );
    return messages.map(({ row, message }) => {
      const ofUser = own.get(row.offset) ?? [];
      return { message: { ...message, ...addedTo(row, ofUser) }, text: textOf(row, ofUser) };
    });
  }

  /** The last message of each of these conversations, for as many of them, at least one, as have 256 KiB together. */
  async function lastMessages(
    org: string,
    uid: string,
    cids: string[],
  ): Promise<{ count: number; messages: Map<string, Shown> }> {
    const places = cids.length === 0 ? [] : await history.lastPlaces(org, cids, uid);
    const byCid = new Map(places.map((place) => [place.cid, place]));
    const first = firstWithin(cids, (cid) => byCid.get(cid)?.bytes ?? 0, maxLastBytes);
    const wanted = first.flatMap((cid) => byCid.get(cid) ?? []);
    const cidAt = new Map(wanted.map(({ cid, offset }) => [offset, cid]));
    const last = await readAt(org, wanted);
    const messages = await shown.complete(
      org,
      (await withReactions(org, uid, last)).map(({ message }) => message),
    );
    const cidOf = (index: number) => cidAt.get(last[index]?.row.offset ?? 0) ?? "";
    return { count: first.length, messages: new Map(messages.map((message, index) => [cidOf(index), message])) };
  }

  const textsFor = async (org: string, uid: string, messages: readonly ReadMessage[]) =>
    shown.textsOf(org, await withReactions(org, uid, messages));

  async function isMore(org: string, cid: string, range: Range, last: StoredMessage): Promise<boolean> {
    return (await history.messages(org, cid, { ...beyond(range, last), limit: 1, maxBytes: 1 })).length > 0;
  }

  return {
    /**
     * A page of a conversation's messages, newest first, or oldest first with `after`. It may be shorter than `limit`.
     */
    async messages(org: string, cid: string, query: MessageQuery & PageQuery): Promise<MessagePage> {
      if ((await conversations.get(org, cid)) === undefined)
        await refuseMissing(organizations, org, errorAbout("conversation_not_found", { conversation: cid }));
      const range = parseCursor(query.cursor, messagePlace) ?? (await rangeOf(org, cid, query));
      return await read({ org, cid }, range, query.limit, async (messages) => {
        const last = messages.at(-1)?.row;
        const cursor =
          last !== undefined && (await isMore(org, cid, range, last)) ? encodeCursor(beyond(range, last)) : null;
        return { items: messages.map(({ row }) => textOf(row)), cursor };
      });
    },
    /** Like `messages`, for a participant. Throws `not_a_participant`, even if there is no such conversation. */
    async messagesFor(org: string, uid: string, cid: string, query: ParticipantQuery): Promise<string[]> {
      if (!(await participants.has(org, cid, uid)))
        throw errorAbout("not_a_participant", { user: uid, conversation: cid });
      const { ids } = query;
      if (ids !== undefined) return await textsFor(org, uid, await readByIds(org, uid, cid, ids));
      const all = await rangeOf(org, cid, query);
      const range = query.updated_at === undefined ? all : await rangeBetween(org, cid, all, query.updated_at);
      return await read({ org, cid, viewer: uid }, range, query.limit, (messages) => textsFor(org, uid, messages));
    },
    /** The user's conversations, most recently active first. */
    async conversationsOf(
      org: string,
      uid: string,
      { limit, cursor, updated_at: between }: PageQuery & { updated_at?: Between | undefined },
    ): Promise<Page<ConversationView>> {
      const after = parseCursor(cursor, conversationPlace);
      const read = await standing.conversations(org, uid, { after, limit: limit + 1, between });
      const cids = read.slice(0, limit).map(({ id }) => id);
      const { count, messages } = await lastMessages(org, uid, cids);
      return toPage(
        read,
        Math.min(limit, count),
        ({ id, name, createdAt, updatedAt, unread }): ConversationView => ({
          _id: id,
          name,
          type: "g",
          created_at: toIso(createdAt),
          updated_at: toIso(updatedAt),
          unread_messages_count: unread,
          last_message: messages.get(id) ?? null,
        }),
        ({ updatedAt, id }) => ({ updatedAt, id }),
      );
    },
  };
}

/** The reader of conversations and their messages. */
export type HistoryReader = ReturnType<typeof createHistoryReader>;

/** The part of a range beyond a message, in the range's direction. */
function beyond(range: Range, { offset }: StoredMessage): Range {
  return range.direction === "forward" ? { ...range, after: offset } : { ...range, before: offset };
}

/** The message inside an event's text, which holds nothing else, with what lists add to it. */
function textOf(row: StoredMessage, own?: readonly string[]): string {
  const message = row.payload.slice(opening.length, -closing.length);
  if (row.editedAt === undefined && row.reactions === undefined) return message;
  return `${message.slice(0, -1)},${JSON.stringify(addedTo(row, own)).slice(1)}`;
}

/** What lists add to a message: the time of its last edit, and reactions, with those of the user who lists. */
function addedTo({ editedAt, reactions }: StoredMessage, own?: readonly string[]) {
  return {
    ...(editedAt !== undefined && { edited_at: toIso(editedAt) }),
    ...(reactions !== undefined && { reactions: { ...(own && { own: [...own] }), total: totalsIn(reactions) } }),
  };
}

const totalsIn = (reactions: string): Record<string, number> => Object.fromEntries(readTotals(reactions));

/** The message in a row that has the form that Herald writes: an object whose only member is the message. */
function messageIn({ payload, editedAt }: StoredMessage): ListedMessage | undefined {
  if (!payload.startsWith(opening)) return undefined;
  const event = objectWith(payload, "message");
  if (event === undefined || Object.keys(event).length !== 1) return undefined;
  const message = event.message as ListedMessage;
  if (!Array.isArray(message.attachments)) return undefined;
  return editedAt === undefined ? message : { ...message, edited_at: toIso(editedAt) };
}
