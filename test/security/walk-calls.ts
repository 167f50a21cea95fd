import type { FrameOperation } from "../../src/contract/connections/frames.ts";
import type { Operation } from "../../src/contract/operations/operation.ts";
import type { Ids } from "./tenants.ts";

/** The value of each path parameter. A parameter missing here fails the walk. */
const pathIds: Record<string, (ids: Ids) => string> = {
  org: ({ org }) => org,
  uid: ({ uid }) => uid,
  cid: ({ cid }) => cid,
  id: ({ keyId }) => keyId,
  session_id: ({ tokenId }) => tokenId,
  server_mid: ({ messageId }) => messageId,
  jti: ({ tokenId }) => tokenId,
  connection_id: ({ connectionId }) => connectionId,
  mid: ({ systemMid }) => systemMid,
  sid: ({ scheduledId }) => scheduledId,
  pid: ({ proposalId }) => proposalId,
  wid: ({ webhookId }) => webhookId,
  did: ({ deliveryId }) => deliveryId,
  file_id: ({ fileId }) => fileId,
};

const cursorOf = (place: object) => Buffer.from(JSON.stringify(place)).toString("base64url");

/** The value of each query parameter that names something, or of one operation's. A query parameter missing here fails the walk. */
const queries: Record<string, (ids: Ids) => string> = {
  limit: () => "1000",
  cursor: ({ uid }) => cursorOf({ id: uid }),
  before: ({ messageId }) => messageId,
  after: ({ messageId }) => messageId,
  lastEventId: ({ messageId }) => `1-${messageId}`,
  count: () => "true",
  uids: ({ uid }) => encodeURIComponent(uid),
  prefix: ({ uid }) => encodeURIComponent(uid.slice(0, 4)),
  organization: ({ org }) => encodeURIComponent(org),
  key: ({ keyId }) => keyId,
  operation: () => "putConversation",
  result: () => "done",
  status: () => "201",
  since: () => "2020-01-01T00:00:00Z",
  until: () => "2100-01-01T00:00:00Z",
  dry_run: () => "true",
  history: () => "true",
  devices: () => "true",
  last_seen: () => "true",
  senderId: ({ uid }) => uid,
  messages: () => "erase",
  state: () => "missing",
  kind: () => "message",
  types: () => "message,message_edit",
  cid: ({ cid }) => encodeURIComponent(cid),
  uid: ({ uid }) => encodeURIComponent(uid),
  rate: () => "1000",
  unread: () => "true",
  name: () => "a.txt",
  "streamEvents after": ({ messageId }) => `1-${messageId}`,
  "listDeliveries after": () => cursorOf({ before: 1_000_000 }),
  "listScheduled state": () => "waiting",
  "listProposals state": () => "waiting",
  "listWebhookDeliveries state": () => "failed",
};

/** Bodies by operation. An operation with a body that is missing here fails the walk. */
const bodies: Record<string, (ids: Ids) => object> = {
  sendMessage: ({ org, uid, cid }) => ({ organizationId: org, senderId: uid, message: { cid, body: "x" } }),
  sendSystemMessage: ({ org, uid }) => ({ organizationId: org, senderId: uid, messageSystem: { uids: [uid] } }),
  markRead: ({ org, uid, cid, messageId }) => ({
    organizationId: org,
    senderId: uid,
    messageRead: { cid, ids: [messageId] },
  }),
  tellTyping: ({ org, uid, cid }) => ({ organizationId: org, senderId: uid, typing: { cid, status: "start" } }),
  editMessage: ({ org, uid, messageId }) => ({
    organizationId: org,
    senderId: uid,
    messageEdit: { id: messageId, body: "y" },
  }),
  appendToMessage: ({ org, uid, messageId }) => ({
    organizationId: org,
    senderId: uid,
    messageAppend: { id: messageId, offset: 0, text: "y" },
  }),
  updateReactions: ({ org, uid, messageId }) => ({
    organizationId: org,
    senderId: uid,
    messageReaction: { mid: messageId, add: "y" },
  }),
  recallMessages: ({ org, uid, cid, messageId }) => ({
    organizationId: org,
    senderId: uid,
    messageDelete: { cid, ids: [messageId], type: "all" },
  }),
  recallSystemMessages: ({ org, uid, systemMid }) => ({
    organizationId: org,
    senderId: uid,
    messageSystemDelete: { ids: [systemMid] },
  }),
  listOnlineUsers: ({ org, uid }) => ({ organizationId: org, userId: uid }),
  putScheduled: ({ org, uid, cid }) => ({
    send_at: "2020-01-01T00:00:00Z",
    request: { organizationId: org, senderId: uid, message: { cid, body: "x" } },
  }),
  putProposal: ({ org, uid, cid }) => ({
    request: { organizationId: org, senderId: uid, message: { cid, body: "x" } },
    reason: "y",
  }),
  approveProposal: () => ({ reason: "y" }),
  rejectProposal: () => ({ reason: "y" }),
  putWebhook: () => ({ url: "https://webhooks.invalid/" }),
  putOrganization: () => ({ name: "renamed" }),
  putUser: () => ({ name: "renamed" }),
  createToken: () => ({}),
  putConversation: ({ uid }) => ({ name: "renamed", participants: [uid] }),
  createKey: ({ org }) => ({ name: "made", scopes: ["*"], organization: org }),
  rotateKey: () => ({}),
};

/** Lines by operation. An operation with lines that is missing here fails the walk. */
const bodyLines: Record<string, (ids: Ids) => object[]> = {
  sendBatch: ({ org, uid, cid }) => [
    { organizationId: org, senderId: uid, message: { cid, body: "x" } },
    { organizationId: org, senderId: uid, messageSystem: { uids: [uid] } },
  ],
  appendToMessage: ({ org, uid, messageId }) => [
    { organizationId: org, senderId: uid, messageAppend: { id: messageId, offset: 0, text: "y" } },
    { text: "z", done: true },
  ],
  importLines: ({ uid, cid, messageId }) => [
    { user: { id: uid } },
    { conversation: { id: cid, participants: [uid] } },
    { participant: { cid, uid } },
    { message: { id: messageId, cid, senderId: uid, body: "x", created_at: "2024-01-01T00:00:00Z" } },
  ],
};

/** What a request over a socket names. The compiler requires each request of the contract. */
export const frames: Record<FrameOperation, ((ids: Ids) => object)[]> = {
  connect: [], // handled below, as it takes a token
  ping: [() => ({})],
  conversation_list: [() => ({}), ({ cid }) => ({ cursor: cursorOf({ updatedAt: 9e15, id: cid }) })],
  message_list: [
    ({ cid }) => ({ cid }),
    ({ messageId }) => ({ cid: "room", after: messageId }),
    ({ messageId }) => ({ cid: "room", before: messageId }),
    ({ cid, messageId }) => ({ cid, before: messageId }),
    ({ messageId }) => ({ cid: "room", ids: [messageId] }),
    ({ cid }) => ({ cid, updated_at: { gt: 0 } }),
  ],
  message_reactions_list: [({ messageId }) => ({ mid: messageId })],
  ack: [({ messageId, systemMid }) => ({ ids: [messageId, systemMid] })],
  message_read: [
    ({ cid }) => ({ cid }),
    ({ messageId }) => ({ cid: "room", ids: [messageId] }),
    ({ cid, messageId }) => ({ cid, ids: [messageId] }),
  ],
  system_message_list: [() => ({}), () => ({ unread: true }), ({ systemMid }) => ({ before: systemMid })],
  system_message_read: [({ systemMid }) => ({ ids: [systemMid] }), () => ({ seen: true })],
  get_users_by_ids: [({ uid }) => ({ ids: [uid] })],
  get_participants_by_cids: [({ cid }) => ({ cids: [cid] })],
  get_file_urls: [({ fileId }) => ({ file_ids: [fileId] })],
  user_last_activity: [({ uid }) => ({ ids: [uid] })],
  user_last_activity_subscribe: [({ uid }) => ({ id: uid })],
  user_last_activity_unsubscribe: [() => ({})],
  activity_status: [() => ({ isInactive: true })],
  typing: [({ cid }) => ({ cid })],
  user_logout: [], // names nothing, and ends the connection
};

/** A call of the walk. */
export type Call = [method: string, target: string, body: object | string | undefined];

function entryOf<Entry>(table: Record<string, Entry>, name: string): Entry {
  const entry = table[name];
  if (entry === undefined) throw new Error(`the walk does not know ${name}: add it to its table`);
  return entry;
}

/** Every way to call an operation about these ids: without a query, and with each of its parameters. */
export function callsOf({ operationId, method, path, query, body, lines }: Operation, ids: Ids): Call[] {
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(entryOf(pathIds, name)(ids)));
  const parameters = Object.keys("shape" in query ? Object(query.shape) : {});
  const searches = [
    "",
    ...parameters.map((name) => `?${name}=${(queries[`${operationId} ${name}`] ?? entryOf(queries, name))(ids)}`),
  ];
  const textOf = (all: object[]) => all.map((line) => `${JSON.stringify(line)}\n`).join("");
  const given = [
    ...(body === undefined ? [] : [entryOf(bodies, operationId)(ids)]),
    ...(lines === undefined ? [] : [textOf(entryOf(bodyLines, operationId)(ids))]),
  ];
  return searches.flatMap((search) =>
    (given.length === 0 ? [undefined] : given).map((one): Call => [method.toUpperCase(), target + search, one]),
  );
}

/** A call of an operation as the arguments of its tool. */
export function argumentsOf({ path }: Operation, [, target, body]: Call): Record<string, unknown> {
  const [pathname = "", search = ""] = target.split("?");
  const segments = pathname.split("/");
  const params = path.split("/").flatMap((name, place): [string, string][] => {
    return name.startsWith("{") ? [[name.slice(1, -1), decodeURIComponent(segments[place] ?? "")]] : [];
  });
  return { ...Object.fromEntries([...params, ...new URLSearchParams(search)]), ...Object(body) };
}
