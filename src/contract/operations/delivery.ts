import { messageReport, systemMessageQuery, systemMessageReport } from "../delivery.ts";
import { messageReportExample, systemMessageReportExample } from "../documents/examples.ts";
import { identifier } from "../identifiers.ts";
import { defineOperation, noQuery, organizationPath } from "./operation.ts";

const serverMid = identifier.meta({
  description: "The `server_mid` of the send.",
  examples: [messageReportExample.message._id],
});
const mid = identifier.meta({
  description: "The `mid` of the send.",
  examples: [systemMessageReportExample.system_message._id],
});

/** What was sent, and what became of it (api.md, section 4). */
export const deliveryOperations = {
  getMessage: defineOperation({
    operationId: "getMessage",
    method: "get",
    path: `${organizationPath.path}/messages/{server_mid}`,
    params: organizationPath.params.extend({ server_mid: serverMid }),
    tag: "Messages",
    scope: "history:read",
    audit: "all", // it shows what people wrote
    summary: "Read a message and its delivery report",
    description:
      "Delivered means: written to an open connection. That a client has it is known when the client has acknowledged it. The figures are those of all nodes, of about a second ago; a node that dies takes what it had not yet written down.",
    query: noQuery,
    body: undefined,
    answers: { 200: { description: "The message.", schema: messageReport, example: messageReportExample } },
    errors: ["organization_not_found", "message_not_found"],
  }),
  getSystemMessage: defineOperation({
    operationId: "getSystemMessage",
    method: "get",
    path: `${organizationPath.path}/system-messages/{mid}`,
    params: organizationPath.params.extend({ mid }),
    tag: "Messages",
    scope: "history:read",
    audit: "all",
    summary: "Read a system message and its delivery report",
    description:
      "The report tells of each user. Where several senders have used that id, `senderId` must be given (422 otherwise). An id that retention has forgotten is not found.",
    query: systemMessageQuery,
    body: undefined,
    answers: {
      200: { description: "The system message.", schema: systemMessageReport, example: systemMessageReportExample },
    },
    errors: ["organization_not_found", "message_not_found"],
  }),
};
