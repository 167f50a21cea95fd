import type {
  ApiKey,
  ApiKeyWithSecret,
  AuditEntry,
  AuditFilter,
  ConsoleSession,
  NewApiKey,
  OwnApiKey,
  Page,
  PageOptions,
} from "../../types.ts";
import type { CallOptions, Request } from "../exchange.ts";
import { path, query } from "./paths.ts";

/** Creates the calls about API keys, and about what was done with them. */
export function createKeyCalls(request: Request) {
  return {
    /** Creates an API key. Only this response contains its secret. Not retried after an unknown outcome, which could create a second key. */
    async createKey(fields: NewApiKey, options: CallOptions = {}): Promise<ApiKeyWithSecret> {
      return request("POST", "/admin/keys", fields, options);
    },

    /** Lists the keys, without their secrets. */
    async listKeys(page: PageOptions = {}, options: CallOptions = {}): Promise<Page<ApiKey>> {
      return request("GET", `/admin/keys${query(page)}`, undefined, options);
    },
    /** Returns the key that this client uses, and what it may do. */
    async getOwnKey(options: CallOptions = {}): Promise<OwnApiKey> {
      return request("GET", "/admin/self", undefined, options);
    },

    /** Reads a key, without its secret. */
    async getKey(id: string, options: CallOptions = {}): Promise<ApiKey> {
      return request("GET", path`/admin/keys/${id}`, undefined, options);
    },
    /**
     * Gives a key a new secret. The old one keeps working for `overlap_seconds` (default 24 h, at most 7 days). Not retried after an
     * unknown outcome, which could make another secret.
     */
    async rotateKey(
      id: string,
      fields: { overlap_seconds?: number } = {},
      options: CallOptions = {},
    ): Promise<ApiKeyWithSecret> {
      return request("POST", path`/admin/keys/${id}/rotate`, fields, options);
    },
    /** Revokes a key. Every node refuses it within 5 seconds. */
    async revokeKey(id: string, options: CallOptions = {}): Promise<void> {
      return request("DELETE", path`/admin/keys/${id}`, undefined, options);
    },
    /** Lists the sessions of people in the console, the oldest first. */
    async listSessions(page: PageOptions = {}, options: CallOptions = {}): Promise<Page<ConsoleSession>> {
      return request("GET", `/admin/sessions${query(page)}`, undefined, options);
    },
    /** Ends the session of a person in the console. Every node refuses it from then on. */
    async endSession(id: string, options: CallOptions = {}): Promise<void> {
      return request("DELETE", path`/admin/sessions/${id}`, undefined, options);
    },
    /** Reads the audit log, newest first, or with `after` oldest first. A page may hold fewer entries than `limit`; the log ends only when `cursor` is `null`. */
    async listAudit(filter: AuditFilter & PageOptions = {}, options: CallOptions = {}): Promise<Page<AuditEntry>> {
      return request("GET", `/admin/audit${query(filter)}`, undefined, options);
    },
  };
}
