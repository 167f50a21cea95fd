import type { ErrorCode } from "./error-codes.ts";

export type * from "./webhook-types.ts";

/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };

/** Free-form custom parameters: any JSON object. */
export type CustomParameters = { [member: string]: Json };

/** An attachment as recipients see it. */
export type DeliveredAttachment = { file_id: string; file_name: string };

/** A conversation message as it is delivered. `t` is in Unix seconds, `created_at` is ISO 8601 UTC. */
export type Message<X = CustomParameters> = {
  _id: string;
  t: number;
  from: string;
  body: string;
  cid: string;
  x: X;
  attachments: DeliveredAttachment[];
  created_at: string;
};

/** A message in a list: with the time of its last edit (ISO 8601), if there was one. */
export type ListedMessage<X = CustomParameters> = Message<X> & { edited_at?: string };

/** An edit: from now on, the message `id` says this. `t` is in Unix seconds. */
export type MessageEdit<X = CustomParameters> = {
  id: string;
  cid: string;
  from: string;
  body: string;
  x: X;
  t: number;
};

/** A recall: these messages were taken back by `from`, and are gone for everyone. `t` is in Unix seconds. */
export type MessageDelete = { ids: string[]; cid: string; from: string; type: "all"; t: number };

/**
 * A system message as it is delivered. `_id` is the sender's `messageSystem.id`. `cid` is present if it was sent to a
 * conversation. System messages are never replayed.
 */
export type SystemMessage<X = CustomParameters> = { _id: string; t: number; from: string; x: X; cid?: string };

/**
 * A participant has read messages of the user: `from` has read `ids`, which are the user's, and everything before them in `cid`.
 * Never replayed. `t` is in Unix seconds.
 */
export type MessageRead = { ids: string[]; cid: string; from: string; t: number };

/**
 * A conversation in the result of `listConversations`. `unread_messages_count` is the number of messages of others that the user
 * has not read; 100 means 100 or more.
 */
export type ConversationSummary = {
  _id: string;
  name: string | null;
  type: string;
  created_at: string;
  updated_at: string;
  unread_messages_count: number;
  last_message?: Message<unknown> | null;
};

/** The response to `connect`. `recovered` is present only if `since` was sent. */
export type ConnectAnswer = {
  success: true;
  organization_id: string;
  user_id: string;
  connection_id: string;
  expires_at: string;
  recovered?: boolean;
};

/** The error of a request sent over the WebSocket. */
export type ResponseError = { status: number; code: ErrorCode; message: string };

/** An attachment as the caller describes it. `size` is in bytes; `file_id` refers to a file that was already uploaded. */
export type AttachmentInput = { name: string; size?: number; content_type?: string; file_id?: string };

/** The body of `POST /admin/message`. */
export type MessageEnvelope = {
  organizationId: string;
  senderId: string;
  message: { id?: string; cid: string; body?: string; x?: CustomParameters; attachments?: AttachmentInput[] };
};

/**
 * Whom a system message goes to: listed users, everyone who takes part in a conversation, as the sender must, or all
 * users of the organization.
 */
export type SystemMessageAddress =
  | { uids: string[]; cid?: never; everyone?: never }
  | { cid: string; uids?: never; everyone?: never }
  | { everyone: true; uids?: never; cid?: never };

/** The body of `POST /admin/message/system`. */
export type SystemMessageEnvelope = {
  organizationId: string;
  senderId: string;
  messageSystem: { id?: string; x?: CustomParameters } & SystemMessageAddress;
};

/** The body of `PUT /admin/message`. Without `x`, the custom parameters of the message stay. */
export type MessageEditEnvelope = {
  organizationId: string;
  senderId: string;
  messageEdit: { id: string; body: string; x?: CustomParameters };
};

/** The body of `DELETE /admin/message`: 1 to 100 messages of one conversation. */
export type MessageDeleteEnvelope = {
  organizationId: string;
  senderId: string;
  messageDelete: { cid: string; ids: string[]; type: "all" };
};

/** The response to an edit or a recall. */
export type ChangeAnswer = { success: true };

/** The body of `PUT /admin/message/read`. Without `ids`, the conversation is read up to its end. */
export type ReadEnvelope = {
  organizationId: string;
  senderId: string;
  messageRead: { cid: string; ids?: string[] };
};

/** The response to `POST /admin/message` (spelled `ask` on the wire). `t` is in Unix seconds. */
export type MessageAnswer = { ask: { mid: string; server_mid: string; t: number } };

/** The response to `POST /admin/message/system`. `t` is in Unix seconds. */
export type SystemMessageAnswer = { ack: { mid: string; t: number } };

/** What became of a send while its caller waited, in users: addressed, connected, written to, and acknowledged by their clients. */
export type DeliveryCounts = { recipients: number; online: number; delivered: number; acknowledged: number };

/** Present if the send waited for its delivery, and the server did as well. */
export type Waited = { delivery?: DeliveryCounts };

/**
 * The delivery of a message on all nodes, about a second old. *Delivered* means written to an open connection; only an
 * acknowledgement proves that a client received it. Times are ISO 8601, or `null` before the first delivery.
 */
export type Delivery = {
  recipients: number;
  delivered_users: number;
  delivered_connections: number;
  acknowledged_users: number;
  first_delivered_at: string | null;
  last_delivered_at: string | null;
};

/**
 * A message, the API key that sent it, and its delivery. A message that was taken back has `recalled_at`, and no text any more.
 * `acknowledged_before_edit` and `acknowledged_before_recall` say how many acknowledged it before the last edit, and the recall.
 */
export type MessageReport = {
  message: Omit<ListedMessage, "body" | "x" | "attachments"> & Partial<ListedMessage>;
  recalled_at?: string;
  key_id: string | null;
  delivery: Delivery & { acknowledged_before_edit?: number; acknowledged_before_recall?: number };
};

/**
 * A system message, the API key that sent it, and its delivery, in `by_user` to each of the `uids` if it was sent to
 * listed users.
 */
export type SystemMessageReport = {
  system_message: SystemMessage;
  key_id: string | null;
  delivery: Delivery & { by_user?: { [uid: string]: "delivered" | "offline" | "unknown" } };
};

/** Whether a recipient has a message: written to a connection, acknowledged by a client, or neither. */
export type RecipientState = "delivered" | "acknowledged" | "missing";

/** A user that a message was addressed to. Times are `null` if nothing is known. */
export type Recipient = {
  uid: string;
  state: RecipientState;
  delivered_at: string | null;
  acknowledged_at: string | null;
};

/** Whom a send or a read would reach. `unknown_users` are the `uids` of a system message that are not users of the organization. */
export type DryRunAnswer = { dry_run: { recipients: number; online: number; unknown_users: string[] } };

/** What to send later, and when: ISO 8601, at most a year ahead; a time in the past means now. */
export type ScheduleOrder = { send_at: string; request: MessageEnvelope | SystemMessageEnvelope };

/** What became of a scheduled send. */
export type ScheduledState = "waiting" | "sent" | "failed" | "cancelled";

/**
 * A send that is scheduled for a time, or was. `request` is what waits, and `null` once it no longer does. `server_mid` is the id of
 * what was sent, and `problem` the reason why it could not be.
 */
export type ScheduledSend = {
  id: string;
  send_at: string;
  state: ScheduledState;
  request: MessageEnvelope | SystemMessageEnvelope | null;
  created_at: string;
  sent_at: string | null;
  server_mid: string | null;
  problem: { status: number; code: ErrorCode; title: string; detail: string } | null;
};

/** An organization, a user or a conversation. `name` is `null` if none is set. */
export type DirectoryEntry = { id: string; name: string | null; created_at: string };

/** A user. `blocked` is present only while the user is blocked, that is, while all of the user's tokens are refused. */
export type User = DirectoryEntry & { blocked?: true };

/** The limits of an organization. `null` means the server's default, 0 means no limit. */
export type OrganizationLimits = {
  requests_per_second: number | null;
  messages_per_second: number | null;
  connections: number | null;
  stored_bytes: number | null;
};

/** An organization with its limits and its current usage on all nodes. A usage figure is `null` if a node does not respond. */
export type Organization = DirectoryEntry & {
  limits: OrganizationLimits;
  usage: Omit<OrganizationLimits, "stored_bytes"> & { stored_bytes: number };
};

/** A user token and when it expires (ISO 8601). */
export type UserToken = { token: string; expires_at: string };

/** A user and the user's number of connections on all nodes. `devices`, if requested, is the `device_id` of each connection. */
export type OnlineUser = { id: string; connections: number; devices?: (string | null)[] };

/** The number of connected users, each counted once, and of their connections. */
export type OnlineCount = { count: number; connections: number };

/**
 * The figures of a node since it started, except latency (commit to delivery) and event loop delay, which cover about the last
 * 30 s. `sends` counts stored sends, `send_errors` sends that failed with 5xx. `bus` is `none` for a node that runs alone.
 */
export type NodeFigures = {
  sends: number;
  send_errors: number;
  deliveries: number;
  slow_consumers_cut: number;
  repairs: number;
  latency_ms: { p50: number | null; p99: number | null };
  event_loop_delay_ms: { p50: number; p99: number };
  bus: "up" | "down" | "none";
};

/**
 * A running server. Times are ISO 8601, by its own clock. `lag_events` is the number of stored events not yet delivered at
 * `lag_checked_at`, for the organization that was furthest behind.
 */
export type Node = {
  id: string;
  name: string | null;
  version: string;
  url: string;
  /** The internal address, if the node has one. */
  admin_url?: string;
  started_at: string;
  reported_at: string;
  connections: number;
  organizations: number;
  lag_events: number;
  lag_checked_at: string | null;
  figures: NodeFigures;
  state: "live" | "silent";
};

/** A page of a list. `cursor` is `null` on the last page. */
export type Page<Item> = { items: Item[]; cursor: string | null };

/** Selects a page of a list: `limit` from 1 to 1,000 (default 100), and the `cursor` of the previous page. */
export type PageOptions = { limit?: number; cursor?: string };

/** What an API key may do. `*` means everything. */
export type ApiKeyScope =
  | "message:send"
  | "message:edit"
  | "system:send"
  | "directory:read"
  | "directory:write"
  | "history:read"
  | "files:write"
  | "webhooks:manage"
  | "observe"
  | "keys:manage"
  | "*";

/** A file of messages. `size` is in bytes; `sha256` is in hexadecimal, and `null` until the bytes are uploaded. */
export type FileDescription = {
  file_id: string;
  name: string;
  size: number;
  content_type: string;
  sha256: string | null;
  /** ISO 8601. */
  created_at: string;
};

/** Restricts a live feed to the events that match all given members. */
export type FeedFilter = {
  kind?: "message" | "system_message" | "message_edit" | "message_delete" | "message_read";
  /** Only messages of this conversation, their edits, recalls and reads, and system messages that were sent to it. */
  cid?: string;
  /** Only events that this user sends or receives. */
  uid?: string;
};

/** An API key without its secret. Times are ISO 8601, or `null` for never. A restriction of `null` means none. */
export type ApiKey = {
  id: string;
  name: string;
  scopes: ApiKeyScope[];
  organization: string | null;
  allowed_senders: string[] | null;
  cidrs: string[] | null;
  expires_at: string | null;
  created_at: string;
  last_used_at: string | null;
  old_secret_expires_at: string | null;
};

/** The calling key. `id` is `null` for the bootstrap key. */
export type OwnApiKey = Pick<ApiKey, "name" | "scopes" | "organization" | "allowed_senders" | "expires_at"> & {
  id: string | null;
};

/** An API key with its secret in `key`, which the server shows only once. */
export type ApiKeyWithSecret = ApiKey & { key: string };

/** A new API key. Omitted restrictions are inherited from the calling key; `null` means no restriction. */
export type NewApiKey = {
  name: string;
  scopes: ApiKeyScope[];
  organization?: string | null;
  allowed_senders?: string[] | null;
  cidrs?: string[] | null;
  expires_at?: string | null;
};

/** Restricts the audit log to the entries that match all given members. Times are ISO 8601; `until` is exclusive. */
export type AuditFilter = {
  organization?: string;
  /** The id of the calling key. */
  key?: string;
  /** An `operationId`, such as `deleteUser`. */
  operation?: string;
  result?: "done" | "refused" | "failed";
  /** The HTTP status of the response. */
  status?: number;
  since?: string;
  until?: string;
};

/** An entry of the audit log: who did what. `target` contains the ids that the call referred to. */
export type AuditEntry = {
  id: string;
  created_at: string;
  operation: string;
  organization: string | null;
  /** `null` if the status is 401: an unauthenticated call is attributed to no key. */
  key_id: string | null;
  address: string | null;
  target: {
    organization?: string;
    user?: string;
    conversation?: string;
    key?: string;
    /** The `jti` of a token. */
    token?: string;
    sender?: string;
    message?: string;
  };
  result: "done" | "refused" | "failed";
  status: number;
  code: ErrorCode | null;
  request_id: string;
  /** The number of refused or failed calls that the node left out just before this entry. */
  omitted: number;
};
