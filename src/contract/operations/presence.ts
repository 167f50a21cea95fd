import { z } from "zod";
import { nodeExample, onlineUserExample } from "../documents/examples.ts";
import { nodeList } from "../nodes.ts";
import { onlineCount, onlinePage, onlineQuery } from "../presence.ts";
import { defineOperation, organizationPath, pathBelow } from "./operation.ts";

/** Presence (api.md, section 4) and nodes. */
export const presenceOperations = {
  listOnline: defineOperation({
    method: "get",
    ...pathBelow(organizationPath, "/online"),
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
        example: { items: [onlineUserExample], cursor: null },
      },
    },
    errors: ["organization_not_found"],
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
};
