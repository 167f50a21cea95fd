import { z } from "zod";
import { nodeExample, onlineUserExample } from "../documents/examples.ts";
import { nodeList } from "../nodes.ts";
import { onlineCount, onlinePage, onlineQuery } from "../presence.ts";
import { defineOperation, noParams, noQuery, organizationPath } from "./operation.ts";

/** Who is connected (api.md, section 4), and to which nodes. */
export const presenceOperations = {
  listOnline: defineOperation({
    operationId: "listOnline",
    method: "get",
    path: `${organizationPath.path}/online`,
    params: organizationPath.params,
    tag: "Presence",
    scope: "observe",
    summary: "List who is connected now, by id",
    description:
      "All nodes are asked, and the answer is whole: where a node does not answer within a second, it is 503 instead. A page may hold fewer users than `limit`; only a `cursor` of `null` is the end.",
    query: onlineQuery,
    body: undefined,
    answers: {
      200: {
        description: "A page, OnlinePage; with `count=true` an OnlineCount.",
        schema: z.union([onlinePage, onlineCount]),
        example: { items: [onlineUserExample], cursor: null },
      },
    },
    errors: ["organization_not_found"],
  }),
  listNodes: defineOperation({
    operationId: "listNodes",
    method: "get",
    path: "/admin/nodes",
    params: noParams,
    tag: "Operation",
    scope: "observe",
    summary: "List the nodes, with their connections and their lag",
    description: "As each reported itself, every 2 s. The answer does not need the bus between the nodes.",
    query: noQuery,
    body: undefined,
    answers: { 200: { description: "All nodes.", schema: nodeList, example: { items: [nodeExample] } } },
    errors: [],
  }),
};
