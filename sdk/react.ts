"use client";
import {
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { callSafely, reportUnheard } from "./callbacks.ts";
import { createClient } from "./client.ts";
import type { Client, ClientOptions, ClientState, StateDetail } from "./client-options.ts";
import type { SystemMessage } from "./types.ts";
import type { InboxSnapshot, InboxView } from "./views/inbox.ts";
import { createView, type View } from "./views/view.ts";
import type {
  ConversationSnapshot,
  ConversationsSnapshot,
  ConversationsView,
  ConversationView,
} from "./views/views.ts";

/** The state of the connection, and why it is not connected. */
export type ConnectionSnapshot = {
  /** Whether the client is connected. */
  state: ClientState;
} & StateDetail;

/** The options of the client. `children` may use the hooks. */
export type HeraldProviderProps = ClientOptions & {
  /** What may use the hooks. */
  children?: ReactNode;
};

type SystemHandler = (message: SystemMessage) => void;
type Herald = {
  client: Client;
  connection: Pick<View<ConnectionSnapshot>, "getSnapshot" | "subscribe">;
  systemHandlers: Set<SystemHandler>;
};

const HeraldContext = createContext<Herald | undefined>(undefined);
const stopped: ConnectionSnapshot = { state: "stopped" };

function createHerald(options: ClientOptions): Herald {
  const systemHandlers = new Set<SystemHandler>();
  const { onError = reportUnheard } = options;
  const onThrown = (error: unknown) => void callSafely(() => onError(error), reportUnheard);
  const connection = createView<{ current: ConnectionSnapshot }>({ current: stopped }, () => () => undefined, onThrown);
  const client = createClient({
    ...options,
    onStateChange(state, detail) {
      connection.set({ current: { state, ...detail } });
      return options.onStateChange?.(state, detail);
    },
    onSystemMessage(message) {
      for (const handle of systemHandlers) void callSafely(() => handle(message), onThrown);
      return options.onSystemMessage?.(message);
    },
  });
  return {
    client,
    connection: { subscribe: connection.subscribe, getSnapshot: () => connection.getSnapshot().current },
    systemHandlers,
  };
}

/**
 * Connects while it is mounted. The options are those of the first render; of `token` and the callbacks, the latest are called. To
 * connect as somebody else, give the provider another `key`. Nothing connects while a server renders.
 */
export function HeraldProvider({ children, ...options }: HeraldProviderProps): ReactNode {
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const [herald] = useState(() =>
    createHerald({
      ...options,
      token: () => latest.current.token(),
      onMessage: (message) => latest.current.onMessage?.(message),
      onSystemMessage: (message) => latest.current.onSystemMessage?.(message),
      onMessageEdit: (edit) => latest.current.onMessageEdit?.(edit),
      onMessageAppend: (piece) => latest.current.onMessageAppend?.(piece),
      onMessageDelete: (recall) => latest.current.onMessageDelete?.(recall),
      onSystemMessageDelete: (recall) => latest.current.onSystemMessageDelete?.(recall),
      onSystemMessageRead: (read) => latest.current.onSystemMessageRead?.(read),
      onMessageRead: (read) => latest.current.onMessageRead?.(read),
      onStateChange: (state, detail) => latest.current.onStateChange?.(state, detail),
      onGap: (gap) => latest.current.onGap?.(gap),
      // Without a handler, errors of callbacks are shown as uncaught ones.
      ...(options.onError && { onError: (error: unknown) => latest.current.onError?.(error) }),
    }),
  );
  useEffect(() => {
    herald.client.start();
    return herald.client.stop;
  }, [herald]);
  return createElement(HeraldContext.Provider, { value: herald }, children);
}

function useHerald(): Herald {
  const herald = useContext(HeraldContext);
  if (herald === undefined) throw new Error("There is no HeraldProvider around this component.");
  return herald;
}

/** The client of the provider, for requests such as `ack` and `presence`. */
export function useHeraldClient(): Client {
  return useHerald().client;
}

/** The state of the connection. While a server renders, it is `stopped`. */
export function useConnection(): ConnectionSnapshot {
  const { connection } = useHerald();
  return useSyncExternalStore(connection.subscribe, connection.getSnapshot, () => stopped);
}

/** A conversation as it is now, which this component follows while it is mounted. */
export function useConversation(cid: string): ConversationSnapshot & Pick<ConversationView, "loadOlder" | "markRead"> {
  const { client } = useHerald();
  const view = useMemo(() => client.conversation(cid), [client, cid]);
  const snapshot = useSyncExternalStore(view.subscribe, view.getSnapshot, view.getServerSnapshot);
  return { ...snapshot, loadOlder: view.loadOlder, markRead: view.markRead };
}

/** The user's conversations as they are now, most recently active first. */
export function useConversations(): ConversationsSnapshot & Pick<ConversationsView, "loadMore"> {
  const { conversations } = useHerald().client;
  const snapshot = useSyncExternalStore(
    conversations.subscribe,
    conversations.getSnapshot,
    conversations.getServerSnapshot,
  );
  return { ...snapshot, loadMore: conversations.loadMore };
}

/** The user's inbox as it is now, newest first, with the number of unread items for a badge. */
export function useInbox(): InboxSnapshot & Pick<InboxView, "loadMore" | "markRead" | "markSeen"> {
  const { inbox } = useHerald().client;
  const snapshot = useSyncExternalStore(inbox.subscribe, inbox.getSnapshot, inbox.getServerSnapshot);
  return { ...snapshot, loadMore: inbox.loadMore, markRead: inbox.markRead, markSeen: inbox.markSeen };
}

/** Calls the latest handler for each system message that arrives while this component is mounted. */
export function useSystemMessages(handler: (message: SystemMessage) => void): void {
  const { systemHandlers } = useHerald();
  const latest = useRef(handler);
  useEffect(() => {
    latest.current = handler;
  });
  useEffect(() => {
    const handle: SystemHandler = (message) => latest.current(message);
    systemHandlers.add(handle);
    return () => void systemHandlers.delete(handle);
  }, [systemHandlers]);
}
