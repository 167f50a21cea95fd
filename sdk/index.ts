export { type AdminClient, type AdminClientOptions, createAdminClient } from "./admin.ts";
export {
  type Client,
  type ClientOptions,
  type ClientState,
  type ConversationPage,
  createClient,
  type StateDetail,
} from "./client.ts";
export {
  type FieldError,
  HeraldApiError,
  HeraldArgumentError,
  HeraldConnectionError,
  HeraldRequestError,
} from "./errors.ts";
export type { FeedEvent, FeedOptions, FeedState } from "./feed.ts";
export type { MissedPage } from "./missed.ts";
export type * from "./types.ts";
export type { WebSocketConstructor, WebSocketLike } from "./websocket.ts";
