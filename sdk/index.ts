export { createClient } from "./client.ts";
export type { Client, ClientOptions, ClientState, ConversationPage, StateDetail } from "./client-options.ts";
export type { MissedPage } from "./connection/missed.ts";
export type { WebSocketConstructor, WebSocketLike } from "./connection/websocket.ts";
export { HeraldConnectionError, HeraldRequestError } from "./errors.ts";
export type * from "./types.ts";
