export { type AdminClient, createAdmin } from "./admin/admin.ts";
export type { StreamOptions } from "./admin/calls/appends.ts";
export type { BatchAnswer, BatchEnvelope, BatchOptions } from "./admin/calls/batch.ts";
export type { UploadOptions } from "./admin/calls/files.ts";
export { eachOf } from "./admin/calls/pages.ts";
export type { Health } from "./admin/calls/server.ts";
export type { AdminOptions, CallOptions, RequestOptions } from "./admin/exchange.ts";
export type { Feed, FeedEvent, FeedOptions, FeedState } from "./admin/feed.ts";
export type { GrowingMessage } from "./admin/growing.ts";
export type {
  ExportSystemMessageRecord,
  ImportSystemMessageRecord,
  InboxRangeRecord,
  SystemMessageReadRecord,
  SystemMessageReference,
} from "./admin/inbox-records.ts";
export type { ImportOptions, ImportReport, LineBytes, LineProblem, Values } from "./admin/lines.ts";
export type { ExportRecord, ImportRecord } from "./admin/records.ts";
export { issueUserToken, type UserTokenFields } from "./admin/user-token.ts";
export type { SendOptions } from "./admin/wait.ts";
export type { ApiErrorCode, ErrorCode, KnownErrorCode } from "./error-codes.ts";
export { type FieldError, HeraldApiError, HeraldArgumentError, HeraldConnectionError } from "./errors.ts";
export type * from "./types.ts";
