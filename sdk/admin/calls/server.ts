import { readSecret } from "../../secrets.ts";
import type {
  Json,
  NodeList,
  OnlineCount,
  OnlineUser,
  Page,
  PageOptions,
  UserConnections,
  UserView,
} from "../../types.ts";
import type { CallOptions, Exchange, Request } from "../exchange.ts";
import { path, query } from "./paths.ts";

/** What a node says of itself: `unavailable` if one of its checks is not `ok`, but says what is wrong. */
export type Health = {
  /** Whether all checks are `ok`. */
  status: "ok" | "unavailable";
  /** What each check says: `ok`, or what is wrong. */
  checks: { [check: string]: string };
};

/** Creates the calls about who is online, about the nodes, and what a node says of itself. */
export function createServerCalls(exchange: Exchange, request: Request) {
  return {
    /**
     * Lists the users who are connected now, on all nodes, by id. With `uids`, lists exactly those users, with `connections` 0 for
     * users who are offline or unknown. With `devices`, includes the `device_id`s of the first 20 of the `uids`, by id.
     */
    async listOnline(
      org: string,
      page: PageOptions & { uids?: string[]; devices?: boolean; last_seen?: boolean } = {},
      options: CallOptions = {},
    ): Promise<Page<OnlineUser>> {
      return request("GET", path`/admin/organizations/${org}/online` + query(page), undefined, options);
    },
    /** Counts the users who are connected now, on all nodes, or those of `uids`. */
    async countOnline(
      org: string,
      { uids }: { uids?: string[] } = {},
      options: CallOptions = {},
    ): Promise<OnlineCount> {
      const target = path`/admin/organizations/${org}/online` + query({ count: true, uids });
      return request("GET", target, undefined, options);
    },
    /** Lists users who are connected now, on all nodes, by id, with their names. To read all, page through `listOnline`. */
    async listOnlineUsers(
      envelope: { organizationId: string; limit?: number; offset?: number },
      options: CallOptions = {},
    ): Promise<{ users: UserView[] }> {
      return request("POST", "/admin/activity/online", envelope, options);
    },
    /** Lists where a user is connected now, on all nodes, the oldest connection first, and tells how the last one ended. */
    async listConnections(org: string, uid: string, options: CallOptions = {}): Promise<UserConnections> {
      return request("GET", path`/admin/organizations/${org}/users/${uid}/connections`, undefined, options);
    },
    /** Closes one connection of a user. Its client reconnects, and receives what it missed. */
    async closeConnection(org: string, uid: string, connection: string, options: CallOptions = {}): Promise<void> {
      const target = path`/admin/organizations/${org}/users/${uid}/connections/${connection}`;
      return request("DELETE", target, undefined, options);
    },
    /** Lists the nodes, in the order in which they started, and with `history` what they did in the last 30 minutes. */
    async listNodes({ history }: { history?: boolean } = {}, options: CallOptions = {}): Promise<NodeList> {
      return request("GET", `/admin/nodes${query({ history })}`, undefined, options);
    },

    /** Whether the node's process is alive. */
    async getHealth(options: CallOptions = {}): Promise<Health> {
      return request("GET", "/healthz", undefined, options);
    },
    /** Whether the node accepts requests, and if it does not (`unavailable`), which check fails. */
    async getReadiness({ signal }: CallOptions = {}): Promise<Health> {
      const answer = await exchange("GET", "/readyz", undefined, { signal, alsoAnswers: 503 });
      return answer.body as Health;
    },
    /** The metrics of the node, in the text format of Prometheus. `token` is its `HERALD_METRICS_TOKEN`, if it has one. */
    async getMetrics({ token }: { token?: string } = {}, { signal }: CallOptions = {}): Promise<string> {
      const headers: Record<string, string> =
        token === undefined ? {} : { Authorization: `Bearer ${readSecret(token, "token")}` };
      const answer = await exchange("GET", "/metrics", undefined, { signal, as: "text", headers });
      return String(answer.body);
    },
    /** The OpenAPI document of the server. */
    async getOpenApi(options: CallOptions = {}): Promise<{ [member: string]: Json }> {
      return request("GET", "/openapi.json", undefined, options);
    },
    /** The AsyncAPI document of the server, with the events and frames of the real-time API. */
    async getAsyncApi(options: CallOptions = {}): Promise<{ [member: string]: Json }> {
      return request("GET", "/asyncapi.json", undefined, options);
    },
  };
}
