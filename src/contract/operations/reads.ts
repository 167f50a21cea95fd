import { tellTypingRequest } from "../connections/typing.ts";
import { dryRunResponse, sendQuery } from "../delivery.ts";
import { exampleIds, messageExample } from "../documents/examples.ts";
import { markReadRequest, successResponse } from "../messages/reads.ts";
import { senderErrors, targetIn } from "./messages.ts";
import { defineOperation } from "./operation.ts";

/** Marking conversations as read, and telling who is typing (api.md, sections 2.2 and 2.5). */
export const readOperations = {
  markRead: defineOperation({
    method: "put",
    path: "/admin/message/read",
    tag: "Messages",
    scope: "message:send",
    limitsItself: true,
    audit: "refused", // like a send: the event log records what was read, and the key
    targetOf: (body) => targetIn(body, body.messageRead.cid),
    summary: "Mark a conversation as read",
    description:
      "Marks the conversation as read by `senderId`: up to the newest of `ids` or, without them, up to its end. The mark only moves forward, and includes everything before it. Then each author of what is newly read, if connected and still a participant, hears `message_read` with the ids; if more than 100 messages were unread, with those of the newest 100. If nothing was unread, nothing is stored and nobody hears anything. With `dry_run=true`, the response is the authors who would hear it, and nothing is stored.",
    query: sendQuery,
    body: markReadRequest,
    bodyExample: {
      organizationId: exampleIds.organization,
      senderId: exampleIds.user,
      messageRead: { cid: messageExample.cid, ids: [messageExample._id] },
    },
    answers: {
      200: {
        description: "Marked as read. With `dry_run=true`: `dry_run`, and nothing was stored.",
        schema: successResponse.or(dryRunResponse),
        example: { success: true },
      },
    },
    errors: [...senderErrors, "conversation_not_found", "message_not_found"],
  }),
  tellTyping: defineOperation({
    method: "put",
    path: "/admin/message/typing",
    tag: "Messages",
    scope: "message:send",
    limitsItself: true,
    audit: "refused", // nothing of it is stored
    targetOf: (body) => targetIn(body, body.typing.cid),
    summary: "Tell that a user is typing",
    description:
      "The other participants of the conversation who are connected by WebSocket, on whichever node, hear `typing`. It holds until the next message of `senderId`, or for 10 s: repeat `start` every few seconds while it goes on. 202 means that the nodes were told; nothing is stored, and it may be lost on the way: a node that has played a later message of the user in the conversation drops it, and one with more than 250 connections of the conversation passes it on to none. Of several that wait on a node, only the newest of each user in a conversation is passed on.",
    body: tellTypingRequest,
    bodyExample: {
      organizationId: exampleIds.organization,
      senderId: exampleIds.user,
      typing: { cid: messageExample.cid, status: "start" },
    },
    answers: { 202: { description: "Told.", schema: successResponse, example: { success: true } } },
    errors: [...senderErrors.filter((code) => code !== "storage_full"), "conversation_not_found"],
  }),
};
