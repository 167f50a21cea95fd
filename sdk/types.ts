/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };

/** Free-form custom parameters: any JSON object. */
export type CustomParameters = { [member: string]: Json };

/** An attachment as recipients see it. */
export type DeliveredAttachment = { file_id: string; file_name: string };

/** A conversation message as it is delivered. `t` is in Unix seconds, `created_at` is ISO 8601 UTC. */
export type Message = {
  _id: string;
  t: number;
  from: string;
  body: string;
  cid: string;
  x: CustomParameters;
  attachments: DeliveredAttachment[];
  created_at: string;
};

/** A system message as it is delivered. `_id` is the `messageSystem.id` of its sender; it is never replayed. */
export type SystemMessage = { _id: string; t: number; from: string; x: CustomParameters };

/** A conversation in the answer to `listConversations`. */
export type ConversationSummary = {
  _id: string;
  name: string | null;
  type: string;
  created_at: string;
  updated_at: string;
};

/** What the server answers to `connect`. `recovered` is present only if `since` was sent. */
export type ConnectAnswer = {
  success: true;
  organization_id: string;
  user_id: string;
  connection_id: string;
  expires_at: string;
  recovered?: boolean;
};

/** The error of one request over the WebSocket. */
export type ResponseError = { status: number; code: string; message: string };

/** An attachment as the caller describes it; `size` in bytes; `file_id` only for a file uploaded before. */
export type AttachmentInput = { name: string; size?: number; content_type?: string; file_id?: string };

/** The body of `POST /admin/message`. */
export type MessageEnvelope = {
  organizationId: string;
  senderId: string;
  message: { id?: string; cid: string; body?: string; x?: CustomParameters; attachments?: AttachmentInput[] };
};

/** The body of `POST /admin/message/system`. */
export type SystemMessageEnvelope = {
  organizationId: string;
  senderId: string;
  messageSystem: { id?: string; uids: string[]; x?: CustomParameters };
};

/** The answer to `POST /admin/message` (spelled `ask` on the wire). `t` in Unix seconds. */
export type MessageAnswer = { ask: { mid: string; server_mid: string; t: number } };

/** The answer to `POST /admin/message/system`. `t` in Unix seconds. */
export type SystemMessageAnswer = { ack: { mid: string; t: number } };

/**
 * What became of a message, on all nodes, of about a second ago. *Delivered*: written to an open connection; what a client
 * has acknowledged, it has. Times in ISO 8601, `null` until then.
 */
export type Delivery = {
  recipients: number;
  delivered_users: number;
  delivered_connections: number;
  acknowledged_users: number;
  first_delivered_at: string | null;
  last_delivered_at: string | null;
};

/** A message, the API key that it was sent with, and what became of it. */
export type MessageReport = { message: Message; key_id: string | null; delivery: Delivery };

/** A system message, the API key that it was sent with, and what became of it, for each user. */
export type SystemMessageReport = {
  system_message: SystemMessage;
  key_id: string | null;
  delivery: Delivery & { by_user: { [uid: string]: "delivered" | "offline" | "unknown" } };
};

/** Whom a send would reach; `unknown_users`: uids of a system message that are no users of the organization. */
export type DryRunAnswer = { dry_run: { recipients: number; online: number; unknown_users: string[] } };

/** An organization, a user or a conversation of the directory; `name` is `null` until set. */
export type DirectoryEntry = { id: string; name: string | null; created_at: string };

/** A user; `blocked` is only there while every token of the user is refused. */
export type User = DirectoryEntry & { blocked?: true };

/** What an organization may use. `null`: what the server's settings say; 0: as much as it likes. */
export type OrganizationLimits = {
  requests_per_second: number | null;
  messages_per_second: number | null;
  connections: number | null;
  stored_bytes: number | null;
};

/** An organization with its limits and what it uses now, on all nodes; `null` in `usage`: a node does not answer. */
export type Organization = DirectoryEntry & {
  limits: OrganizationLimits;
  usage: Omit<OrganizationLimits, "stored_bytes"> & { stored_bytes: number };
};

/** A user token and the moment (ISO 8601) after which it is refused. */
export type UserToken = { token: string; expires_at: string };

/** A user and how many connections the user has now, on all nodes; `devices`, if asked for: the `device_id` that each gave. */
export type OnlineUser = { id: string; connections: number; devices?: (string | null)[] };

/** How many users are connected now, each counted once, and how many connections they have. */
export type OnlineCount = { count: number; connections: number };

/**
 * What a node counts: since it started, but for latency (commit to delivery) and event-loop delay, which are of about the
 * last 30 s. `sends` are those that are stored, `send_errors` those answered with 5xx; `bus` is `none` for a node that runs alone.
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
 * A running server. Times are ISO 8601, by its own clock. `lag_events`: how many stored events the organization that was
 * the most behind had not yet played at `lag_checked_at`.
 */
export type Node = {
  id: string;
  name: string | null;
  version: string;
  url: string;
  started_at: string;
  reported_at: string;
  connections: number;
  organizations: number;
  lag_events: number;
  lag_checked_at: string | null;
  figures: NodeFigures;
  state: "live" | "silent";
};

/** One page of a list; `cursor` is `null` on the last one. */
export type Page<Item> = { items: Item[]; cursor: string | null };

/** Which page of a list: `limit` 1 to 1,000 (default 100), `cursor` of the page before. */
export type PageOptions = { limit?: number; cursor?: string };

/** What an API key may do; `*` is everything. */
export type ApiKeyScope =
  | "message:send"
  | "system:send"
  | "directory:read"
  | "directory:write"
  | "history:read"
  | "observe"
  | "keys:manage"
  | "*";

/** What a live feed shows: what fits all that are given. */
export type FeedFilter = {
  kind?: "message" | "system_message";
  /** Only messages of this conversation. */
  cid?: string;
  /** Only what this user sent or is to receive. */
  uid?: string;
};

/** An API key, without its secret. Times are ISO 8601; `null` restricts nothing, and a time of `null` is none. */
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

/** The key that calls. `id` is `null` for the bootstrap key of the settings. */
export type OwnApiKey = Pick<ApiKey, "name" | "scopes" | "organization" | "allowed_senders" | "expires_at"> & {
  id: string | null;
};

/** An API key with its secret in `key`, which the server shows this once. */
export type ApiKeyWithSecret = ApiKey & { key: string };

/** A key to be made. What is left out is as with the key that makes it; `null` restricts nothing. */
export type NewApiKey = {
  name: string;
  scopes: ApiKeyScope[];
  organization?: string | null;
  allowed_senders?: string[] | null;
  cidrs?: string[] | null;
  expires_at?: string | null;
};

/** Which entries of the audit log: all that are left out do not restrict. Times in ISO 8601, `until` exclusive. */
export type AuditFilter = {
  organization?: string;
  /** The id of the key that called. */
  key?: string;
  /** An `operationId`, such as `deleteUser`. */
  operation?: string;
  result?: "done" | "refused" | "failed";
  /** The HTTP status that was answered. */
  status?: number;
  since?: string;
  until?: string;
};

/** An entry of the audit log: who did what. `target` holds the ids that the call named. */
export type AuditEntry = {
  id: string;
  created_at: string;
  operation: string;
  organization: string | null;
  /** With status 401 it is only what the caller claimed. */
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
  code: string | null;
  request_id: string;
  /** How many refused or failed calls its node did not write down before this one. */
  omitted: number;
};
