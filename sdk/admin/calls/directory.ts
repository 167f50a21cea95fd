import type {
  DirectoryEntry,
  Organization,
  OrganizationLimits,
  Page,
  PageOptions,
  PrefixOptions,
  User,
  UserToken,
} from "../../types.ts";
import type { CallOptions, Request } from "../exchange.ts";
import { path, query } from "./paths.ts";

/** Creates the calls about organizations, users, their tokens, conversations and participants. */
export function createDirectoryCalls(request: Request) {
  return {
    /** Creates or updates an organization. Setting `limits` requires a key that is not bound to an organization. `null` restores the server's default. */
    async putOrganization(
      org: string,
      fields: { name?: string | null; limits?: Partial<OrganizationLimits> } = {},
      options: CallOptions = {},
    ): Promise<DirectoryEntry> {
      return request("PUT", path`/admin/organizations/${org}`, fields, options);
    },
    /** Returns an organization, its limits and its current usage. */
    async getOrganization(org: string, options: CallOptions = {}): Promise<Organization> {
      return request("GET", path`/admin/organizations/${org}`, undefined, options);
    },
    /** Deletes an organization with everything in it, and closes its connections. */
    async deleteOrganization(org: string, options: CallOptions = {}): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}`, undefined, options);
    },

    /** Lists the organizations, by id. */
    async listOrganizations(page: PageOptions = {}, options: CallOptions = {}): Promise<Page<DirectoryEntry>> {
      return request("GET", `/admin/organizations${query(page)}`, undefined, options);
    },

    /**
     * Creates or updates a user. `blocked: true` closes the user's connections on all nodes and refuses all of the user's tokens,
     * until `blocked: false`.
     */
    async putUser(
      org: string,
      uid: string,
      fields: { name?: string | null; blocked?: boolean } = {},
      options: CallOptions = {},
    ): Promise<User> {
      return request("PUT", path`/admin/organizations/${org}/users/${uid}`, fields, options);
    },

    /** Reads a user. */
    async getUser(org: string, uid: string, options: CallOptions = {}): Promise<User> {
      return request("GET", path`/admin/organizations/${org}/users/${uid}`, undefined, options);
    },
    /**
     * Deletes a user, and with `messages: "erase"` everything that the user wrote, which can take minutes in a large
     * organization. If it is broken off, call it again: it goes on.
     */
    async deleteUser(
      org: string,
      uid: string,
      { messages }: { messages?: "erase" } = {},
      options: CallOptions = {},
    ): Promise<void> {
      const target = path`/admin/organizations/${org}/users/${uid}` + query({ messages });
      return request("DELETE", target, undefined, options);
    },

    /** Lists the users of an organization, by id; with `prefix`, those whose id or name begins with it. */
    async listUsers(org: string, page: PrefixOptions = {}, options: CallOptions = {}): Promise<Page<User>> {
      return request("GET", path`/admin/organizations/${org}/users` + query(page), undefined, options);
    },

    /**
     * Issues a token for the user to connect with. It is valid for `ttl_seconds` (default 1 h, at most 30 days). `issueUserToken` does
     * so without a call.
     */
    async createToken(
      org: string,
      uid: string,
      fields: { ttl_seconds?: number } = {},
      options: CallOptions = {},
    ): Promise<UserToken> {
      const target = path`/admin/organizations/${org}/users/${uid}/tokens`;
      return request("POST", target, fields, { ...options, isSafe: true });
    },
    /** Revokes one token by its `jti`: closes its connections and refuses it from now on. */
    async revokeToken(org: string, uid: string, jti: string, options: CallOptions = {}): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/users/${uid}/tokens/${jti}`, undefined, options);
    },
    /** Closes the user's connections on all nodes and refuses all tokens issued until now. */
    async endSessions(org: string, uid: string, options: CallOptions = {}): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/users/${uid}/sessions`, undefined, options);
    },

    /** Creates or updates a conversation. `participants` replaces the set of participants; unknown users are created. */
    async putConversation(
      org: string,
      cid: string,
      fields: { name?: string | null; participants?: string[] } = {},
      options: CallOptions = {},
    ): Promise<DirectoryEntry> {
      return request("PUT", path`/admin/organizations/${org}/conversations/${cid}`, fields, options);
    },

    /** Reads a conversation. */
    async getConversation(org: string, cid: string, options: CallOptions = {}): Promise<DirectoryEntry> {
      return request("GET", path`/admin/organizations/${org}/conversations/${cid}`, undefined, options);
    },
    /** Deletes a conversation: removes all participants and hides its history. */
    async deleteConversation(org: string, cid: string, options: CallOptions = {}): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/conversations/${cid}`, undefined, options);
    },

    /** Lists the conversations of an organization, by id; with `prefix`, those whose id or name begins with it. */
    async listConversations(
      org: string,
      page: PrefixOptions = {},
      options: CallOptions = {},
    ): Promise<Page<DirectoryEntry>> {
      return request("GET", path`/admin/organizations/${org}/conversations` + query(page), undefined, options);
    },

    /** Adds a user, who is created if unknown. Open connections follow at once. */
    async addParticipant(org: string, cid: string, uid: string, options: CallOptions = {}): Promise<DirectoryEntry> {
      const target = path`/admin/organizations/${org}/conversations/${cid}/participants/${uid}`;
      return request("PUT", target, undefined, options);
    },

    /** Removes a user from a conversation. Open connections follow at once. */
    async removeParticipant(org: string, cid: string, uid: string, options: CallOptions = {}): Promise<void> {
      const target = path`/admin/organizations/${org}/conversations/${cid}/participants/${uid}`;
      return request("DELETE", target, undefined, options);
    },

    /** Lists who takes part in a conversation, by id. */
    async listParticipants(
      org: string,
      cid: string,
      page: PageOptions = {},
      options: CallOptions = {},
    ): Promise<Page<DirectoryEntry>> {
      const target = path`/admin/organizations/${org}/conversations/${cid}/participants` + query(page);
      return request("GET", target, undefined, options);
    },
  };
}
