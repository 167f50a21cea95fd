import { z } from "zod";
import { feedQuery } from "../connections/feed.ts";
import { messageExample, systemMessageExample } from "../documents/examples.ts";
import { defineOperation, organizationPath } from "./operation.ts";

const example = [
  `event: message\nid: ${messageExample._id}\ndata: ${JSON.stringify({ message: messageExample })}\n\n`,
  ":\n\n",
  `event: system_message\nid: ${systemMessageExample._id}\ndata: ${JSON.stringify({ system_message: systemMessageExample })}\n\n`,
].join("");

/** The live feed (api.md, section 4). */
export const feedOperations = {
  streamEvents: defineOperation({
    operationId: "streamEvents",
    method: "get",
    path: `${organizationPath.path}/events`,
    params: organizationPath.params,
    tag: "Presence",
    scope: "observe",
    audit: "all", // it shows what people write
    summary: "Watch everything that is delivered in the organization, live",
    description:
      "Server-sent events, in the order of the organization's log, on whichever node is asked: `event: message` with a MessageEvent and `event: system_message` with a SystemMessageEvent, `data` the same JSON as recipients get, whether anyone is online or not. All that is sent after the answer has begun is there, without a gap, for as long as the feed stays open; nothing older is, and `Last-Event-ID` is not looked at. A reader that is too slow is cut off. The feed ends within 5 seconds after the key was revoked or has expired, with the organization, and when the node stops. A comment is the heartbeat.",
    query: feedQuery,
    body: undefined,
    answers: {
      200: {
        description: "The feed. It does not end by itself.",
        contentType: "text/event-stream",
        schema: z.string(),
        example,
      },
    },
    errors: ["organization_not_found"],
  }),
};
