import { z } from "zod";
import { cloudEvent, cloudEventsType, feedQuery, feedRequestHeaders } from "../connections/feed.ts";
import {
  exampleIds,
  messageExample,
  nodeExample,
  systemMessageExample,
  userConnectionsExample,
  userViewExample,
} from "../documents/examples.ts";
import { nodeList, nodesQuery } from "../nodes.ts";
import {
  onlineCount,
  onlinePage,
  onlineQuery,
  onlineUsersAnswer,
  onlineUsersRequest,
  userConnectionList,
} from "../presence.ts";
import { defineOperation } from "./operation.ts";

const feedExample = [
  `:\nid: 4710-01a1f910-5000-7c1d-8e2f-3a4b5c6d7e8f\n\n`,
  `event: message\nid: 4711-${messageExample._id}\ndata: ${JSON.stringify({ message: messageExample })}\n\n`,
  `event: system_message\nid: 4712-01a1f910-6b21-7a9c-9d0e-1f2a3b4c5d6e\ndata: ${JSON.stringify({ system_message: systemMessageExample })}\n\n`,
].join("");

const cloudEventExample = {
  specversion: "1.0",
  id: `4711-${messageExample._id}`,
  source: `/admin/organizations/${exampleIds.organization}/events`,
  type: "message",
  time: messageExample.created_at,
  datacontenttype: "application/json",
  data: { message: messageExample },
};

/** Presence, the feed and nodes (api.md, section 4). */
export const presenceOperations = {
  listOnline: defineOperation({
    method: "get",
    path: "/admin/organizations/{org}/online",
    tag: "Presence",
    scope: "observe",
    summary: "List the users who are connected now, by id",
    description:
      "The response always covers all nodes. If a node does not respond within one second, the call fails with 503. A page may hold fewer users than `limit`; the list ends only when `cursor` is `null`.",
    query: onlineQuery,
    answers: {
      200: {
        description: "An OnlinePage or, with `count=true`, an OnlineCount.",
        schema: z.union([onlinePage, onlineCount]),
        example: { items: [{ id: exampleIds.user, connections: 2 }], cursor: null },
      },
    },
    errors: ["organization_not_found"],
  }),
  listOnlineUsers: defineOperation({
    method: "post",
    path: "/admin/activity/online",
    tag: "Presence",
    scope: "observe",
    limitsItself: true,
    audit: "refused", // it only reads
    targetOf: ({ organizationId }) => ({ organization: organizationId }),
    workOf: ({ offset }) => Math.floor(offset / 1_000),
    summary: "List the users who are connected now, as the admin API of SAMA does",
    description:
      "Of all nodes, by id. If a node does not respond within one second, the call fails with 503. To read all of them, page through `GET /admin/organizations/{org}/online`: users who come and go meanwhile shift what an `offset` means.",
    body: onlineUsersRequest,
    bodyExample: { organizationId: exampleIds.organization, limit: 10, offset: 0 },
    answers: {
      200: {
        description: "An OnlineUsers; with `idsOnly` an OnlineUserIds, with `count` an OnlineUserCount.",
        schema: onlineUsersAnswer,
        example: { users: [userViewExample] },
      },
    },
    errors: ["organization_forbidden", "organization_not_found"],
  }),
  listConnections: defineOperation({
    method: "get",
    path: "/admin/organizations/{org}/users/{uid}/connections",
    tag: "Presence",
    scope: "observe",
    summary: "List where a user is connected now, and how the last connection ended",
    description:
      "Of all nodes. If a node does not respond within one second, the call fails with 503. Each node lists at most 64 KiB.",
    answers: {
      200: {
        description: "The user's connections; none if the user is offline.",
        schema: userConnectionList,
        example: userConnectionsExample,
      },
    },
    errors: ["organization_not_found", "user_not_found"],
  }),
  closeConnection: defineOperation({
    method: "delete",
    path: "/admin/organizations/{org}/users/{uid}/connections/{connection_id}",
    tag: "Presence",
    scope: "directory:write",
    summary: "Close one connection of a user",
    description:
      "Closes it with 1012, on whatever node it is, so that the client reconnects and receives what it missed. To keep a client out, revoke its token, or sign the user out everywhere.",
    answers: { 204: { description: "Closed." } },
    errors: ["organization_not_found", "user_not_found", "not_found"],
  }),
  listNodes: defineOperation({
    method: "get",
    path: "/admin/nodes",
    tag: "Operation",
    scope: "observe",
    summary: "List the nodes with their connections and lag",
    description: "Each node reports its status every 2 s. The call works without the bus.",
    query: nodesQuery,
    answers: { 200: { description: "All nodes.", schema: nodeList, example: { items: [nodeExample] } } },
  }),
  streamEvents: defineOperation({
    method: "get",
    path: "/admin/organizations/{org}/events",
    tag: "Presence",
    scope: "observe",
    audit: "all", // it shows message content
    summary: "Follow everything that is delivered in the organization",
    description: [
      "A stream of server-sent events in the order of the organization's log, the same on every node; `event:` is the kind, and `data:` the same JSON that recipients get, whether or not anyone is online. The `id:` of each event is its cursor. With `after` or `Last-Event-ID`, the stream begins with the event after that cursor, so that a consumer that keeps the cursor of the last event it has worked off misses nothing and gets nothing twice; without, with what comes from now on, and an `id:` of its own says where that is.",
      "A message or system message that was recalled, has expired, was erased or belongs to a deleted conversation comes with an empty `body` and `x` and without attachments; a message that was edited comes with its text of now. Reads are kept for a day.",
      "The feed ends when its client reads too slowly, within 5 seconds after the key is revoked or expires, when the organization is deleted, and when the node stops. The heartbeat is a comment line, and moves the cursor over events that the filter leaves out.",
      'With `Accept: application/cloudevents-batch+json`, the answer is a page of the same events instead, as CloudEvents 1.0. The `Link` header with `rel="next"` leads to the next page, also if this one is empty.',
    ].join("\n\n"),
    query: feedQuery,
    requestHeaders: feedRequestHeaders,
    answers: {
      200: {
        description: "The feed, which stays open; or a page of it.",
        contentType: "text/event-stream",
        schema: z.string(),
        example: feedExample,
        others: { [cloudEventsType]: { schema: z.array(cloudEvent), example: [cloudEventExample] } },
        headers: { Link: "Of a page: where the next one is (RFC 8288)." },
      },
    },
    errors: ["organization_not_found", "cursor_too_old"],
  }),
};
