/** An organization, a user or a conversation. `name` is `null` if none is set. */
export type DirectoryEntry = {
  /** The id. */
  id: string;
  /** The name; `null` if none is set. */
  name: string | null;
  /** When it was created, in ISO 8601. */
  created_at: string;
};

/** A user. `blocked` is present only while the user is blocked, that is, while all of the user's tokens are refused. */
export type User = DirectoryEntry & {
  /** Present if the user is blocked. */
  blocked?: true;
};

/** The limits of an organization. `null` means the server's default, 0 means no limit. */
export type OrganizationLimits = {
  /** Requests a second over all keys. */
  requests_per_second: number | null;

  /** Stored messages and system messages a second. */
  messages_per_second: number | null;

  /** Connections that are open at the same time. */
  connections: number | null;

  /** Bytes of stored events and files. */
  stored_bytes: number | null;
};

/** An organization with its limits and its current usage on all nodes. A usage figure is `null` if a node does not respond. */
export type Organization = DirectoryEntry & {
  /** What is set for it. */
  limits: OrganizationLimits;

  /** What it uses now, on all nodes. */
  usage: Omit<OrganizationLimits, "stored_bytes"> & {
    /** The bytes that are stored. */
    stored_bytes: number;
  };
};

/** A user token and when it expires (ISO 8601). */
export type UserToken = {
  /** The token, which a client connects with. */
  token: string;
  /** When it expires, in ISO 8601. */
  expires_at: string;
};

/** A user and the user's number of connections on all nodes. `devices`, if requested, is the `device_id` of each connection. */
export type OnlineUser = {
  /** The user. */
  id: string;
  /** The number of open connections. */
  connections: number;
  /** The `device_id` of each connection; only if they were asked for. */
  devices?: (string | null)[];
  /** When the user's last connection to a node ended, or `null` if that is not known; only if it was asked for. */
  last_seen?: string | null;
};

/** A connection of a user that is open now. */
export type UserConnection = {
  /** What `connect` answered, or the `X-Request-Id` of the stream. */
  connection_id: string;
  /** The id of the node. */
  node: string;
  /** The protocol. */
  transport: "websocket" | "sse";
  /** The client's name for its device; `null` if it gave none. */
  device_id: string | null;
  /** The `User-Agent` that the client sent, at most 200 characters; `null` without one. */
  client: string | null;
  /** Where it comes from: an IPv4 address, or the network of an IPv6 address. */
  address: string;
  /** When it was opened, in ISO 8601. */
  since: string;
  /** Bytes that wait on the node because the client has not taken them. */
  waiting_bytes: number;
};

/** The connections of a user that are open now, and what is known of the last one. */
export type UserConnections = {
  /** The oldest first. */
  items: UserConnection[];
  /** The connection that ended last; `null` if none is known. */
  last_ended: {
    /** When it ended, in ISO 8601. */
    at: string;
    /** The close code of a WebSocket, 1006 if the line broke, hung or was cut; `null` of a stream. Absent if no node remembers it. */
    code?: number | null;
    /** Present only if bytes were waiting for it: it was cut as a slow reader, or its client hung up. */
    was_slow?: true;
  } | null;
  /** The token that was refused last, of those whose signature is valid; `null` if no node remembers one. */
  last_refused: {
    /** When it was refused, in ISO 8601. */
    at: string;
    /**
     * The check that refused it: it has expired, a claim is wrong, it was revoked, the user is blocked, or has too many connections or
     * requests.
     */
    check: "expired" | "claims" | "revoked" | "blocked" | "limit";
  } | null;
};

/** The number of connected users, each counted once, and of their connections. */
export type OnlineCount = {
  /** How many users are connected. */
  count: number;
  /** The number of open connections. */
  connections: number;
};

/** A user, as other users see it. */
export type UserView = {
  /** The user's id. */
  _id: string;
  /** The user's name, or the id if no name is set. */
  login: string;
  /** When the user was created, in ISO 8601. */
  created_at: string;
};

/** A page of a list. `cursor` is `null` on the last page. */
export type Page<Item> = {
  /** The items of this page. */
  items: Item[];
  /** Where the next page begins; `null` on the last one. */
  cursor: string | null;
};

/** Selects a page of a list: `limit` from 1 to 1,000 (default 100), and the `cursor` of the previous page. */
export type PageOptions = {
  /** How many items at most, 1 to 1,000 (default 100). */
  limit?: number;
  /** The `cursor` of the previous page. */
  cursor?: string;
};

/** The same, for a list that may be limited by a prefix. */
export type PrefixOptions = PageOptions & {
  /** The beginning of the id or name, ignoring case. */
  prefix?: string;
};

/** A file of messages. `size` is in bytes; `sha256` is in hexadecimal, and `null` until the bytes are uploaded. */
export type FileDescription = {
  /** The id of the file. */
  file_id: string;

  /** The name of the file. */
  name: string;

  /** Its size in bytes. */
  size: number;

  /** Its media type. */
  content_type: string;

  /** Its SHA-256 in hexadecimal; `null` until the bytes are uploaded. */
  sha256: string | null;
  /** ISO 8601. */
  created_at: string;
};

/** The kind of an event of a feed. */
export type FeedEventKind =
  | "message"
  | "system_message"
  | "message_edit"
  | "message_append"
  | "message_delete"
  | "system_message_delete"
  | "message_read"
  | "system_message_read"
  | "message_reactions_update";

/** Restricts a feed to the events that match all given members. */
export type FeedFilter = {
  /** Only events of this kind. */
  kind?: FeedEventKind;
  /** Only events of these kinds. */
  types?: FeedEventKind[];
  /** Only messages of this conversation, their edits, recalls, reactions and reads, and system messages that were sent to it, with their recalls. */
  cid?: string;
  /** Only events that this user sends or receives, live: a feed with it cannot begin after a cursor. */
  uid?: string;
};
