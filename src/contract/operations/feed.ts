import { z } from "zod";
import { feedQuery } from "../connections/feed.ts";
import { messageExample, systemMessageExample } from "../documents/examples.ts";
import { defineOperation, organizationPath, pathBelow } from "./operation.ts";

const example = [
  `event: message\nid: ${messageExample._id}\ndata: ${JSON.stringify({ message: messageExample })}\n\n`,
  ":\n\n",
  `event: system_message\nid: ${systemMessageExample._id}\ndata: ${JSON.stringify({ system_message: systemMessageExample })}\n\n`,
].join("");

/** The live feed (api.md, section 4). */
export const feedOperations = {
  streamEvents: defineOperation({
    method: "get",
    ...pathBelow(organizationPath, "/events"),
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
        example,
      },
    },
    errors: ["organization_not_found"],
  }),
};
