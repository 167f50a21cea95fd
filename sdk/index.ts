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
export { HeraldConnectionError, HeraldRequestError } from "./errors.ts";
export type * from "./types.ts";
