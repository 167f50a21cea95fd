import { callSafely } from "../callbacks.ts";
import type { InboxSnapshot, InboxView } from "./inbox.ts";
import type { View } from "./view.ts";
import type {
  ConversationSnapshot,
  ConversationsSnapshot,
  ConversationsView,
  ConversationView,
  Source,
} from "./views.ts";

type Views<X> = ReturnType<typeof import("./views.ts").createViews<X>>;

const mostConversations = 100;
const empty = { isLoaded: false, error: undefined };
const noMessages = { messages: [], hasOlder: false, unread: undefined, ...empty };
const noItems = { items: [], unread: 0, hasMore: false, ...empty };
const noConversations = { conversations: [], hasMore: false, ...empty };

/**
 * Creates the views of a client, whose code is loaded when the first one gets a listener: many apps need none. Until then they are
 * empty. `onError` is called with what listeners throw, and with what cannot be loaded, which is loaded again when the client is
 * connected again.
 */
export function createLazyViews<X>(source: Source<X>, user: () => unknown, onError: (error: unknown) => void) {
  let views: Views<X> | undefined;
  const known = new Map<string, ConversationView<X>>();
  const waiting = new Set<() => void>();

  /** An empty view until the view that `create` returns is there; and the promise of that. */
  function lazy<Snapshot, Own extends View<Snapshot>>(first: Snapshot, create: (loaded: Views<X>) => Own) {
    let own: Own | undefined;
    /** The view, if the code is loaded. */
    function find(): Own | undefined {
      if (views) own ??= create(views);
      return own;
    }
    async function load(): Promise<Own> {
      const { createViews } = await import("./views.ts");
      views ??= createViews(source, user, onError);
      own ??= create(views);
      return own;
    }
    const view: View<Snapshot> = {
      getSnapshot: () => find()?.getSnapshot() ?? first,
      getServerSnapshot: () => first,
      subscribe(listener) {
        const found = find();
        if (found) return found.subscribe(listener);
        let leave: (() => void) | undefined;
        const begin = () => {
          waiting.add(begin);
          load().then((loaded) => {
            if (!waiting.delete(begin)) return;
            leave = loaded.subscribe(listener);
            void callSafely(listener, onError);
          }, onError);
        };
        begin();
        return () => {
          waiting.delete(begin);
          leave?.();
        };
      },
    };
    return { view, load };
  }

  function createConversation(cid: string): ConversationView<X> {
    const { view, load } = lazy<ConversationSnapshot<X>, ConversationView<X>>(noMessages, (loaded) =>
      loaded.createConversation(cid),
    );
    return {
      cid,
      ...view,
      loadOlder: async () => (await load()).loadOlder(),
      markRead: (ids) => source.markRead(cid, ids),
    };
  }

  const list = lazy<ConversationsSnapshot, ConversationsView>(noConversations, (loaded) => loaded.conversations);
  const inbox = lazy<InboxSnapshot<X>, InboxView<X>>(noItems, (loaded) => loaded.inbox);
  return {
    /** What hears events, once it is loaded. */
    current: () => views,
    /** The view of a conversation, the same as before if it is among the last hundred. */
    conversation(cid: string): ConversationView<X> {
      const view = known.get(cid) ?? createConversation(cid);
      known.delete(cid);
      known.set(cid, view);
      if (known.size > mostConversations) known.delete(known.keys().next().value ?? "");
      return view;
    },
    conversations: { ...list.view, loadMore: async () => (await list.load()).loadMore() } satisfies ConversationsView,
    inbox: {
      ...inbox.view,
      loadMore: async () => (await inbox.load()).loadMore(),
      markRead: async (ids) => (await inbox.load()).markRead(ids),
      markSeen: async (ids) => (await inbox.load()).markSeen(ids),
    } satisfies InboxView<X>,
    reload(isGap: boolean) {
      views?.reload(isGap);
      for (const begin of waiting) begin();
    },
  };
}
