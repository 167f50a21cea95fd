import type { Handlers } from "../connection/frames.ts";
import { isLastPage } from "../connection/pages.ts";
import type { CustomParameters, InboxItem } from "../types.ts";
import { createView, type View } from "./view.ts";

/** The user's inbox as it is now: system messages with `keep_days`, newest first. */
export type InboxSnapshot<X = CustomParameters> = {
  /** Those that were read from the server, newest first. */
  items: readonly InboxItem<X>[];

  /** How many are unread, up to 100; silent ones do not count. */
  unread: number;

  /** Whether `loadMore` has more to read. */
  hasMore: boolean;

  /** Whether it has been read. */
  isLoaded: boolean;

  /** Why reading failed, if it did. */
  error: unknown;
};

/** The user's inbox, which follows what happens in it while the view has a listener. */
export type InboxView<X = CustomParameters> = View<InboxSnapshot<X>> & {
  /** Reads 50 more items. */
  loadMore(): Promise<void>;
  /** Marks items as read, or with no ids all that are there. The snapshot follows when the server tells of it. */
  markRead(ids?: string[]): Promise<void>;
  /** Marks items as seen, as when a list is opened: all, unless ids are given. */
  markSeen(ids?: string[]): Promise<void>;
};

/** The client that the inbox reads from. */
export type InboxSource<X> = {
  readonly state: string;
  listInbox(page: { limit: number; before?: string; unread?: boolean }): Promise<InboxItem<X>[]>;
  markInbox(marks: { ids?: string[]; seen?: true }): Promise<void>;
};

const pageSize = 50;
const mostUnread = 100;

/** Creates the view of a client's inbox, which passes it all events, and calls `reload` when it is connected. */
export function createInbox<X>(source: InboxSource<X>, onThrown: (error: unknown) => void) {
  let isUsed = false;
  let isLoading = false;
  let isStale = true;

  const { set, ...view } = createView<InboxSnapshot<X>>(
    { items: [], unread: 0, hasMore: false, isLoaded: false, error: undefined },
    () => {
      isUsed = true;
      isStale = true;
      void load();
      return () => {
        isUsed = false;
      };
    },
    onThrown,
  );
  const { getSnapshot } = view;

  /** Reads the first page and what is unread, again if anything happens meanwhile. */
  async function load() {
    if (isLoading || !isUsed || source.state !== "connected") return;
    isLoading = true;
    try {
      while (isStale) {
        isStale = false;
        const items = await source.listInbox({ limit: pageSize });
        const unread = await source.listInbox({ limit: mostUnread, unread: true });
        const counted = unread.filter(({ silent }) => !silent).length;
        set({ items, unread: counted, hasMore: !isLastPage(items, pageSize), isLoaded: true, error: undefined });
      }
    } catch (error) {
      isStale = true; // until the client is connected again
      set({ error });
    }
    isLoading = false;
  }

  /** What is shown may be out of date: reads it again. */
  function reload() {
    isStale = true;
    void load();
  }

  const handlers: Pick<Handlers<X>, "system_message" | "system_message_delete" | "system_message_read"> = {
    system_message(message) {
      const { _id, from, key, created_at, silent } = message;
      const { items, unread } = getSnapshot();
      if (created_at === undefined || items.some((item) => item._id === _id && item.from === from)) return;
      if (isLoading || key !== undefined) return reload();
      const item = { ...message, created_at, seen_at: null, read_at: null };
      set({ items: [item, ...items], unread: Math.min(mostUnread, unread + (silent ? 0 : 1)) });
    },
    system_message_delete({ ids, from }) {
      if (isLoading || getSnapshot().items.some((item) => item.from === from && ids.includes(item._id))) reload();
    },
    system_message_read({ ids, seen, t }) {
      const at = new Date(t * 1000).toISOString();
      const { items } = getSnapshot();
      const marked = items.map((item) => {
        if (!ids.includes(item._id)) return item;
        return { ...item, seen_at: item.seen_at ?? at, read_at: seen ? item.read_at : (item.read_at ?? at) };
      });
      set({ items: marked });
      if (isLoading || !seen) reload(); // others may be unread
    },
  };

  return {
    handlers,
    reload,
    inbox: {
      ...view,
      async loadMore() {
        const { items, hasMore } = getSnapshot();
        const before = items.at(-1)?._id;
        if (!hasMore || before === undefined) return;
        const more = await source.listInbox({ limit: pageSize, before });
        const now = getSnapshot().items;
        if (now.at(-1)?._id !== before) return; // read anew meanwhile
        set({ items: [...now, ...more], hasMore: !isLastPage(more, pageSize) });
      },
      markRead: (ids) => source.markInbox(ids ? { ids } : {}),
      markSeen: (ids) => source.markInbox({ seen: true, ...(ids && { ids }) }),
    } satisfies InboxView<X>,
  };
}
