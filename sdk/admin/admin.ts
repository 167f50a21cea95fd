import { HeraldArgumentError } from "../errors.ts";
import type {
  ApiKey,
  ApiKeyWithSecret,
  AuditEntry,
  AuditFilter,
  DirectoryEntry,
  DryRunAnswer,
  FeedFilter,
  Message,
  MessageAnswer,
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
  SystemMessageAnswer,
  SystemMessageEnvelope,
  SystemMessageReport,
  User,
  UserToken,
} from "../types.ts";
import { createUuid } from "../uuid.ts";
import { withRetries } from "../waiting/retry.ts";
import { type FeedEvent, type FeedOptions, watchFeed } from "./feed.ts";
import { call, type Fetch } from "./http.ts";
import { path, query } from "./paths.ts";

/** What an admin client is made of. */
export type AdminClientOptions = {
  /** Address of the server, for example `http://127.0.0.1:7070`; a path in front is kept. */
  url: string;
  /** The admin API key. Keep it out of pages that people open: it belongs on servers. */
  key: string;
  fetch?: Fetch | undefined;
  /** How often a failed call is repeated (default 5). */
  retries?: number | undefined;
  /** Milliseconds within which one attempt must be answered (default 30,000). */
  timeoutMs?: number | undefined;
};

/** What may be said about one call of `request`. `isSafe`: doing it twice is the same as doing it once. */
export type RequestOptions = { isSafe?: boolean };

/** The admin API. Methods reject with `HeraldApiError`, or with `HeraldArgumentError` for an identifier that fits in no URL. */
export type AdminClient = ReturnType<typeof createAdminClient>;

const maxRetryAfterMs = 60_000;
const minBackoffMs = 250;
const maxBackoffMs = 15_000;

/**
 * A client of the admin API. Calls are repeated with backoff after 429, and, where doing them twice does no harm, after
 * 500, 502, 503, 504, 507 or no answer. A send without an id is given a random one, so that its retries send nothing twice.
 */
export function createAdminClient({
  url,
  key,
  fetch = globalThis.fetch,
  retries = 5,
  timeoutMs = 30_000,
}: AdminClientOptions) {
  const base = new URL(url);
  if (base.protocol !== "http:" && base.protocol !== "https:")
    throw new HeraldArgumentError(`url must start with http: or https:, not ${base.protocol}`);
  const root = `${base.origin}${base.pathname.replace(/\/+$/, "")}`;

  /**
   * Any call of the API: `path` with its query, `body` as JSON. `Answer` is the caller's claim about what comes back.
   * GET, PUT and DELETE count as safe to repeat, others only with `isSafe`.
   */
  async function request<Answer = unknown>(
    method: string,
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const attempt = () => call({ url: root + path, method, key, body: text, timeoutMs, fetch });
    const isSafe = options.isSafe ?? method !== "POST";
    const answer = await withRetries(attempt, {
      retries,
      isSafe,
      minMs: minBackoffMs,
      maxMs: maxBackoffMs,
      maxRetryAfterMs,
    });
    return answer.body as Answer;
  }

  return {
    request,

    /** Sends a message to a conversation. Resolves when it is stored. */
    async sendMessage(envelope: MessageEnvelope): Promise<MessageAnswer> {
      const message = { ...envelope.message, id: envelope.message.id ?? createUuid() };
      return request("POST", "/admin/message", { ...envelope, message }, { isSafe: true });
    },
    /** Sends a system message to users. Resolves when it is stored; users who are offline never receive it. */
    async sendSystemMessage(envelope: SystemMessageEnvelope): Promise<SystemMessageAnswer> {
      const messageSystem = { ...envelope.messageSystem, id: envelope.messageSystem.id ?? createUuid() };
      return request("POST", "/admin/message/system", { ...envelope, messageSystem }, { isSafe: true });
    },

    /** Checks a message as `sendMessage` would, and says whom it would reach. Nothing is stored or sent. */
    async tryMessage(envelope: MessageEnvelope): Promise<DryRunAnswer> {
      return request("POST", "/admin/message?dry_run=true", envelope, { isSafe: true });
    },
    /** Checks a system message as `sendSystemMessage` would, and says whom it would reach. Nothing is stored or sent. */
    async trySystemMessage(envelope: SystemMessageEnvelope): Promise<DryRunAnswer> {
      return request("POST", "/admin/message/system?dry_run=true", envelope, { isSafe: true });
    },
    /** A message and its delivery report, by the `server_mid` of the send. */
    async getMessage(org: string, serverMid: string): Promise<MessageReport> {
      return request("GET", path`/admin/organizations/${org}/messages/${serverMid}`);
    },
    /** A system message and its delivery report, by the `mid` of the send; `senderId` where several senders used that. */
    async getSystemMessage(
      org: string,
      mid: string,
      options: { senderId?: string } = {},
    ): Promise<SystemMessageReport> {
      return request("GET", path`/admin/organizations/${org}/system-messages/${mid}` + query(options));
    },

    /** Creates or updates an organization. `limits` need a key of all organizations; `null` takes one back, what is left out stays. */
    async putOrganization(
      org: string,
      fields: { name?: string | null; limits?: Partial<OrganizationLimits> } = {},
    ): Promise<DirectoryEntry> {
      return request("PUT", path`/admin/organizations/${org}`, fields);
    },
    /** An organization, its own limits, and what it uses now. */
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
     * Creates or updates a user. `blocked: true` closes the user's connections everywhere and refuses every token of theirs, until
     * `blocked: false`.
     */
    async putUser(org: string, uid: string, fields: { name?: string | null; blocked?: boolean } = {}): Promise<User> {
      return request("PUT", path`/admin/organizations/${org}/users/${uid}`, fields);
    },
    async getUser(org: string, uid: string): Promise<User> {
      return request("GET", path`/admin/organizations/${org}/users/${uid}`);
    },
    async deleteUser(org: string, uid: string): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/users/${uid}`);
    },
    async listUsers(org: string, page: PageOptions = {}): Promise<Page<User>> {
      return request("GET", path`/admin/organizations/${org}/users` + query(page));
    },
    /** A token with which this user connects; for 1 h unless `ttl_seconds` says otherwise (at most 30 days). */
    async createToken(org: string, uid: string, fields: { ttl_seconds?: number } = {}): Promise<UserToken> {
      return request("POST", path`/admin/organizations/${org}/users/${uid}/tokens`, fields, { isSafe: true });
    },
    /** Closes the connections of one token, by its `jti`, and refuses it from now on. */
    async revokeToken(org: string, uid: string, jti: string): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/users/${uid}/tokens/${jti}`);
    },
    /** Closes the user's connections everywhere and refuses tokens issued before now. */
    async endSessions(org: string, uid: string): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/users/${uid}/sessions`);
    },

    /** Creates or updates a conversation; `participants` replaces the set. */
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
    /** The history of a conversation, newest first; with `after`, oldest first. */
    async listMessages(
      org: string,
      cid: string,
      page: PageOptions & { before?: string; after?: string } = {},
    ): Promise<Page<Message>> {
      return request("GET", path`/admin/organizations/${org}/conversations/${cid}/messages` + query(page));
    },

    /**
     * Everything delivered in the organization from now on, live, in the order of its log: `for await (const event of
     * admin.events("demo"))`. Leaving the loop, or the `signal`, ends it. A feed that breaks is opened again; what is delivered
     * meanwhile is not shown, and `onStateChange` tells. Throws what the server refuses.
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
     * Who is connected now, on all nodes, by id; with `uids` those users, `connections` 0 for who is offline or unknown. With
     * `devices` the answer also has what their connections call themselves; for the first 20 of `uids`, by id.
     */
    async listOnline(
      org: string,
      page: PageOptions & { uids?: string[]; devices?: boolean } = {},
    ): Promise<Page<OnlineUser>> {
      return request("GET", path`/admin/organizations/${org}/online` + query(page));
    },
    /** How many users are connected now, on all nodes, or how many of `uids`. */
    async countOnline(org: string, { uids }: { uids?: string[] } = {}): Promise<OnlineCount> {
      return request("GET", path`/admin/organizations/${org}/online` + query({ count: true, uids }));
    },
    /** The nodes, in the order in which they started. */
    async listNodes(): Promise<{ items: Node[] }> {
      return request("GET", "/admin/nodes");
    },
    /** Makes an API key; its secret is in the answer and nowhere else. Not repeated by itself: it would make another. */
    async createKey(fields: NewApiKey): Promise<ApiKeyWithSecret> {
      return request("POST", "/admin/keys", fields);
    },
    async listKeys(page: PageOptions = {}): Promise<Page<ApiKey>> {
      return request("GET", `/admin/keys${query(page)}`);
    },
    /** What the key of this client is and may do. */
    async getOwnKey(): Promise<OwnApiKey> {
      return request("GET", "/admin/self");
    },
    async getKey(id: string): Promise<ApiKey> {
      return request("GET", path`/admin/keys/${id}`);
    },
    /** Gives a key a new secret; the old one works for `overlap_seconds` more (24 h unless said otherwise, at most 7 days). */
    async rotateKey(id: string, fields: { overlap_seconds?: number } = {}): Promise<ApiKeyWithSecret> {
      return request("POST", path`/admin/keys/${id}/rotate`, fields);
    },
    /** Revokes a key: refused on every node within 5 seconds. */
    async revokeKey(id: string): Promise<void> {
      return request("DELETE", path`/admin/keys/${id}`);
    },
    /** The audit log, newest first. A page may hold fewer entries than `limit`; only a `cursor` of `null` is the end. */
    async listAudit(filter: AuditFilter & PageOptions = {}): Promise<Page<AuditEntry>> {
      return request("GET", `/admin/audit${query(filter)}`);
    },
  };
}
