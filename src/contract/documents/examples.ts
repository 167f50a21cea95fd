import packageJson from "../../../package.json" with { type: "json" };
import { toIso, toSeconds } from "../identifiers.ts";

const time = Date.UTC(2026, 10, 20, 13, 6, 0, 123);
const createdAt = toIso(time);

/** The ids in all examples, taken from the organization that `HERALD_DEMO` creates. */
export const exampleIds = {
  organization: "demo",
  user: "bob",
  conversation: "welcome",
  token: "01a1fb4a-6a00-7000-8000-000000000001",
  file: "01a1fb4a-6a00-7000-8000-000000000002",
};

/** An organization. */
export const organizationExample = { id: exampleIds.organization, name: "Demo organization", created_at: createdAt };

/** A user. */
export const userExample = { id: exampleIds.user, name: "Bob", created_at: createdAt };

/** A user, as other users see it. */
export const userViewExample = { _id: exampleIds.user, login: "Bob", created_at: createdAt };

/** A conversation. */
export const conversationExample = { id: exampleIds.conversation, name: "Welcome", created_at: createdAt };

/** A file. */
export const fileExample = {
  file_id: exampleIds.file,
  name: "invoice.pdf",
  size: 48_211,
  content_type: "application/pdf",
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  created_at: createdAt,
};

/** A node of a cluster. */
export const nodeExample = {
  id: "01a1f8c2-4d10-7b3a-9c55-0e1d2c3b4a59",
  name: "herald-1",
  version: packageJson.version,
  url: "http://10.0.0.11:7070",
  started_at: toIso(time - 5_087_331),
  reported_at: createdAt,
  connections: 4_212,
  organizations: 17,
  lag_events: 0,
  lag_checked_at: toIso(time - 1_204),
  refusals: { keys: 0, tokens: 41, rate_limited: 0 },
  problems: [{ kind: "files" as const, since: toIso(time - 42_000) }],
  figures: {
    sends: 48_211,
    send_errors: 0,
    deliveries: 1_203_554,
    slow_consumers_cut: 3,
    repairs: 12,
    latency_ms: { p50: 1.4, p99: 6.2 },
    event_loop_delay_ms: { p50: 0.1, p99: 3.9 },
    bus: "up" as const,
  },
  state: "live",
};

/** A connection of a user. */
export const userConnectionExample = {
  connection_id: "01a1fb4a-6a00-7000-8000-000000000003",
  node: nodeExample.id,
  transport: "websocket" as const,
  device_id: "phone",
  client: "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
  address: "203.0.113.7",
  since: toIso(time - 61_000),
  waiting_bytes: 0,
};

/** The connections of a user, one of whose tokens has expired before. */
export const userConnectionsExample = {
  items: [userConnectionExample],
  last_ended: { at: toIso(time - 75_000), code: 4401 },
  last_refused: { at: toIso(time - 74_000), check: "expired" as const },
};

/** A user token that expires after an hour. */
export const tokenExample = {
  token: "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.e30.c2lnbmF0dXJl",
  expires_at: toIso(time + 3_600_000),
};

/** An API key that may send as one user of one organization. */
export const apiKeyExample = {
  id: "01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c",
  name: "parcel tracking",
  scopes: ["message:send" as const],
  organization: exampleIds.organization,
  allowed_senders: ["alice"],
  cidrs: null,
  expires_at: toIso(time + 365 * 86_400_000),
  created_at: createdAt,
  last_used_at: null,
  old_secret_expires_at: null,
};

/** The session of a person in the console. */
export const sessionExample = {
  id: "01a1f90f-2b61-7c44-8d05-3e2f1a0b9c8d",
  person: "ada@example.org",
  key_id: "oidc:248289761001",
  scopes: ["history:read" as const, "observe" as const],
  organizations: [exampleIds.organization],
  address: "192.0.2.17",
  created_at: createdAt,
  expires_at: toIso(time + 12 * 3600_000),
};

/** The audit entry of adding a participant with this key. */
export const auditEntryExample = {
  id: "01a1f910-5781-7d04-8c6f-9a0b1c2d3e4f",
  created_at: createdAt,
  operation: "putParticipant",
  organization: exampleIds.organization,
  key_id: apiKeyExample.id,
  person: null,
  address: "192.0.2.17",
  target: { organization: exampleIds.organization, conversation: exampleIds.conversation, user: exampleIds.user },
  result: "done" as const,
  status: 201,
  code: null,
  request_id: "01a1f910-5780-7e1a-9b3c-7d6e5f4a3b2c",
  omitted: 0,
};

/** A message of a conversation. */
export const messageExample = {
  _id: "01a1f910-573b-7e5f-8a9b-0c1d2e3f4a5b",
  t: toSeconds(time),
  from: "alice",
  body: "Your parcel is on its way.",
  cid: exampleIds.conversation,
  x: { order: 4711 },
  attachments: [],
  created_at: createdAt,
};

const earlier = time - 48_411;

/** The message before it. */
export const earlierMessageExample = {
  ...messageExample,
  _id: "01a1f90f-9a20-7d13-9b46-2a1b0c9d8e7f",
  t: toSeconds(earlier),
  body: "Your parcel is packed.",
  created_at: toIso(earlier),
};

/** An edit of that message. */
export const messageEditExample = {
  id: messageExample._id,
  cid: messageExample.cid,
  from: messageExample.from,
  body: "Your parcel arrives today.",
  x: messageExample.x,
  t: toSeconds(time + 95_204),
};

/** A reaction to it. */
export const messageReactionsUpdateExample = {
  mid: messageExample._id,
  cid: messageExample.cid,
  from: exampleIds.user,
  add: "👍",
};

/** A piece of that message, as it grows. */
export const messageAppendExample = {
  id: messageExample._id,
  cid: messageExample.cid,
  from: messageExample.from,
  offset: 0,
  text: "Your order ",
  done: false,
  t: messageExample.t,
};

/** A recall of both. */
export const messageDeleteExample = {
  ids: [earlierMessageExample._id, messageExample._id],
  cid: messageExample.cid,
  from: messageExample.from,
  type: "all" as const,
  t: toSeconds(time + 181_377),
};

/** A system message. */
export const systemMessageExample = {
  _id: "payment-0815",
  t: toSeconds(time),
  from: "alice",
  x: { kind: "payment_received", amount: "12.50" },
};

/** The same system message in an inbox. */
export const inboxItemExample = {
  ...systemMessageExample,
  created_at: createdAt,
  seen_at: toIso(time + 3_200),
  read_at: null,
};

/** The user has read it. */
export const systemMessageReadExample = {
  system_message_read: { ids: [systemMessageExample._id], seen: false, t: toSeconds(time + 9_100) },
};

/** A recall of that system message. */
export const systemMessageDeleteExample = {
  ids: [systemMessageExample._id],
  from: systemMessageExample.from,
  t: toSeconds(time + 181_377),
};

/** A participant has read both messages. */
export const messageReadExample = {
  message_read: {
    ids: [earlierMessageExample._id, messageExample._id],
    cid: exampleIds.conversation,
    from: exampleIds.user,
    t: toSeconds(time + 3_200),
  },
};

const deliveryExample = {
  recipients: 3,
  delivered_users: 2,
  delivered_connections: 3,
  acknowledged_users: 1,
  first_delivered_at: toIso(time + 2),
  last_delivered_at: toIso(time + 61_404),
};

/** A message and its delivery. */
export const messageReportExample = {
  message: messageExample,
  key_id: apiKeyExample.id,
  delivery: deliveryExample,
};

/** A system message and its delivery. */
export const systemMessageReportExample = {
  system_message: systemMessageExample,
  key_id: apiKeyExample.id,
  delivery: {
    ...deliveryExample,
    delivered_users: 1,
    by_user: { bob: "delivered" as const, carol: "offline" as const, dvae: "unknown" as const },
  },
};

/** The recipients of a message: one in each state. */
export const recipientExamples = [
  {
    uid: "alice",
    state: "acknowledged" as const,
    delivered_at: toIso(time + 2),
    acknowledged_at: toIso(time + 61),
  },
  { uid: "bob", state: "delivered" as const, delivered_at: toIso(time + 61_404), acknowledged_at: null },
  { uid: "carol", state: "missing" as const, delivered_at: null, acknowledged_at: null },
];

/** What a user should have, and has. */
export const deliveryItemExamples = [
  {
    kind: "message" as const,
    id: messageExample._id,
    cid: messageExample.cid,
    from: messageExample.from,
    t: messageExample.t,
    state: "acknowledged" as const,
    delivered_at: toIso(time + 2),
    acknowledged_at: toIso(time + 61),
    read_at: toIso(time + 9_100),
  },
  {
    kind: "system_message" as const,
    id: systemMessageExample._id,
    cid: null,
    from: systemMessageExample.from,
    t: systemMessageExample.t,
    state: "missing" as const,
    delivered_at: null,
    acknowledged_at: null,
    read_at: null,
  },
];

/** A message that is scheduled. */
export const scheduledSendExample = {
  id: "reminder-4711",
  send_at: toIso(time + 11 * 86_400_000),
  state: "waiting" as const,
  request: {
    organizationId: exampleIds.organization,
    senderId: messageExample.from,
    message: {
      id: "order-4711-reminder",
      body: "Your parcel is waiting.",
      cid: exampleIds.conversation,
      x: {},
      attachments: [],
    },
  },
  created_at: createdAt,
  sent_at: null,
  server_mid: null,
  problem: null,
};

/** The same message once it was sent. */
export const sentScheduledSendExample = {
  ...scheduledSendExample,
  state: "sent" as const,
  request: null,
  sent_at: toIso(time + 11 * 86_400_000 + 4),
  server_mid: "01a23401-c3bf-7a11-8b5e-4c3d2e1f0a9b",
};

/** A message that a key proposes. */
export const proposalExample = {
  id: "answer-4711",
  state: "waiting" as const,
  request: {
    organizationId: exampleIds.organization,
    senderId: messageExample.from,
    message: { body: "We refund the shipping.", cid: exampleIds.conversation, x: {}, attachments: [] },
  },
  reason: "The parcel came two days late.",
  proposed_by: apiKeyExample.id,
  created_at: createdAt,
  expires_at: toIso(time + 86_400_000),
  decided_by: null,
  decided_at: null,
  decision_reason: null,
  server_mid: null,
  problem: null,
};

/** The same once another key has approved it. */
export const decidedProposalExample = {
  ...proposalExample,
  state: "approved" as const,
  request: null,
  decided_by: "01a1f900-3f10-7d6c-a2b4-1c9e8f7a6b5d",
  decision_reason: "The carrier confirms it.",
  decided_at: toIso(time + 64_200),
  server_mid: "01a1f911-51d8-7e2f-9a3b-6c5d4e3f2a1b",
};

/** A request id, as `X-Request-Id` carries it. */
export const requestIdExample = "01a1f910-573b-7c21-9d4e-6a5b4c3d2e1f";
