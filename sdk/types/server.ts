import type { ErrorCode } from "../error-codes.ts";

/**
 * The figures of a node since it started, except latency (commit to delivery) and event loop delay, which cover about the last
 * 30 s. `sends` counts stored sends, `send_errors` sends that failed with 5xx. `bus` is `none` for a node that runs alone.
 */
export type NodeFigures = {
  /** How many sends were stored. */
  sends: number;

  /** How many sends failed with 5xx. */
  send_errors: number;

  /** How many events were written to connections. */
  deliveries: number;

  /** How many connections were cut because they read too slowly. */
  slow_consumers_cut: number;

  /** How often the node read events from the store that it had not heard of in time. */
  repairs: number;

  /** From commit to delivery, in milliseconds. */
  latency_ms: {
    /** The median; `null` if nothing was delivered. */
    p50: number | null;
    /** What one in a hundred exceeds; `null` if nothing was delivered. */
    p99: number | null;
  };

  /** How late the event loop was, in milliseconds. */
  event_loop_delay_ms: {
    /** The median. */
    p50: number;
    /** What one in a hundred exceeds. */
    p99: number;
  };

  /** Whether the bus to other nodes is there. */
  bus: "up" | "down" | "none";
};

/**
 * A running server. Times are ISO 8601, by its own clock. `lag_events` is the number of stored events not yet delivered at
 * `lag_checked_at`, for the organization that was furthest behind.
 */
export type Node = {
  /** The id of the process. */
  id: string;

  /** The name that the operator gave it. */
  name: string | null;

  /** The version of Herald. */
  version: string;

  /** The public address. */
  url: string;
  /** The internal address, if the node has one. */
  admin_url?: string;

  /** When it started, in ISO 8601. */
  started_at: string;

  /** When it last reported, in ISO 8601. */
  reported_at: string;

  /** The number of open connections. */
  connections: number;

  /** The number of organizations with connections to it. */
  organizations: number;

  /** How many stored events it had not delivered when it last looked. */
  lag_events: number;

  /** When it last looked, in ISO 8601. */
  lag_checked_at: string | null;

  /** What it has refused since it started. Absent, or without some of it, from nodes of earlier versions. */
  refusals?: {
    /** Calls without a valid key. */
    keys: number;
    /** User tokens: invalid, expired, revoked, or of a blocked user. */
    tokens: number;
    /** Calls over a limit, refused with 429. */
    rate_limited?: number;
  };

  /** What is wrong, as the node sees it; empty if all is well. Absent from nodes of earlier versions. */
  problems?: NodeProblem[];

  /** What it has done. */
  figures: NodeFigures;

  /** Whether it has reported lately. */
  state: "live" | "silent";
};

/** Something that is wrong with a node, or with what it depends on. */
export type NodeProblem = {
  /**
   * What is away (`database`, `bus`, `files`, `outbox`, `identity_provider`, `sign_in_provider`) or waits for too long (`outbox_waits`, `webhooks_wait`,
   * `scheduled_wait`), or that the node is `stopping`.
   */
  kind:
    | "database"
    | "bus"
    | "files"
    | "outbox"
    | "identity_provider"
    | "sign_in_provider"
    | "outbox_waits"
    | "webhooks_wait"
    | "scheduled_wait"
    | "stopping";
  /** Since when, in ISO 8601. */
  since: string;
};

/** What all live nodes did together, at one time. Rates are per second since the sample before; `null` if unknown. */
export type NodeSample = {
  /** When it was taken, in ISO 8601. */
  at: string;
  /** The number of live nodes. */
  nodes: number;
  /** The number of open connections. */
  connections: number;
  /** The greatest `lag_events` of a node. */
  lag_events: number;
  /** Stored sends. */
  sends: number | null;
  /** Events that were written to connections. */
  deliveries: number | null;
  /** Sends that failed with 5xx. */
  send_errors: number | null;
  /** Connections that ended with bytes waiting. */
  slow_consumers_cut: number | null;
  /** Calls without a valid key. */
  refused_keys: number | null;
  /** Refused user tokens. */
  refused_tokens: number | null;
  /** Calls over a limit, refused with 429. */
  rate_limited: number | null;
  /** The greatest of a node, in milliseconds. */
  latency_ms: {
    /** The median; `null` if nothing was delivered. */
    p50: number | null;
    /** What one in a hundred exceeds; `null` if nothing was delivered. */
    p99: number | null;
  };
};

/** The last 30 minutes of all nodes together, as the node that answers has seen them since it started. */
export type NodeHistory = {
  /** When it was read, by the same clock as the times in it. */
  read_at: string;
  /** One for each 15 s, the oldest first. */
  samples: NodeSample[];
};

/** The nodes, in the order in which they started. */
export type NodeList = {
  /** The nodes. */
  items: Node[];
  /** Only if it was asked for. */
  history?: NodeHistory;
};

/** What an API key may do. `*` means everything. */
export type ApiKeyScope =
  | "message:send"
  | "message:propose"
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

/** An API key without its secret. Times are ISO 8601, or `null` for never. A restriction of `null` means none. */
export type ApiKey = {
  /** The id. */
  id: string;

  /** What the key is for. */
  name: string;

  /** What the key may do. */
  scopes: ApiKeyScope[];

  /** The organization; `null` means all. */
  organization: string | null;

  /** The users as whom the key may send; `null` for all. */
  allowed_senders: string[] | null;

  /** The networks that the key may be used from; `null` for all. */
  cidrs: string[] | null;

  /** When it expires, in ISO 8601; `null` for never. */
  expires_at: string | null;

  /** When it was created, in ISO 8601. */
  created_at: string;

  /** When it was last used, in ISO 8601; `null` if never. */
  last_used_at: string | null;

  /** Until when the secret before the last rotation works, in ISO 8601; `null` if it does not. */
  old_secret_expires_at: string | null;
};

/** The calling key. `id` is `null` for the bootstrap key. */
export type OwnApiKey = Pick<ApiKey, "name" | "scopes" | "organization" | "allowed_senders" | "expires_at"> & {
  /** The id; `null` for the bootstrap key, and for a person or workload without a key, whose name is `name`. */
  id: string | null;

  /** What stands for the caller in the audit log and in proposals. */
  key_id: string;

  /** The organizations that the caller can access, with what its roles allow in each; `null`: all, or the one in `organization`. */
  organizations: string[] | null;

  /** The session of the person who makes the call; `null` for a key or a token. */
  session_id: string | null;
};

/** The session of a person who signed in to the console at the OpenID provider. */
export type ConsoleSession = {
  /** The id. It is not the secret in the person's cookie. */
  id: string;

  /** What the person is called: a verified address, or else a name. */
  person: string;

  /** What stands for the person in the `key_id` of the audit log. */
  key_id: string;

  /** What the person may do, somewhere. */
  scopes: ApiKeyScope[];

  /** The only organizations that the person can access; `null` means all. */
  organizations: string[] | null;

  /** Where the person signed in from, if that is known. */
  address: string | null;

  /** When the person signed in, in ISO 8601. */
  created_at: string;

  /** When the session ends, unless it is ended before, in ISO 8601. */
  expires_at: string;
};

/** An API key with its secret in `key`, which the server shows only once. */
export type ApiKeyWithSecret = ApiKey & {
  /** The key itself, which no later answer has. */
  key: string;
};

/** A new API key. Omitted restrictions are inherited from the calling key; `null` means no restriction. */
export type NewApiKey = {
  /** What the key is for. */
  name: string;

  /** What the key may do. */
  scopes: ApiKeyScope[];

  /** The organization; `null` means all. */
  organization?: string | null;

  /** The users as whom the key may send; `null` for all. */
  allowed_senders?: string[] | null;

  /** The networks that the key may be used from; `null` for all. */
  cidrs?: string[] | null;

  /** When it expires, in ISO 8601; `null` for never. */
  expires_at?: string | null;
};

/** Restricts the audit log to the entries that match all given members. Times are ISO 8601; `until` is exclusive. */
export type AuditFilter = {
  /** The id of an entry: only entries after it, oldest first. */
  after?: string;
  /** Only calls about this organization. */
  organization?: string;
  /** The id of the calling key. */
  key?: string;
  /** An `operationId`, such as `deleteUser`. */
  operation?: string;

  /** Only calls that ended this way. */
  result?: "done" | "refused" | "failed";
  /** The HTTP status of the response. */
  status?: number;

  /** Only calls at this time or later, in ISO 8601. */
  since?: string;

  /** Only calls before this time, in ISO 8601. */
  until?: string;
};

/** An entry of the audit log: who did what. `target` contains the ids that the call referred to. */
export type AuditEntry = {
  /** The id. */
  id: string;

  /** When the call was made, in ISO 8601. */
  created_at: string;

  /** The `operationId` of the call. */
  operation: string;

  /** The organization that it was about; `null` if none. */
  organization: string | null;
  /** `null` if the status is 401: an unauthenticated call is attributed to no key. */
  key_id: string | null;

  /** What the OpenID provider calls the person or workload; `null` for a key. */
  person: string | null;

  /** Where it came from. */
  address: string | null;

  /** The ids that it referred to. */
  target: {
    /** The organization. */
    organization?: string;

    /** The user. */
    user?: string;

    /** The conversation. */
    conversation?: string;

    /** The API key. */
    key?: string;
    /** The `jti` of a token. */
    token?: string;
    /** The connection that the call closed. */
    connection?: string;

    /** The user on whose behalf it was made. */
    sender?: string;

    /** The message. */
    message?: string;
    /** The messages that were taken back or hidden. */
    messages?: string[];
  };

  /** How it ended. */
  result: "done" | "refused" | "failed";

  /** The HTTP status of the response. */
  status: number;

  /** The code of the error; `null` if there was none. */
  code: ErrorCode | null;

  /** The `X-Request-Id` of the response. */
  request_id: string;
  /** The number of refused or failed calls that the node left out just before this entry. */
  omitted: number;
};
