import { z } from "zod";
import { feedQuery } from "../connections/feed.ts";
import {
  exampleIds,
  messageExample,
  nodeExample,
  systemMessageExample,
  userConnectionExample,
} from "../documents/examples.ts";
import { nodeList } from "../nodes.ts";
import { onlineCount, onlinePage, onlineQuery, userConnectionList } from "../presence.ts";
import { defineOperation } from "./operation.ts";

const feedExample = [
  `event: message\nid: ${messageExample._id}\ndata: ${JSON.stringify({ message: messageExample })}\n\n`,
  ":\n\n",
  `event: system_message\nid: ${systemMessageExample._id}\ndata: ${JSON.stringify({ system_message: systemMessageExample })}\n\n`,
].join("");

/** Presence, the live feed and nodes (api.md, section 4). */
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
  listConnections: defineOperation({
    method: "get",
    path: "/admin/organizations/{org}/users/{uid}/connections",
    tag: "Presence",
    scope: "observe",
    summary: "List where a user is connected now",
    description:
      "Of all nodes. If a node does not respond within one second, the call fails with 503. Each node lists at most 64 KiB.",
    answers: {
      200: {
        description: "The user's connections; none if the user is offline.",
        schema: userConnectionList,
        example: { items: [userConnectionExample] },
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
    answers: { 200: { description: "All nodes.", schema: nodeList, example: { items: [nodeExample] } } },
  }),
  streamEvents: defineOperation({
    method: "get",
    path: "/admin/organizations/{org}/events",
    tag: "Presence",
    scope: "observe",
    audit: "all", // it shows message content
    summary: "Watch everything that is delivered in the organization, live",
    description:
      "A stream of server-sent events in the order of the organization's log, the same on every node: `event: message` with a MessageEvent and `event: system_message` with a SystemMessageEvent. `data` is the same JSON that recipients get, whether or not anyone is online. The feed contains everything that is sent after the response begins, without gaps, for as long as it stays open. It contains nothing older, and the server ignores `Last-Event-ID` and `lastEventId`. The server disconnects a client that reads too slowly. The feed ends within 5 seconds after the key is revoked or expires, when the organization is deleted, and when the node stops. The heartbeat is a comment line.",
    query: feedQuery,
    answers: {
      200: {
        description: "The feed, which stays open.",
        contentType: "text/event-stream",
        schema: z.string(),
        example: feedExample,
      },
    },
    errors: ["organization_not_found"],
  }),
};
