import { dryRunResponse, sendQuery } from "../delivery.ts";
import { scheduledSendExample, sentScheduledSendExample } from "../documents/examples.ts";
import type { Scope } from "../keys/scopes.ts";
import type { PayloadLimits } from "../limits.ts";
import { createPutScheduledRequest, scheduledPage, scheduledQuery, scheduledSend } from "../schedule.ts";
import { laterSendErrors, ofLaterSend } from "./messages.ts";
import { defineOperation, pageAnswers } from "./operation.ts";

const sendScopes: [Scope, Scope] = ["message:send", "system:send"];

/** Sends that wait for their time (api.md, section 2.1). */
export function createScheduleOperations(limits: PayloadLimits) {
  return {
    putScheduled: defineOperation({
      method: "put",
      path: "/admin/organizations/{org}/scheduled/{sid}",
      tag: "Messages",
      scope: sendScopes,
      summary: "Send later",
      description:
        "Schedules a message or a system message for a time. It is checked now, and refused as the send would be refused. At its time, a node sends it as if it were called with the same key: once, within a second while any node is up, or as soon as one is up. The same call again changes nothing. With other content, the call replaces a scheduled send that still waits. It needs the scope of the operation that the request is for.",
      query: sendQuery,
      body: createPutScheduledRequest(limits),
      bodyExample: { send_at: scheduledSendExample.send_at, request: scheduledSendExample.request },
      ...ofLaterSend,
      answers: {
        200: {
          description:
            "Replaced, or unchanged because it is scheduled already. With `dry_run=true`: the request is valid, and this is whom it would reach now.",
          schema: scheduledSend.or(dryRunResponse),
          example: scheduledSendExample,
        },
        201: { description: "Scheduled.", schema: scheduledSend, example: scheduledSendExample },
      },
      errors: [...laterSendErrors, "already_sent"],
    }),
    getScheduled: defineOperation({
      method: "get",
      path: "/admin/organizations/{org}/scheduled/{sid}",
      tag: "Messages",
      scope: "history:read",
      audit: "all", // it shows message content
      summary: "Read a scheduled send",
      description:
        "What was sent, failed or was cancelled is kept as long as the ids of sends (`HERALD_RETENTION_IDS_DAYS`).",
      answers: {
        200: { description: "The scheduled send.", schema: scheduledSend, example: sentScheduledSendExample },
      },
      errors: ["organization_not_found", "not_found"],
    }),
    deleteScheduled: defineOperation({
      method: "delete",
      path: "/admin/organizations/{org}/scheduled/{sid}",
      tag: "Messages",
      scope: sendScopes,
      summary: "Cancel a scheduled send",
      description:
        "It is sent or cancelled, never both: 204 means that it will not be sent, 409 that it was, or that it has failed.",
      answers: { 204: { description: "Cancelled, now or earlier." } },
      errors: ["organization_not_found", "not_found", "sender_forbidden", "already_sent", "storage_full"],
    }),
    listScheduled: defineOperation({
      method: "get",
      path: "/admin/organizations/{org}/scheduled",
      tag: "Messages",
      scope: "history:read",
      audit: "all",
      summary: "List the scheduled sends of an organization, by time",
      description: "A page may hold fewer than `limit`, as long requests fill it.",
      query: scheduledQuery,
      answers: pageAnswers(scheduledPage, [scheduledSendExample]),
      errors: ["organization_not_found"],
    }),
  };
}
