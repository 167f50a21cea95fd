import { z } from "zod";
import { userView } from "./connections/frames.ts";
import { pageOf, pageQuery, queryFlag } from "./directory.ts";
import { identifier, isoTime } from "./identifiers.ts";

const maxUids = 1000;

/** How many users a query returns devices for. The answer between nodes has to fit into one bus message. */
export const maxUsersWithDevices = 20;

const onlineUser = z
  .strictObject({
    id: z.string().meta({ description: "The user." }),
    connections: z.int().min(0).meta({ description: "The number of connections that the user has, on all nodes." }),
    devices: z.array(z.string().nullable()).optional().meta({
      description:
        "With `devices=true`: the `device_id` of each connection, or `null` for a connection without one. At most 50 per node.",
    }),
    last_seen: isoTime.nullable().optional().meta({
      description:
        "With `last_seen=true`: when the user's last connection to a node ended, about a second late; `null` if that is not known, as before the first one has ended.",
    }),
  })
  .meta({ id: "OnlineUser", description: "A user and the user's current number of connections." });

/** A user and the user's current number of connections. */
export type OnlineUser = z.infer<typeof onlineUser>;

/** A page of connected users. */
export const onlinePage = pageOf(onlineUser).meta({ id: "OnlinePage" });

/** How many users are connected. */
export const onlineCount = z
  .strictObject({
    count: z.int().min(0).meta({
      description: "The number of connected users. Each counts once, however many nodes and devices are involved.",
    }),
    connections: z.int().min(0).meta({ description: "The number of connections of these users." }),
  })
  .meta({ id: "OnlineCount", description: "The number of users who are connected now." });

/** The number of connected users. */
export type OnlineCount = z.infer<typeof onlineCount>;

const mostOnline = { page: 100, offset: 100_000 };

/** The request for connected users, as SAMA's admin API takes it. */
export const onlineUsersRequest = z
  .strictObject({
    organizationId: identifier.meta({ description: "The organization." }),
    userId: identifier.optional().meta({ description: "Accepted as SAMA's callers send it, and of no effect." }),
    count: z.boolean().default(false).meta({ description: "`true` returns the number of users instead of them." }),
    idsOnly: z.boolean().default(false).meta({ description: "`true` returns ids instead of users." }),
    limit: z.int().min(1).max(mostOnline.page).default(10).meta({ description: "The number of users in a page." }),
    offset: z.int().min(0).max(mostOnline.offset).default(0).meta({
      description: "How many users, by id, to leave out. Each 1,000 cost as much as a request.",
    }),
  })
  .meta({ id: "OnlineUsersRequest" });

/** The request for connected users, as SAMA's admin API takes it. */
export type OnlineUsersRequest = z.infer<typeof onlineUsersRequest>;

/** Connected users, as SAMA's admin API answers: their number, their ids, or the users. */
export const onlineUsersAnswer = z.union([
  z
    .strictObject({ users: z.array(userView).meta({ description: "By id." }) })
    .meta({ id: "OnlineUsers", description: "Users who are connected now." }),
  z
    .strictObject({ users: z.array(z.string()).meta({ description: "Their ids, in order." }) })
    .meta({ id: "OnlineUserIds", description: "The ids of users who are connected now." }),
  z
    .strictObject({ count: z.int().min(0).meta({ description: "Each user counts once." }) })
    .meta({ id: "OnlineUserCount", description: "The number of users who are connected now." }),
]);

const userConnection = z
  .strictObject({
    connection_id: z.string().meta({ description: "What `connect` answered, or the `X-Request-Id` of the stream." }),
    node: z.string().meta({ description: "The id of the node, as in the list of nodes." }),
    transport: z.enum(["websocket", "sse"]),
    device_id: z.string().nullable().meta({ description: "The client's name for its device, if it gave one." }),
    client: z.string().nullable().meta({
      description: "The `User-Agent` that the client sent, at most 200 characters; `null` without one.",
    }),
    address: z.string().meta({
      description: "Where it comes from, as limits count it: an IPv4 address, or the network of an IPv6 address.",
    }),
    since: isoTime.meta({ description: "When the connection was opened." }),
    waiting_bytes: z.int().min(0).meta({
      description:
        "Bytes that wait on the node because the client has not taken them. More than 0 for long: a slow reader.",
    }),
  })
  .meta({ id: "UserConnection", description: "A connection of a user that is open now." });

/** A connection of a user that is open now. */
export type UserConnection = z.infer<typeof userConnection>;

const refusedChecks = ["expired", "claims", "revoked", "blocked", "limit"] as const;

/** The check that refused a token whose signature is valid. */
export type RefusedCheck = (typeof refusedChecks)[number];

/** How a connection ended. */
export const lastEnded = z
  .strictObject({
    at: isoTime.meta({ description: "When it ended, by its node's clock; about a second late if `code` is absent." }),
    code: z.int().nullable().optional().meta({
      description:
        "The close code of a WebSocket: one of Herald's, one of the client's, or 1006 if the line broke, hung or was cut; `null` of a stream. Absent if no node remembers it.",
    }),
    was_slow: z.literal(true).optional().meta({
      description: "Present only if bytes were waiting for it: it was cut as a slow reader, or its client hung up.",
    }),
  })
  .meta({ id: "EndedConnection", description: "How a connection of a user ended." });

/** A token that was refused. */
export const lastRefused = z
  .strictObject({
    at: isoTime.meta({ description: "When it was refused, by the node's clock." }),
    check: z.enum(refusedChecks).meta({
      description:
        "`expired`: it has expired. `claims`: it is not for Herald, valid for too long, or a claim of it is wrong. `revoked`: the user was signed out, the token revoked, or the user or the organization deleted. `blocked`: the user is blocked. `limit`: the user or the organization has too many connections or requests.",
    }),
  })
  .meta({ id: "RefusedToken", description: "A token of a user that was refused. Its signature was valid." });

/** The connections of a user that are open now, and what is known of the last one. */
export const userConnectionList = z
  .strictObject({
    items: z.array(userConnection).meta({ description: "The oldest first." }),
    last_ended: lastEnded.nullable().meta({
      description:
        "The connection that ended last. `null` if none is known: a node that crashes records nothing. Each node remembers, until it stops, how the connections of 10,000 users ended; of others, the time is kept.",
    }),
    last_refused: lastRefused.nullable().meta({
      description:
        "The token that was refused last, as far as the nodes remember, until they stop, for 10,000 users each; `null` if none is. Tokens whose signature is not valid prove to be nobody's, so they are not told.",
    }),
  })
  .meta({ id: "UserConnectionList" });

/** The connections of a user that are open now, and what is known of the last one. */
export type UserConnectionList = z.infer<typeof userConnectionList>;

/** The query for connected users. */
export const onlineQuery = pageQuery.extend({
  devices: queryFlag(`\`true\` also returns the devices of the first ${maxUsersWithDevices} of the \`uids\`, by id.`),
  last_seen: queryFlag("`true` also returns when each user was last seen."),
  count: queryFlag("`true` returns the number of users instead of the list."),
  uids: z.array(identifier).min(1).max(maxUids, `must name at most ${maxUids} users`).optional().meta({
    description:
      "Only these users, with one item for each. `connections` is 0 for a user who is offline or unknown. Separate ids with commas, and write a comma within an id as `%2C`. The parameter may also be repeated.",
  }),
});
