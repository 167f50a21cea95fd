export { type AdminClient, createAdmin } from "./admin/admin.ts";
export type { BatchAnswer, BatchEnvelope, BatchOptions } from "./admin/batch.ts";
export type { AdminOptions } from "./admin/exchange.ts";
export type { FeedEvent, FeedOptions, FeedState } from "./admin/feed.ts";
export type { ImportOptions, ImportReport, LineBytes, LineProblem } from "./admin/lines.ts";
export { issueUserToken, type UserTokenFields } from "./admin/user-token.ts";
export type { SendOptions } from "./admin/wait.ts";
export { type FieldError, HeraldApiError, HeraldArgumentError, HeraldConnectionError } from "./errors.ts";
export type * from "./types.ts";
