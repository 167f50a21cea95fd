import { dryRunResponse, sendQuery } from "../delivery.ts";
import {
  exampleIds,
  messageAppendExample,
  messageDeleteExample,
  messageEditExample,
  messageReactionsUpdateExample,
  systemMessageDeleteExample,
} from "../documents/examples.ts";
import type { PayloadLimits } from "../limits.ts";
import { appendResponse, createAppendLine, createAppendRequest } from "../messages/append.ts";
import {
  changeResponse,
  createEditMessageRequest,
  recallMessagesRequest,
  recallSystemMessagesRequest,
} from "../messages/changes.ts";
import { updateReactionsRequest } from "../messages/reactions.ts";
import { senderErrors, targetIn } from "./messages.ts";
import { defineOperation, type OperationAnswer } from "./operation.ts";

const recalledPerRequest = 25; // the writer takes about a millisecond for a hundred

/** The operations that change messages (api.md, 2.2, 2.4 and 2.6). */
export function createMessageChangeOperations(limits: PayloadLimits) {
  return {
    editMessage: defineOperation({
      method: "put",
      path: "/admin/message",
      tag: "Messages",
      scope: "message:edit",
      limitsItself: true,
      targetOf: (body) => ({ ...targetIn(body), message: body.messageEdit.id }),
      summary: "Edit a message",
      description:
        "Replaces the text of a message that `senderId` sent, and its custom parameters if `x` is given. Online participants hear `message_edit`; from then on, the message has the new text everywhere, and `edited_at` in lists. The same edit again stores nothing, and nobody hears it twice. 200 means that the edit is stored: it was flushed to the database before the response.",
      query: sendQuery,
      body: createEditMessageRequest(limits),
      bodyExample: {
        organizationId: exampleIds.organization,
        senderId: messageEditExample.from,
        messageEdit: { id: messageEditExample.id, body: messageEditExample.body },
      },
      answers: changeAnswers(
        "Stored",
        "`true` if the message says this already, so that nothing was stored and nobody is told",
      ),
      errors: [...senderErrors, "message_not_found", "sender_not_owner", "message_open"],
    }),
    appendToMessage: defineOperation({
      method: "put",
      path: "/admin/message/append",
      tag: "Messages",
      scope: "message:send",
      limitsItself: true,
      audit: "refused", // like a send: the event log records the pieces, and the key
      targetOf: (body) => (body === undefined ? {} : { ...targetIn(body), message: body.messageAppend.id }),
      summary: "Append to an open message",
      description:
        'Appends text to a message that was sent with `open`, or completes it with `done`. Online participants hear `message_append`; lists, `since` and whoever joins have the whole text so far. `offset` says how long the text is, so that the same piece again changes nothing, and a piece that does not fit is answered 409 `append_conflict` with the `length` to go on from. With `Content-Type: application/x-ndjson`, the first line is such a body, `{"text":"…"}` lines follow, and `{"done":true}` ends the message: each line is answered by one, as soon as it is stored. 200 means that the piece is stored: it was flushed to the database before the response.',
      body: createAppendRequest(limits),
      lines: createAppendLine(limits),
      bodyExample: {
        organizationId: exampleIds.organization,
        senderId: messageAppendExample.from,
        messageAppend: {
          id: messageAppendExample.id,
          offset: messageAppendExample.offset,
          text: messageAppendExample.text,
        },
      },
      answers: {
        200: {
          description: "Stored.",
          schema: appendResponse,
          headers: { "Idempotent-Replayed": "`true` if the piece is stored already, so that nobody is told again" },
          example: { success: true, length: messageAppendExample.offset + messageAppendExample.text.length },
        },
      },
      errors: [...senderErrors, "message_not_found", "sender_not_owner", "append_conflict"],
    }),
    updateReactions: defineOperation({
      method: "put",
      path: "/admin/message/reaction",
      tag: "Messages",
      scope: "message:send",
      limitsItself: true,
      audit: "refused", // like a send: the event log records what was added and removed, and the key
      targetOf: (body) => ({ ...targetIn(body), message: body.messageReaction.mid }),
      summary: "React to a message",
      description:
        "Adds a reaction of `senderId` to a message, removes one, or both; `senderId` must be a participant. Online participants hear `message_reactions_update`; from then on, lists have the reactions of the message. What is there already, or is not, is neither stored nor told, so that a retry is harmless. A message has at most 100 different reactions. 200 means that the change is stored: it was flushed to the database before the response.",
      query: sendQuery,
      body: updateReactionsRequest,
      bodyExample: {
        organizationId: exampleIds.organization,
        senderId: messageReactionsUpdateExample.from,
        messageReaction: { mid: messageReactionsUpdateExample.mid, add: messageReactionsUpdateExample.add },
      },
      answers: changeAnswers(
        "Stored",
        "`true` if the user has reacted so already, so that nothing was stored and nobody is told",
      ),
      errors: [...senderErrors, "message_not_found"],
    }),
    recallMessages: defineOperation({
      method: "delete",
      path: "/admin/message",
      tag: "Messages",
      scope: "message:edit",
      limitsItself: true,
      targetOf: ({ messageDelete: { cid, ids, type }, ...body }) => ({
        ...targetIn(body, cid),
        messages: ids,
        ...(type === "myself" && { user: body.senderId }),
      }),
      workOf: ({ messageDelete: { ids } }) => Math.floor(ids.length / recalledPerRequest),
      summary: "Take messages back, or hide them",
      description:
        "Removes the texts of messages of one conversation, whoever sent them; `senderId` must be a participant. Online participants hear `message_delete`. From then on, the messages are missing from history and recovery; only their delivery reports remain, without the text. If one of the messages does not exist or was taken back before, the response is 404 and none is taken back. With the type `myself`, nothing is taken back: the messages are missing from the lists, last messages, unread counts and recovery of `senderId` only, and only connections of that user hear `message_delete`, with this type. Hiding them again stores nothing, and nobody hears it twice.",
      query: sendQuery,
      body: recallMessagesRequest,
      bodyExample: {
        organizationId: exampleIds.organization,
        senderId: messageDeleteExample.from,
        messageDelete: { cid: messageDeleteExample.cid, ids: messageDeleteExample.ids, type: "all" },
      },
      answers: changeAnswers(
        "Taken back, or hidden",
        "`true` if the user has hidden the messages already, so that nothing was stored and nobody is told",
      ),
      errors: [...senderErrors, "conversation_not_found", "message_not_found"],
    }),
    recallSystemMessages: defineOperation({
      method: "delete",
      path: "/admin/message/system",
      tag: "Messages",
      scope: "message:edit",
      limitsItself: true,
      targetOf: (body) => ({ ...targetIn(body), messages: body.messageSystemDelete.ids }),
      workOf: ({ messageSystemDelete: { ids } }) => Math.floor(ids.length / recalledPerRequest),
      summary: "Take system messages back",
      description:
        "Removes the custom parameters of system messages that `senderId` sent. Whoever they were addressed to and is online hears `system_message_delete`, once for all that had the same recipients. From then on, only their delivery reports remain, without the parameters, and no webhook tells of them. If one of them does not exist or was taken back before, the response is 404 and none is taken back.",
      query: sendQuery,
      body: recallSystemMessagesRequest,
      bodyExample: {
        organizationId: exampleIds.organization,
        senderId: systemMessageDeleteExample.from,
        messageSystemDelete: { ids: systemMessageDeleteExample.ids },
      },
      answers: changeAnswers("Taken back"),
      errors: [
        ...senderErrors.filter((code) => code !== "sender_not_participant"),
        "sender_not_found",
        "message_not_found",
      ],
    }),
  };
}

/** The answers of a change: `done` says what it has done, `replayed` when `Idempotent-Replayed` is `true`, if it can be. */
function changeAnswers(done: string, replayed?: string): Record<number, OperationAnswer> {
  const ofDryRun = "With `dry_run=true`: the request is valid, and this is who would hear it; nothing was stored.";
  return {
    200: {
      description: `${done}. ${ofDryRun}`,
      schema: changeResponse.or(dryRunResponse),
      ...(replayed !== undefined && { headers: { "Idempotent-Replayed": replayed } }),
      example: { success: true },
    },
  };
}
