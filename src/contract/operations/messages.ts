import type { AuditTarget } from "../audit.ts";
import { dryRunResponse, sendQuery } from "../delivery.ts";
import { exampleIds, messageExample, systemMessageExample } from "../documents/examples.ts";
import type { PayloadLimits } from "../limits.ts";
import {
  createSendMessageRequest,
  createSendSystemMessageRequest,
  type SendSystemMessageRequest,
  sendMessageOutcome,
  sendMessageResponse,
  sendSystemMessageOutcome,
  sendSystemMessageResponse,
} from "../messages/messages.ts";
import type { ScheduledRequest } from "../schedule.ts";
import { waitedHeaders, waitRequestHeaders } from "../waits.ts";
import { defineOperation } from "./operation.ts";

const exampleMid = "order-4711-shipped";
const recipientsPerRequest = 1_000;
const storedHeaders = {
  "Idempotent-Replayed": "`true` if the id was used before and this is the original response",
  ...waitedHeaders,
};

const dryRun = {
  description:
    "With `dry_run=true`: the request is valid, and this is whom it would reach. Nothing was stored or sent.",
  schema: dryRunResponse,
  headers: {
    "Idempotent-Replayed":
      "`true` if the same request was already sent with this id, so that sending it would reach nobody",
  },
  example: { dry_run: { recipients: 3, online: 2, unknown_users: [] } },
};

/** What operations answer that act as a user, apart from errors of their own. */
export const senderErrors = [
  "organization_forbidden",
  "sender_forbidden",
  "organization_not_found",
  "sender_not_participant",
  "storage_full",
] as const;

/** What the body of an operation that acts as a user names, for the audit log. */
export function targetIn(body: { organizationId: string; senderId: string }, conversation?: string): AuditTarget {
  return { organization: body.organizationId, sender: body.senderId, conversation };
}

/** The work of a system message beyond one request. */
function workOfSystem({ messageSystem }: SendSystemMessageRequest): number {
  return Math.floor((messageSystem.uids?.length ?? 0) / recipientsPerRequest);
}

/** What operations have in common whose body holds that of either send as `request`, to be sent later. */
export const ofLaterSend = {
  targetOf: ({ request }: { request: ScheduledRequest }): AuditTarget => ({
    sender: request.senderId,
    ...("message" in request && { conversation: request.message.cid }),
  }),
  workOf: ({ request }: { request: ScheduledRequest }) => ("messageSystem" in request ? workOfSystem(request) : 0),
};

/** What they answer if the send would be refused. */
export const laterSendErrors = [
  ...senderErrors,
  "conversation_not_found",
  "message_not_found",
  "sender_not_found",
  "message_id_conflict",
] as const;

/** The two send operations (seed, section 4). */
export function createMessageOperations(limits: PayloadLimits) {
  return {
    sendMessage: defineOperation({
      method: "post",
      path: "/admin/message",
      tag: "Messages",
      scope: "message:send",
      limitsItself: true,
      audit: "refused", // the event log records what was sent, and the key
      targetOf: (body) => targetIn(body, body.message.cid),
      summary: "Send a message to a conversation",
      description:
        "Stores the message on behalf of `senderId`, then delivers it to every online participant of the conversation. 201 means that the message is stored: it was flushed to the database before the response. A request with the same `message.id` is a retry and returns the original response.",
      query: sendQuery,
      requestHeaders: waitRequestHeaders,
      body: createSendMessageRequest(limits),
      bodyExample: {
        organizationId: exampleIds.organization,
        senderId: messageExample.from,
        message: { id: exampleMid, cid: messageExample.cid, body: messageExample.body, x: messageExample.x },
      },
      answers: {
        200: { ...dryRun, commonSchema: sendMessageOutcome },
        201: {
          description: "Stored.",
          schema: sendMessageResponse,
          headers: storedHeaders,
          example: { ask: { mid: exampleMid, server_mid: messageExample._id, t: messageExample.t } },
        },
      },
      errors: [...senderErrors, "conversation_not_found", "message_not_found", "message_id_conflict"],
    }),
    sendSystemMessage: defineOperation({
      method: "post",
      path: "/admin/message/system",
      tag: "Messages",
      scope: "system:send",
      limitsItself: true,
      audit: "refused",
      targetOf: (body) => targetIn(body, body.messageSystem.cid),
      summary: "Send a system message to users, to a conversation or to everyone",
      description:
        "Stores the system message, then delivers it to those of its recipients who are online now: the `uids`, the participants of the conversation `cid`, or with `everyone` all users of the organization. Users who are offline receive it only if `keep_days` keeps it in their inboxes.",
      query: sendQuery,
      requestHeaders: waitRequestHeaders,
      body: createSendSystemMessageRequest(limits),
      workOf: workOfSystem,
      bodyExample: {
        organizationId: exampleIds.organization,
        senderId: systemMessageExample.from,
        messageSystem: { id: systemMessageExample._id, uids: [exampleIds.user, "carol"], x: systemMessageExample.x },
      },
      answers: {
        200: { ...dryRun, commonSchema: sendSystemMessageOutcome },
        201: {
          description: "Stored.",
          schema: sendSystemMessageResponse,
          headers: storedHeaders,
          example: { ack: { mid: systemMessageExample._id, t: systemMessageExample.t } },
        },
      },
      errors: [...senderErrors, "conversation_not_found", "sender_not_found", "message_id_conflict"],
    }),
  };
}
