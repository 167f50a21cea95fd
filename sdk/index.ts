export { type AdminClient, createAdminClient } from "./admin/admin.ts";
export type { BatchAnswer, BatchEnvelope, BatchOptions } from "./admin/batch.ts";
export type { AdminClientOptions } from "./admin/exchange.ts";
export type { FeedEvent, FeedOptions, FeedState } from "./admin/feed.ts";
export type { ImportOptions, ImportReport, LineBytes, LineProblem } from "./admin/lines.ts";
export type { SendOptions } from "./admin/wait.ts";
export {
  type Client,
  type ClientOptions,
  type ClientState,
  type ConversationPage,
  createClient,
  type StateDetail,
} from "./client.ts";
export type { MissedPage } from "./connection/missed.ts";
export type { WebSocketConstructor, WebSocketLike } from "./connection/websocket.ts";
export {
  type FieldError,
  HeraldApiError,
  HeraldArgumentError,
  HeraldConnectionError,
  HeraldRequestError,
} from "./errors.ts";
export type * from "./types.ts";
