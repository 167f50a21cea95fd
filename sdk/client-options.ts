import type { Ending } from "./connection/connection.ts";
import type { MissedPage } from "./connection/missed.ts";
import type { Store } from "./connection/saved.ts";
import type { Timing } from "./connection/session.ts";
import type { WebSocketConstructor } from "./connection/websocket.ts";
import type {
  ConversationSummary,
  CustomParameters,
  InboxItem,
  ListedMessage,
  Message,
  MessageAppend,
  MessageDelete,
  MessageEdit,
  MessageReactionsUpdate,
  MessageRead,
  SystemMessage,
  SystemMessageDelete,
  SystemMessageRead,
  Typing,
} from "./types.ts";
import type { InboxView } from "./views/inbox.ts";
import type { ConversationsView, ConversationView } from "./views/views.ts";

/**
 * `stopped`: not started, or stopped by the app. `connecting`: first attempt. `connected`. `reconnecting`: the connection was lost
 * or failed, and the client retries; after 4429, when the close reason says (`retry in N s`). `offline`: the same while the device has no network; the client retries as soon as it is back, too. `closed`: the server refused the
 * client for good: with a close code 44xx other than 4401, 4408 and 4429, or with 4401 for five tokens in a row. Call `start()` to
 * try again.
 */
export type ClientState = "stopped" | "connecting" | "connected" | "reconnecting" | "offline" | "closed";

/** Why the state changed. `retryInMs` is present while reconnecting. */
export type StateDetail = Partial<Ending> & {
  /** When the client tries again, in milliseconds from now. */
  retryInMs?: number;
};

/**
 * The options of a client. Callbacks are called in order of arrival and are not awaited; what they throw, or reject with if they are
 * async, goes to `onError` and breaks nothing.
 */
export type ClientOptions<X = CustomParameters> = {
  /**
   * The server address, `http(s)` or `ws(s)`, with or without `/ws`. Of several, the client tries the next one whenever it loses its
   * connection or gets none.
   */
  url: string | string[];
  /**
   * Returns a user token. Called for each connection, before a session expires, and after a token was refused, so it should return a
   * fresh token. If it fails, or returns something else, the client reports that to `onError` and calls it again after a wait.
   */
  token: () => string | Promise<string>;
  /** Whether server-sent events replace WebSockets that do not open (default true). */
  fallback?: boolean | undefined;
  /** A label of this device for the operator. */
  deviceId?: string | undefined;
  /** The `_id` of the last message that the app has. The client first receives the messages after it. */
  since?: string | undefined;
  /**
   * Keeps `since` and the last ids across reloads, such as `localStorage`, for each user by itself. Tabs may share it, as they may
   * share what your app keeps; it is written to at most once a second. `since` in these options goes before what is stored.
   * In a browser that allows no site data, naming `localStorage` already throws: with `() => localStorage`, the client then goes on
   * without a store, as it does when the store fails, and tells `onError`.
   */
  store?: Store | (() => Store) | undefined;
  /** A WebSocket implementation, such as that of the package `ws`. Required without a global WebSocket (Node before 22). */
  WebSocket?: WebSocketConstructor | undefined;
  /** Called once for each message, in order. `client.since` is then already its `_id`, which the app may save. */
  onMessage?: ((message: Message<X>) => void) | undefined;

  /** Called once for each system message that arrives while the client is connected. */
  onSystemMessage?: ((message: SystemMessage<X>) => void) | undefined;
  /**
   * Called, in order among the messages, for each edit of a message, which may be one that the app does not have. After a
   * reconnect, an edit may be called again, which changes nothing.
   */
  onMessageEdit?: ((edit: MessageEdit<X>) => void) | undefined;
  /**
   * Called like `onMessageEdit` for each piece of a message that came with `open`: its text goes on at `offset`, in code points.
   * `client.conversation` puts the text together.
   */
  onMessageAppend?: ((piece: MessageAppend) => void) | undefined;
  /**
   * Called like `onMessageEdit` for each change of reactions. It counts nobody: `listMessages` with the `ids` of the message has the
   * counts, and `client.conversation` keeps them up to date.
   */
  onMessageReactions?: ((update: MessageReactionsUpdate) => void) | undefined;
  /**
   * Called like `onMessageEdit` for each recall, and when the user has hidden messages (`type` is `myself`): the app removes those of the
   * messages that it has.
   */
  onMessageDelete?: ((recall: MessageDelete) => void) | undefined;
  /**
   * Called for each recall of system messages: the app removes those of the same sender (`from`) that it has. A recall while the
   * client is away is not made up for.
   */
  onSystemMessageDelete?: ((recall: SystemMessageDelete) => void) | undefined;
  /**
   * Called when the user has seen or read system messages in the inbox, on this or another connection. What happens while the
   * client is away is in `listInbox`.
   */
  onSystemMessageRead?: ((read: SystemMessageRead) => void) | undefined;
  /** Called when a participant has read messages of this user. A read while the client is away is not made up for. */
  onMessageRead?: ((read: MessageRead) => void) | undefined;
  /**
   * Called when another participant types, or has stopped: also when a message has ended it, or 10 s without another call. Over
   * WebSockets only.
   */
  onTyping?: ((typing: Typing) => void) | undefined;
  /** Called on every state change and, while reconnecting, after every failed attempt. */
  onStateChange?: ((state: ClientState, detail: StateDetail) => void) | undefined;
  /**
   * Called when messages after `since` may be missing and the server cannot replay them. `listMissed` reads them; edits and
   * recalls of older messages show only when the app reads those again. `since` is
   * `undefined` if the connection was lost before the first message.
   */
  onGap?: ((gap: { since: string | undefined }) => void) | undefined;
  /**
   * Called when `token()` fails, the server refuses `connect`, a callback fails, or a frame cannot be read. Without it, what
   * callbacks throw is an uncaught error of the page, or goes to the console where there is no page.
   */
  onError?: ((error: unknown) => void) | undefined;
  /** Timings, for tests and unusual networks. */
  timing?: Partial<Timing> | undefined;
};

/** A client that stays connected. Requests reject without a connection, when the connection is lost, and after 10 s. */
export type Client<X = CustomParameters> = {
  /** Whether the client is connected. */
  readonly state: ClientState;
  /**
   * How the client is connected. Server-sent events replace a WebSocket that does not open, with the same promises; only requests
   * other than `ping` then reject with `not_supported`. Each reconnect tries WebSockets first.
   */
  readonly transport: "websocket" | "sse" | undefined;
  /** The `_id` of the last message that was delivered. */
  readonly since: string | undefined;

  /** Connects, and stays connected until `stop`. Does nothing if it does already. */
  start(): void;

  /** Closes the connection and stays away until `start`, which goes on where the client was. */
  stop(): void;

  /** Asks the server for a sign of life. Resolves when it has come. */
  ping(): Promise<void>;

  /** A page of the user's conversations, most recently active first. */
  listConversations(options?: { limit?: number; cursor?: string }): Promise<ConversationPage>;
  /** The history of a conversation, newest first, or oldest first with `after`; or those of `ids`, at most 100. */
  listMessages(options: {
    cid: string;
    limit?: number;
    before?: string;
    after?: string;
    ids?: string[];
  }): Promise<ListedMessage<X>[]>;
  /**
   * The address of a file that a message names, for an `<img>` or a link: it needs no token, and is valid for 10 minutes, for this
   * user. `undefined` if no message of the user's conversations names the file, as after a recall. Ask again when it has expired.
   * Rejects with `not_supported` over server-sent events.
   */
  fileUrl(fileId: string): Promise<string | undefined>;
  /**
   * Downloads a file that a message names, also over server-sent events, where it sends a fresh token. The response has begun, and
   * its body comes as fast as it is read. Rejects with `file_not_found` for a file that `fileUrl` does not know, that is not
   * uploaded yet, or that was removed.
   */
  download(fileId: string, options?: { signal?: AbortSignal | undefined }): Promise<Response>;
  /**
   * Reads the messages that a gap left out from the history of each conversation, in pages, newest first: `for await (const { cid,
   * messages } of client.listMissed(gap))`. Sort them in by `created_at`. Messages that were already delivered may be among them;
   * new ones still arrive through `onMessage`. Rejects if the connection is lost: start over with the same gap.
   */
  listMissed(gap: { since: string | undefined }): AsyncGenerator<MissedPage<X>, void>;
  /**
   * Acknowledges messages and system messages by their `_id`, so that their delivery reports count this user. Resolves when the
   * acknowledgement is stored. Repeating it has no effect.
   */
  ack(ids: string | string[]): Promise<void>;
  /** Marks a conversation as read by the user, up to the given messages or to its end. Their authors hear of it. */
  markRead(cid: string, ids?: string[]): Promise<void>;
  /**
   * Tells the other participants who are connected that the user types, or with `stop` has stopped. It holds for 10 s: repeat it while the
   * user goes on. It may be lost.
   */
  tellTyping(cid: string, status?: "start" | "stop"): Promise<void>;
  /** A page of the user's inbox, newest first: system messages with `keep_days`, older than `before`, or only unread ones. */
  listInbox(options?: { limit?: number; before?: string; unread?: boolean }): Promise<InboxItem<X>[]>;
  /** Marks system messages in the inbox as read, or with `seen` as seen only: those with these `_id`s, or all. */
  markInbox(options?: { ids?: string[]; seen?: true }): Promise<void>;
  /**
   * Calls back with when a user was last connected, now and whenever that changes: 0 while the user is, otherwise in seconds.
   * Watches one user at a time: another call ends the previous one. Returns the function that ends it.
   */
  presence(uid: string, callback: (activity: number) => void): () => void;
  /** A conversation, as an app shows it. Calls with the same id return the same view while it is in use. */
  conversation(cid: string): ConversationView<X>;
  /** The user's conversations, as an app lists them. */
  readonly conversations: ConversationsView;
  /** The user's inbox, as an app shows it behind a bell. */
  readonly inbox: InboxView<X>;
};

/** A page of the user's conversations. `cursor` is `null` on the last page. */
export type ConversationPage = {
  /** The conversations of this page. */
  conversations: ConversationSummary[];
  /** Where the next page begins; `null` on the last one. */
  cursor: string | null;
};
