import { dryRunResponse, sendQuery } from "../delivery.ts";
import { dryRunExample, exampleIds, messageExample, systemMessageExample } from "../documents/examples.ts";
import type { PayloadLimits } from "../limits.ts";
import {
  createSendMessageRequest,
  createSendSystemMessageRequest,
  sendMessageResponse,
  sendSystemMessageResponse,
} from "../messages/messages.ts";
import { defineOperation, noParams } from "./operation.ts";

const exampleMid = "order-4711-shipped";
const recipientsPerRequest = 1_000;
const replayHeader = {
  "Idempotent-Replayed": "`true` when the id was seen before and the first answer is given again",
};

const dryRun = {
  description:
    "With `dry_run=true`: the request is in order, and this is whom it would reach. Nothing was stored or sent.",
  schema: dryRunResponse,
  headers: {
    "Idempotent-Replayed": "`true` when the id was used before for the same: sent now, it would reach nobody",
  },
  example: dryRunExample,
};

/** The two operations that the service exists for (seed, section 4). */
export function createMessageOperations(limits: PayloadLimits) {
  return {
    sendMessage: defineOperation({
      operationId: "sendMessage",
      method: "post",
      path: "/admin/message",
      tag: "Messages",
      scope: "message:send",
      limitsItself: true,
      audit: "refused", // what is sent stands in the log of events, with the key
      targetOf: ({ organizationId: organization, senderId: sender, message: { cid: conversation } }) => ({
        organization,
        sender,
        conversation,
      }),
      summary: "Send a message to a conversation",
      description:
        "Stores the message on behalf of `senderId`, then delivers it to every online participant of the conversation. 201 means stored: flushed to the database before the answer. The same `message.id` again is a retry and gives the first answer again.",
      params: noParams,
      query: sendQuery,
      body: createSendMessageRequest(limits),
      bodyExample: {
        organizationId: exampleIds.organization,
        senderId: messageExample.from,
        message: { id: exampleMid, cid: messageExample.cid, body: messageExample.body, x: messageExample.x },
      },
      answers: {
        200: dryRun,
        201: {
          description: "Stored.",
          schema: sendMessageResponse,
          headers: replayHeader,
          example: { ask: { mid: exampleMid, server_mid: messageExample._id, t: messageExample.t } },
        },
      },
      errors: [
        "organization_forbidden",
        "sender_forbidden",
        "organization_not_found",
        "conversation_not_found",
        "sender_not_participant",
        "message_id_conflict",
        "storage_full",
      ],
    }),
    sendSystemMessage: defineOperation({
      operationId: "sendSystemMessage",
      method: "post",
      path: "/admin/message/system",
      tag: "Messages",
      scope: "system:send",
      limitsItself: true,
      audit: "refused",
      targetOf: ({ organizationId: organization, senderId: sender }) => ({ organization, sender }),
      summary: "Send a system message to a list of users",
      description:
        "Stores the system message, then delivers it to those of `uids` who are online now. Who is offline does not receive it, also not later.",
      params: noParams,
      query: sendQuery,
      body: createSendSystemMessageRequest(limits),
      workOf: ({ messageSystem }) => Math.floor(messageSystem.uids.length / recipientsPerRequest),
      bodyExample: {
        organizationId: exampleIds.organization,
        senderId: systemMessageExample.from,
        messageSystem: { id: systemMessageExample._id, uids: [exampleIds.user, "carol"], x: systemMessageExample.x },
      },
      answers: {
        200: dryRun,
        201: {
          description: "Stored.",
          schema: sendSystemMessageResponse,
          headers: replayHeader,
          example: { ack: { mid: systemMessageExample._id, t: systemMessageExample.t } },
        },
      },
      errors: [
        "organization_forbidden",
        "sender_forbidden",
        "organization_not_found",
        "sender_not_found",
        "message_id_conflict",
        "storage_full",
      ],
    }),
  };
}
