/** The contract's wire format, transcribed from `api.md`, so that no test trusts the server's own types. */
export type Message = {
  _id: string;
  t: number;
  from: string;
  body: string;
  cid: string;
  x: Record<string, unknown>;
  attachments: { file_id: string; file_name: string }[];
  created_at: string;
  silent?: true;
  expires_at?: string;
  replied_message_id?: string;
  forwarded_message_id?: string;
};

/** A message in a list. */
export type ListedMessage = Message & {
  edited_at?: string;
  reactions?: { own?: string[]; total: Record<string, number> };
};

type ShownAttachment = Message["attachments"][number] & { file_content_type?: string; file_size?: number };

/** A message in a list over a socket. */
export type ShownMessage = Omit<ListedMessage, "attachments"> & { attachments: ShownAttachment[]; updated_at: string };

export type MessageEdit = {
  id: string;
  cid: string;
  from: string;
  body: string;
  x: Record<string, unknown>;
  t: number;
};

export type MessageDelete = { ids: string[]; cid: string; from: string; type: string; t: number };

/** `cid` is present only if it was sent to a conversation. */
export type SystemMessage = {
  _id: string;
  t: number;
  from: string;
  x: Record<string, unknown>;
  cid?: string;
  silent?: true;
  expires_at?: string;
};

export type InboxItem = SystemMessage & {
  created_at: string;
  key?: string;
  seen_at: string | null;
  read_at: string | null;
};

export type MessageRead = { ids: string[]; cid: string; from: string; t: number };

/** One event frame, with exactly one of these members. */
export type Event = {
  message?: Message;
  system_message?: SystemMessage;
  message_edit?: MessageEdit;
  message_delete?: MessageDelete;
  system_message_delete?: { ids: string[]; from: string; t: number };
  message_read?: MessageRead;
  message_append?: {
    id: string;
    cid: string;
    from: string;
    offset: number;
    text: string;
    done: boolean;
    t: number;
  };
  message_reactions_update?: { mid: string; cid: string; from: string; add?: string; remove?: string };
  system_message_read?: { ids: string[]; seen: boolean; t: number };
  last_activity?: Record<string, number>;
  typing?: { cid: string; from: string; status: "start" | "stop"; t: number };
  session?: { expires_at: string };
};

export type SocketError = { status: number; code: string; message: string };

export type Conversation = {
  _id: string;
  name: string | null;
  type: string;
  created_at: string;
  updated_at: string;
  unread_messages_count: number;
  last_message: ShownMessage | null;
};

/** A user, as other users see it. */
export type UserView = { _id: string; login: string; created_at: string };

/** The content of one response frame. Its members depend on the request. */
export type SocketResponse = {
  file_urls?: Record<string, string>;
  unread_system_messages_count?: number;
  system_messages?: InboxItem[];
  id?: string | number;
  success?: boolean;
  organization_id?: string;
  user_id?: string;
  connection_id?: string;
  expires_at?: string;
  recovered?: boolean;
  pong?: Record<string, never>;
  conversations?: Conversation[];
  messages?: ShownMessage[];
  users?: UserView[];
  last_activity?: Record<string, number>;
  reactions?: Record<string, string[]>;
  cursor?: string | null;
  error?: SocketError;
};

export type Ask = { ask: { mid: string; server_mid: string; t: number } };
export type Ack = { ack: { mid: string; t: number } };
export type Done = { success: true };
export type Noun = { id: string; name: string | null; created_at: string; blocked?: true };
export type ScheduledSend = {
  id: string;
  send_at: string;
  state: "waiting" | "sent" | "failed" | "cancelled";
  request: Record<string, unknown> | null;
  created_at: string;
  sent_at: string | null;
  server_mid: string | null;
  problem: Problem | null;
};
export type Proposal = {
  id: string;
  state: "waiting" | "approved" | "rejected" | "failed" | "expired";
  request: Record<string, unknown> | null;
  reason: string | null;
  proposed_by: string;
  created_at: string;
  expires_at: string;
  decided_by: string | null;
  decided_at: string | null;
  decision_reason: string | null;
  server_mid: string | null;
  problem: Problem | null;
};
export type Page<T> = { items: T[]; cursor: string | null };
export type OnlineUser = {
  id: string;
  connections: number;
  devices?: (string | null)[];
  last_seen?: string | null;
};
export type Node = {
  id: string;
  name: string | null;
  version: string;
  url: string;
  admin_url?: string;
  started_at: string;
  reported_at: string;
  connections: number;
  organizations: number;
  lag_events: number;
  lag_checked_at: string | null;
  refusals: { keys: number; tokens: number; rate_limited: number };
  problems: { kind: string; since: string }[];
  figures: {
    sends: number;
    send_errors: number;
    deliveries: number;
    slow_consumers_cut: number;
    repairs: number;
    latency_ms: { p50: number | null; p99: number | null };
    event_loop_delay_ms: { p50: number; p99: number };
    bus: "up" | "down" | "none";
  };
  state: "live" | "silent";
};
export type Token = { token: string; expires_at: string };

export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id: string;
  errors?: { pointer: string; detail: string }[];
};

/** The request's `message`, typed loosely so that tests can get it wrong. */
export type MessageInput = Record<string, unknown>;

/** The delivery figures of a message. */
export type Delivery = {
  recipients: number;
  delivered_users: number;
  delivered_connections: number;
  acknowledged_users: number;
  first_delivered_at: string | null;
  last_delivered_at: string | null;
};
export type MessageReport = {
  message: Message & { edited_at?: string };
  recalled_at?: string;
  expired_at?: string;
  key_id: string | null;
  delivery: Delivery & { acknowledged_before_edit?: number; acknowledged_before_recall?: number };
};
export type SystemMessageReport = {
  system_message: SystemMessage;
  recalled_at?: string;
  expired_at?: string;
  superseded_by?: string;
  key_id: string | null;
  delivery: Delivery & { by_user?: Record<string, string>; acknowledged_before_recall?: number };
};
export type Recipient = {
  uid: string;
  state: "delivered" | "acknowledged" | "missing";
  delivered_at: string | null;
  acknowledged_at: string | null;
};
export type DeliveryItem = Omit<Recipient, "uid"> & {
  kind: "message" | "system_message";
  id: string;
  cid: string | null;
  from: string;
  t: number;
  read_at: string | null;
};
export type DryRun = { dry_run: { recipients: number; online: number; unknown_users: string[] } };
