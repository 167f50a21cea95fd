export { createClient } from "./client.ts";
export type { Client, ClientOptions, ClientState, ConversationPage, StateDetail } from "./client-options.ts";
export type { MissedPage } from "./connection/missed.ts";
export type { Store } from "./connection/saved.ts";
export type { WebSocketConstructor, WebSocketLike } from "./connection/websocket.ts";
export type { ErrorCode, KnownErrorCode } from "./error-codes.ts";
export { HeraldConnectionError, HeraldRequestError } from "./errors.ts";
export type * from "./types.ts";
export type { InboxSnapshot, InboxView } from "./views/inbox.ts";
export type { View } from "./views/view.ts";
export type {
  ConversationSnapshot,
  ConversationsSnapshot,
  ConversationsView,
  ConversationView,
  ShownMessage,
} from "./views/views.ts";
