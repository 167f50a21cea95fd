/** Every code of an error of the server: what is in `/docs/errors`. */
export type KnownErrorCode =
  | "malformed_json"
  | "bad_request"
  | "unauthorized"
  | "insufficient_scope"
  | "organization_forbidden"
  | "sender_forbidden"
  | "own_proposal"
  | "origin_forbidden"
  | "sender_not_participant"
  | "sender_not_owner"
  | "not_a_participant"
  | "not_found"
  | "organization_not_found"
  | "conversation_not_found"
  | "sender_not_found"
  | "user_not_found"
  | "message_not_found"
  | "file_not_found"
  | "method_not_allowed"
  | "message_id_conflict"
  | "already_sent"
  | "append_conflict"
  | "message_open"
  | "cursor_too_old"
  | "payload_too_large"
  | "unsupported_media_type"
  | "invalid_request"
  | "rate_limited"
  | "not_supported"
  | "unavailable"
  | "storage_full"
  | "internal";

/**
 * A code of an error of the server. Later servers may have more, so that any text is one; an editor suggests those that are known.
 */
export type ErrorCode = KnownErrorCode | (string & {});

/** A code of `HeraldApiError`: the server's, or one of a call that got no answer (`unreachable`) or that of another server (`not_herald`). */
export type ApiErrorCode = ErrorCode | "unreachable" | "not_herald";
