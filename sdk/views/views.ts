import type { Handlers } from "../connection/frames.ts";
import { isLastPage } from "../connection/pages.ts";
import type { ConversationSummary, CustomParameters, ListedMessage, Message, MessageAppend } from "../types.ts";
import { withPiece, withTextOf } from "./growth.ts";
import { createInbox, type InboxSource } from "./inbox.ts";
import { createRecounts, withReactions } from "./recounts.ts";
import { createView, type View } from "./view.ts";

/** A message as a view shows it. */
export type ShownMessage<X = CustomParameters> = ListedMessage<X> & {
  /** Present while the text grows. The message is another object with each piece; the others stay the same. */
  isOpen?: true;
};

/**
 * A conversation as it is now. `messages` are in the server's order, oldest first, with edits and pieces applied and without what was
 * recalled; there are at most 1,000. `isLoaded` becomes true when the last messages have been read, and `error` says why that failed.
 * `unread` counts messages of others, up to 100; it is known of the conversations in `client.conversations`.
 */
export type ConversationSnapshot<X = CustomParameters> = {
  /** The messages, oldest first. */
  messages: readonly ShownMessage<X>[];

  /** Whether `loadOlder` has more to read. */
  hasOlder: boolean;

  /** Whether it has been read. */
  isLoaded: boolean;

  /** How many messages of others are unread, up to 100; `undefined` if that is not known. */
  unread: number | undefined;

  /** Why reading failed, if it did. */
  error: unknown;
};

/** A conversation that follows what happens in it while it has a listener. */
export type ConversationView<X = CustomParameters> = View<ConversationSnapshot<X>> & {
  /** The id of the conversation. */
  readonly cid: string;
  /** Reads 50 more messages from the history. One call at a time reads; the others wait for it. */
  loadOlder(): Promise<void>;
  /** Marks the conversation as read, up to the given messages or to its end. */
  markRead(ids?: string[]): Promise<void>;
};

/** The user's conversations, most recently active first. */
export type ConversationsSnapshot = {
  /** The conversations that were read. */
  conversations: readonly ConversationSummary[];

  /** Whether `loadMore` has more to read. */
  hasMore: boolean;

  /** Whether it has been read. */
  isLoaded: boolean;

  /** Why reading failed, if it did. */
  error: unknown;
};

/** The user's conversations, which follow new messages while the view has a listener. */
export type ConversationsView = View<ConversationsSnapshot> & {
  /** Reads 100 more conversations. */
  loadMore(): Promise<void>;
};

/** The client that the views read from. */
export type Source<X> = InboxSource<X> & {
  /** What became of it. */
  readonly state: string;
  listMessages(page: { cid: string; limit?: number; before?: string; ids?: string[] }): Promise<ListedMessage<X>[]>;
  listConversations(page: { limit: number; cursor?: string }): Promise<{
    conversations: ConversationSummary[];
    cursor: string | null;
  }>;
  markRead(cid: string, ids?: string[]): Promise<void>;
};
type ViewHandlers<X> = Pick<
  Handlers<X>,
  | "message"
  | "message_edit"
  | "message_append"
  | "message_delete"
  | "message_reactions_update"
  | "system_message"
  | "system_message_delete"
  | "system_message_read"
>;
type Messages<X> = readonly ShownMessage<X>[];
/** An event, as what it does to the messages of its conversation. Repeated, it changes nothing. */
type Change<X> = (messages: Messages<X>) => Messages<X>;

const pageSize = 50;
const mostMessages = 1_000;
const listSize = 100;
const mostUnread = 100;
const unloaded = { isLoaded: false, error: undefined };
const loaded = { isLoaded: true, error: undefined };
const shownOf = <X>(message: ListedMessage<X>): ShownMessage<X> =>
  message.open ? { ...message, isOpen: true } : message;

/**
 * Creates the views of a client, which passes them all events, and calls `reload` when it is connected, with whether there is a gap.
 * `onThrown` is called with what listeners throw.
 */
export function createViews<X>(source: Source<X>, user: () => unknown, onThrown: (error: unknown) => void) {
  /** Those with listeners. */
  const live = new Set<{
    cid: string;
    hear(change: Change<X>): void;
    recount(mid: string): void;
    reload(isGap: boolean): void;
  }>();
  let isListed = false; // the list has listeners
  let isListing = false;
  let isListStale = false;
  let cursor: string | null = null;
  /** Open messages that were heard from their beginning and not read since: once they are complete, the list need not be read. */
  const growing = new Map<string, Message<unknown>>();

  const list = createView<ConversationsSnapshot>(
    { conversations: [], hasMore: false, ...unloaded },
    () => {
      isListed = true;
      void loadList();
      return () => {
        isListed = false;
        growing.clear();
        list.set(unloaded);
      };
    },
    onThrown,
  );

  /** Reads the first page, again if anything happens meanwhile. */
  async function loadList() {
    isListStale = true;
    if (isListing || !isListed || source.state !== "connected") return;
    isListing = true;
    try {
      while (isListStale) {
        isListStale = false;
        const page = await source.listConversations({ limit: listSize });
        showList(page.conversations, page.cursor);
      }
    } catch (error) {
      isListStale = true; // until the client is connected again
      list.set({ error });
    }
    isListing = false;
  }

  function showList(conversations: ConversationSummary[], next: string | null) {
    cursor = next;
    list.set({ conversations, hasMore: next !== null, ...loaded });
  }

  const summaryOf = (cid: string) => list.getSnapshot().conversations.find(({ _id }) => _id === cid);

  /** Follows a piece, and counts its message once it is complete. Where the message is not known, the list is read again. */
  function growLast(piece: MessageAppend) {
    const { id, cid, done } = piece;
    const known = growing.get(id);
    const grown = known && withPiece(known, piece);
    if (grown && !done) return void growing.set(id, grown);
    growing.delete(id);
    if (!done) return;
    if (!grown) return void loadList();
    const { last_message: last, unread_messages_count: unread = 0 } = summaryOf(cid) ?? {};
    const isLast = last?._id === id;
    if (isLast && !last.open) return; // a list was read meanwhile
    changeSummary(cid, { unread_messages_count: countOne(unread, grown), ...(isLast && { last_message: grown }) });
  }

  /** An unread count with one more message. */
  function countOne(unread: number, { from, silent, open }: Message<unknown>) {
    return Math.min(unread + (from === user() || silent || open ? 0 : 1), mostUnread);
  }

  /** Changes the entry of a conversation, and moves it to the top if it is given a time. */
  function changeSummary(cid: string, change: Partial<ConversationSummary>) {
    const summary = summaryOf(cid);
    if (isListing || !summary) return void loadList();
    const { conversations } = list.getSnapshot();
    const changed = { ...summary, ...change };
    list.set({
      conversations: change.updated_at
        ? [changed, ...conversations.filter((other) => other !== summary)]
        : conversations.map((other) => (other === summary ? changed : other)),
    });
  }

  function createConversation(cid: string): ConversationView<X> {
    /** Events since a read began, for each read. */
    const reads = new Set<Change<X>[]>();
    let older: Promise<void> | undefined;
    const { set, ...view } = createView<ConversationSnapshot<X>>(
      { messages: [], hasOlder: false, unread: undefined, ...unloaded },
      () => {
        const showUnread = () => {
          const unread = summaryOf(cid)?.unread_messages_count;
          if (unread !== view.getSnapshot().unread) set({ unread });
        };
        const leave = list.subscribe(showUnread);
        live.add(entry);
        showUnread();
        entry.reload(true);
        return () => {
          leave();
          live.delete(entry);
          reads.clear();
        };
      },
      onThrown,
    );
    const { getSnapshot } = view;
    const recount = createRecounts<X>(
      (ids) => source.listMessages({ cid, ids }),
      (found) => {
        const copies = new Map(found.map((message) => [message._id, message]));
        entry.hear((messages) =>
          messages.map((message) => {
            const copy = copies.get(message._id);
            return copy ? withReactions(withTextOf(message, copy), copy) : message;
          }),
        );
      },
    );
    const entry = {
      cid,
      recount(mid: string) {
        if (reads.size > 0 || getSnapshot().messages.some(({ _id }) => _id === mid)) recount(mid);
      },
      hear(change: Change<X>) {
        for (const changes of reads) changes.push(change);
        const { messages, hasOlder } = getSnapshot();
        const changed = change(messages);
        set({ messages: changed.slice(-mostMessages), hasOlder: hasOlder || changed.length > mostMessages });
      },
      reload(isGap: boolean) {
        if (source.state !== "connected" || !(isGap || !getSnapshot().isLoaded)) return;
        reads.clear();
        read().catch((error: unknown) => set({ error }));
      },
    };

    /** Reads a page of history and adds the messages that are shown, if they still begin with `before`. */
    async function read(before?: string) {
      const changes: Change<X>[] = [];
      reads.add(changes);
      try {
        const found = await source.listMessages({ cid, limit: pageSize, ...(before && { before }) });
        const shown = before ? getSnapshot().messages : [];
        if (!reads.has(changes) || shown[0]?._id !== before) return;
        const messages = changes.reduce<Messages<X>>(
          (all, change) => change(all),
          [...found.map(shownOf).reverse(), ...shown],
        );
        set({ messages, hasOlder: !isLastPage(found, pageSize) && messages.length < mostMessages, ...loaded });
      } finally {
        reads.delete(changes);
      }
    }

    return {
      cid,
      ...view,
      async loadOlder() {
        const { hasOlder, messages } = getSnapshot();
        if (!hasOlder) return;
        older ??= read(messages[0]?._id).finally(() => {
          older = undefined;
        });
        await older;
      },
      markRead: (ids) => source.markRead(cid, ids),
    };
  }

  function hear(cid: string, change: Change<X>) {
    for (const view of live) if (view.cid === cid) view.hear(change);
  }

  function recount(cid: string, mid: string) {
    for (const view of live) if (view.cid === cid) view.recount(mid);
  }

  /** A message with a piece of its text. Where text before the piece is missing, the message is read again. */
  function grow(message: ShownMessage<X>, piece: MessageAppend): ShownMessage<X> {
    const grown = withPiece(message, piece);
    if (!grown) recount(piece.cid, piece.id);
    return grown ?? message;
  }

  const { inbox, ...inboxEvents } = createInbox(source, onThrown);

  const handlers: ViewHandlers<X> = {
    ...inboxEvents.handlers,
    message(message) {
      const { _id, cid, created_at } = message;
      hear(cid, (messages) =>
        messages.some((other) => other._id === _id) ? messages : [...messages, shownOf(message)],
      );
      if (isListed && message.open) growing.set(_id, message);
      changeSummary(cid, {
        updated_at: created_at,
        last_message: message,
        unread_messages_count: countOne(summaryOf(cid)?.unread_messages_count ?? 0, message),
      });
    },
    message_edit({ id, cid, body, x, t }) {
      const edit = { body, x, edited_at: new Date(t * 1000).toISOString() };
      hear(cid, (messages) => messages.map((message) => (message._id === id ? { ...message, ...edit } : message)));
    },
    message_append(piece) {
      const { id, cid } = piece;
      hear(cid, (messages) => messages.map((message) => (message._id === id ? grow(message, piece) : message)));
      growLast(piece);
    },
    message_reactions_update: ({ mid, cid }) => recount(cid, mid),
    message_delete({ ids, cid }) {
      for (const id of ids) growing.delete(id);
      hear(cid, (messages) => messages.filter(({ _id }) => !ids.includes(_id)));
      void loadList(); // unread messages may be among them
    },
  };

  return {
    handlers,
    createConversation,
    /** Notes that the user has read a conversation, to its end without `ids`, or may have, with none. */
    onRead(cid: string, ids?: string[]) {
      for (const [id, message] of growing) if (message.cid === cid) growing.delete(id);
      if (ids) void loadList();
      else changeSummary(cid, { unread_messages_count: 0 });
    },
    reload(isGap: boolean) {
      if (isGap) growing.clear();
      if (isGap || isListStale || !list.getSnapshot().isLoaded) void loadList();
      for (const view of live) view.reload(isGap);
      inboxEvents.reload();
    },
    inbox,
    conversations: {
      ...list,
      async loadMore() {
        if (cursor === null) return;
        const page = await source.listConversations({ limit: listSize, cursor });
        const more = page.conversations.filter(({ _id }) => !summaryOf(_id));
        showList([...list.getSnapshot().conversations, ...more], page.cursor);
      },
    },
  };
}
