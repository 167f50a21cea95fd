import { HeraldArgumentError } from "../errors.ts";
import type {
  ApiKey,
  ApiKeyWithSecret,
  AuditEntry,
  AuditFilter,
  ChangeAnswer,
  DirectoryEntry,
  DryRunAnswer,
  FeedFilter,
  ListedMessage,
  MessageAnswer,
  MessageDeleteEnvelope,
  MessageEditEnvelope,
  MessageEnvelope,
  MessageReport,
  NewApiKey,
  Node,
  OnlineCount,
  OnlineUser,
  Organization,
  OrganizationLimits,
  OwnApiKey,
  Page,
  PageOptions,
  ReadEnvelope,
  Recipient,
  RecipientState,
  SystemMessageAnswer,
  SystemMessageEnvelope,
  SystemMessageReport,
  User,
  UserToken,
  Waited,
} from "../types.ts";
import { createUuid } from "../uuid.ts";
import { createBatchCalls } from "./batch.ts";
import { type AdminOptions, createExchange, type RequestOptions } from "./exchange.ts";
import { type FeedEvent, type FeedOptions, watchFeed } from "./feed.ts";
import { eachOf } from "./pages.ts";
import { path, query } from "./paths.ts";
import { createScheduleCalls } from "./schedule.ts";
import { createTransferCalls } from "./transfer.ts";
import { preferenceOf, type SendOptions, withDelivery } from "./wait.ts";

/** The admin API. Methods reject with `HeraldApiError`, or with `HeraldArgumentError` for an identifier that cannot be part of a URL. */
export type AdminClient = ReturnType<typeof createAdmin>;

const minBackoffMs = 250;
const maxBackoffMs = 15_000;

/**
 * Creates a client of the admin API. It retries calls with backoff after 429 and, if they are idempotent, after 500, 502, 503,
 * 504, 507 or no response. A send without an id gets a random one, so that retries send nothing twice.
 */
export function createAdmin({
  url,
  key,
  fetch = globalThis.fetch,
  retries = 5,
  timeoutMs = 30_000,
  deadlineMs = Number.POSITIVE_INFINITY,
}: AdminOptions) {
  const base = new URL(url);
  if (base.protocol !== "http:" && base.protocol !== "https:")
    throw new HeraldArgumentError(`url must begin with http: or https:, not ${base.protocol}`);
  const root = `${base.origin}${base.pathname.replace(/\/+$/, "")}`;
  const exchange = createExchange({ root, key, fetch, retries, timeoutMs, deadlineMs, minBackoffMs, maxBackoffMs });

  /**
   * Makes any call: `path` includes the query, `body` is sent as JSON, and `Answer` is the type that the caller expects. GET, PUT
   * and DELETE are retried as idempotent; other methods only with `isSafe`.
   */
  async function request<Answer = unknown>(
    method: string,
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<Answer> {
    const answer = await exchange(method, path, body, options);
    return answer.body as Answer;
  }

  /** Sends what is idempotent by its id, and may wait for its delivery. */
  async function send<Answer extends object>(
    path: string,
    body: object,
    options: SendOptions,
  ): Promise<Answer & Waited> {
    const answer = await exchange("POST", path, body, { isSafe: true, ...preferenceOf(options) });
    return withDelivery(answer.body as Answer, answer.headers);
  }

  type RecipientFilter = { state?: RecipientState };
  type SystemRecipientFilter = RecipientFilter & { senderId?: string };

  async function listRecipients(
    org: string,
    serverMid: string,
    page: RecipientFilter & PageOptions = {},
  ): Promise<Page<Recipient>> {
    return request("GET", path`/admin/organizations/${org}/messages/${serverMid}/recipients` + query(page));
  }

  async function listSystemRecipients(
    org: string,
    mid: string,
    page: SystemRecipientFilter & PageOptions = {},
  ): Promise<Page<Recipient>> {
    return request("GET", path`/admin/organizations/${org}/system-messages/${mid}/recipients` + query(page));
  }

  return {
    request,

    /** Sends a message to a conversation. Resolves when it is stored; with `wait`, when it is delivered. */
    async sendMessage(envelope: MessageEnvelope, options: SendOptions = {}): Promise<MessageAnswer & Waited> {
      const message = { ...envelope.message, id: envelope.message.id ?? createUuid() };
      return send<MessageAnswer>("/admin/message", { ...envelope, message }, options);
    },
    /**
     * Sends a system message to listed users, to a conversation or to everyone. Resolves when it is stored; with `wait`, when it is
     * delivered. Users who are offline never receive it.
     */
    async sendSystemMessage(
      envelope: SystemMessageEnvelope,
      options: SendOptions = {},
    ): Promise<SystemMessageAnswer & Waited> {
      const messageSystem = { ...envelope.messageSystem, id: envelope.messageSystem.id ?? createUuid() };
      return send<SystemMessageAnswer>("/admin/message/system", { ...envelope, messageSystem }, options);
    },

    /**
     * Marks a conversation as read by a participant, up to the newest of `ids` or to its end. Each author of what is newly read
     * hears it. An earlier mark stays.
     */
    async markRead(envelope: ReadEnvelope): Promise<void> {
      await request("PUT", "/admin/message/read", envelope);
    },

    /** Edits a message that `senderId` sent. Resolves when the edit is stored; the same edit again changes nothing. */
    async editMessage(envelope: MessageEditEnvelope): Promise<ChangeAnswer> {
      return request("PUT", "/admin/message", envelope);
    },
    /**
     * Takes messages of one conversation back, all or none. If the response is lost, the call is retried, and then rejects with
     * 404 `message_not_found` because the messages are gone already.
     */
    async recallMessages(envelope: MessageDeleteEnvelope): Promise<ChangeAnswer> {
      return request("DELETE", "/admin/message", envelope);
    },
    /** Checks an edit and returns who would hear it, without storing anything. */
    async tryEdit(envelope: MessageEditEnvelope): Promise<DryRunAnswer> {
      return request("PUT", "/admin/message?dry_run=true", envelope);
    },
    /** Checks a recall and returns who would hear it, without storing anything. */
    async tryRecall(envelope: MessageDeleteEnvelope): Promise<DryRunAnswer> {
      return request("DELETE", "/admin/message?dry_run=true", envelope);
    },
    ...createBatchCalls({ root, key, fetch }),

    /** Checks a message and returns whom `sendMessage` would reach, without storing or sending anything. */
    async tryMessage(envelope: MessageEnvelope): Promise<DryRunAnswer> {
      return request("POST", "/admin/message?dry_run=true", envelope, { isSafe: true });
    },
    /** Checks a system message and returns whom `sendSystemMessage` would reach, without storing or sending anything. */
    async trySystemMessage(envelope: SystemMessageEnvelope): Promise<DryRunAnswer> {
      return request("POST", "/admin/message/system?dry_run=true", envelope, { isSafe: true });
    },
    /** Checks a read and returns how many authors would hear it from `markRead`, without marking anything. */
    async tryRead(envelope: ReadEnvelope): Promise<DryRunAnswer> {
      return request("PUT", "/admin/message/read?dry_run=true", envelope);
    },

    ...createScheduleCalls(request),

    /** Reads a message and its delivery report, by the `server_mid` of the send. */
    async getMessage(org: string, serverMid: string): Promise<MessageReport> {
      return request("GET", path`/admin/organizations/${org}/messages/${serverMid}`);
    },
    /** Reads a system message and its delivery report, by the `mid` of the send. If several senders used the same id, give `senderId`. */
    async getSystemMessage(
      org: string,
      mid: string,
      options: { senderId?: string } = {},
    ): Promise<SystemMessageReport> {
      return request("GET", path`/admin/organizations/${org}/system-messages/${mid}` + query(options));
    },

    /** A page of the recipients of a message, by id. It may hold fewer than `limit`; the list ends only when `cursor` is `null`. */
    listRecipients,
    /** Like `listRecipients`, for a system message, in the order of its `uids`. If several senders used the same id, give `senderId`. */
    listSystemRecipients,
    /** Yields the recipients of a message, by id: all, or those in one state. */
    recipients(org: string, serverMid: string, filter: RecipientFilter = {}): AsyncGenerator<Recipient, void> {
      return eachOf((page) => listRecipients(org, serverMid, { ...filter, ...page }));
    },
    /** Like `recipients`, for a system message. */
    systemRecipients(org: string, mid: string, filter: SystemRecipientFilter = {}): AsyncGenerator<Recipient, void> {
      return eachOf((page) => listSystemRecipients(org, mid, { ...filter, ...page }));
    },

    /** Creates or updates an organization. Setting `limits` requires a key that is not bound to an organization. `null` restores the server's default. */
    async putOrganization(
      org: string,
      fields: { name?: string | null; limits?: Partial<OrganizationLimits> } = {},
    ): Promise<DirectoryEntry> {
      return request("PUT", path`/admin/organizations/${org}`, fields);
    },
    /** Returns an organization, its limits and its current usage. */
    async getOrganization(org: string): Promise<Organization> {
      return request("GET", path`/admin/organizations/${org}`);
    },
    async deleteOrganization(org: string): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}`);
    },
    async listOrganizations(page: PageOptions = {}): Promise<Page<DirectoryEntry>> {
      return request("GET", `/admin/organizations${query(page)}`);
    },

    /**
     * Creates or updates a user. `blocked: true` closes the user's connections on all nodes and refuses all of the user's tokens,
     * until `blocked: false`.
     */
    async putUser(org: string, uid: string, fields: { name?: string | null; blocked?: boolean } = {}): Promise<User> {
      return request("PUT", path`/admin/organizations/${org}/users/${uid}`, fields);
    },
    async getUser(org: string, uid: string): Promise<User> {
      return request("GET", path`/admin/organizations/${org}/users/${uid}`);
    },
    /**
     * Deletes a user, and with `messages: "erase"` everything that the user wrote, which can take minutes in a large
     * organization. If it is broken off, call it again: it goes on.
     */
    async deleteUser(org: string, uid: string, { messages }: { messages?: "erase" } = {}): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/users/${uid}` + query({ messages }));
    },
    async listUsers(org: string, page: PageOptions = {}): Promise<Page<User>> {
      return request("GET", path`/admin/organizations/${org}/users` + query(page));
    },
    /** Issues a token for the user to connect with. It is valid for `ttl_seconds` (default 1 h, at most 30 days). */
    async createToken(org: string, uid: string, fields: { ttl_seconds?: number } = {}): Promise<UserToken> {
      return request("POST", path`/admin/organizations/${org}/users/${uid}/tokens`, fields, { isSafe: true });
    },
    /** Revokes one token by its `jti`: closes its connections and refuses it from now on. */
    async revokeToken(org: string, uid: string, jti: string): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/users/${uid}/tokens/${jti}`);
    },
    /** Closes the user's connections on all nodes and refuses all tokens issued until now. */
    async endSessions(org: string, uid: string): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/users/${uid}/sessions`);
    },

    /** Creates or updates a conversation. `participants` replaces the set of participants. */
    async putConversation(
      org: string,
      cid: string,
      fields: { name?: string | null; participants?: string[] } = {},
    ): Promise<DirectoryEntry> {
      return request("PUT", path`/admin/organizations/${org}/conversations/${cid}`, fields);
    },
    async getConversation(org: string, cid: string): Promise<DirectoryEntry> {
      return request("GET", path`/admin/organizations/${org}/conversations/${cid}`);
    },
    async deleteConversation(org: string, cid: string): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/conversations/${cid}`);
    },
    async listConversations(org: string, page: PageOptions = {}): Promise<Page<DirectoryEntry>> {
      return request("GET", path`/admin/organizations/${org}/conversations` + query(page));
    },
    async addParticipant(org: string, cid: string, uid: string): Promise<DirectoryEntry> {
      return request("PUT", path`/admin/organizations/${org}/conversations/${cid}/participants/${uid}`);
    },
    async removeParticipant(org: string, cid: string, uid: string): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/conversations/${cid}/participants/${uid}`);
    },
    async listParticipants(org: string, cid: string, page: PageOptions = {}): Promise<Page<DirectoryEntry>> {
      return request("GET", path`/admin/organizations/${org}/conversations/${cid}/participants` + query(page));
    },
    /** The history of a conversation, newest first, or oldest first with `after`. */
    async listMessages(
      org: string,
      cid: string,
      page: PageOptions & { before?: string; after?: string } = {},
    ): Promise<Page<ListedMessage>> {
      return request("GET", path`/admin/organizations/${org}/conversations/${cid}/messages` + query(page));
    },

    ...createTransferCalls({ root, key, fetch }),

    /**
     * Yields everything that is delivered in the organization from now on, in the order of its log: `for await (const event of
     * admin.events("demo"))`. To end the feed, leave the loop or abort `signal`. A feed that is interrupted reconnects, but omits
     * what is delivered in the meantime; `onStateChange` reports it. Throws if the server refuses the call.
     */
    events(
      org: string,
      { signal, onStateChange, silentMs, ...filter }: FeedFilter & FeedOptions = {},
    ): AsyncGenerator<FeedEvent, void> {
      const url = root + path`/admin/organizations/${org}/events` + query(filter);
      const feed = { url, key, fetch, timeoutMs, retries, minBackoffMs, maxBackoffMs };
      return watchFeed(feed, { signal, onStateChange, silentMs });
    },
    /**
     * Lists the users who are connected now, on all nodes, by id. With `uids`, lists exactly those users, with `connections` 0 for
     * users who are offline or unknown. With `devices`, includes the `device_id`s of the first 20 of the `uids`, by id.
     */
    async listOnline(
      org: string,
      page: PageOptions & { uids?: string[]; devices?: boolean } = {},
    ): Promise<Page<OnlineUser>> {
      return request("GET", path`/admin/organizations/${org}/online` + query(page));
    },
    /** Counts the users who are connected now, on all nodes, or those of `uids`. */
    async countOnline(org: string, { uids }: { uids?: string[] } = {}): Promise<OnlineCount> {
      return request("GET", path`/admin/organizations/${org}/online` + query({ count: true, uids }));
    },
    /** Lists the nodes, in the order in which they started. */
    async listNodes(): Promise<{ items: Node[] }> {
      return request("GET", "/admin/nodes");
    },
    /** Creates an API key. Only this response contains its secret. Not retried after an unknown outcome, which could create a second key. */
    async createKey(fields: NewApiKey): Promise<ApiKeyWithSecret> {
      return request("POST", "/admin/keys", fields);
    },
    async listKeys(page: PageOptions = {}): Promise<Page<ApiKey>> {
      return request("GET", `/admin/keys${query(page)}`);
    },
    /** Returns the key that this client uses, and what it may do. */
    async getOwnKey(): Promise<OwnApiKey> {
      return request("GET", "/admin/self");
    },
    async getKey(id: string): Promise<ApiKey> {
      return request("GET", path`/admin/keys/${id}`);
    },
    /** Gives a key a new secret. The old one keeps working for `overlap_seconds` (default 24 h, at most 7 days). */
    async rotateKey(id: string, fields: { overlap_seconds?: number } = {}): Promise<ApiKeyWithSecret> {
      return request("POST", path`/admin/keys/${id}/rotate`, fields);
    },
    /** Revokes a key. Every node refuses it within 5 seconds. */
    async revokeKey(id: string): Promise<void> {
      return request("DELETE", path`/admin/keys/${id}`);
    },
    /** Reads the audit log, newest first. A page may hold fewer entries than `limit`; the log ends only when `cursor` is `null`. */
    async listAudit(filter: AuditFilter & PageOptions = {}): Promise<Page<AuditEntry>> {
      return request("GET", `/admin/audit${query(filter)}`);
    },
  };
}
