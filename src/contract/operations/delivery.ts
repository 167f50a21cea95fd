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

/** Sent messages and their delivery reports (api.md, section 4). */
export const deliveryOperations = {
  getMessage: defineOperation({
    operationId: "getMessage",
    method: "get",
    path: `${organizationPath.path}/messages/{server_mid}`,
    params: organizationPath.params.extend({ server_mid: serverMid }),
    tag: "Messages",
    scope: "history:read",
    audit: "all", // it shows message content
    summary: "Read a message and its delivery report",
    description:
      "Delivered means written to an open connection. Only an acknowledgement proves that a client received the message. The figures cover all nodes and are about a second old. If a node crashes, the figures that it had not yet stored are lost.",
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
      "The report includes the delivery to each user. If several senders used the same id, `senderId` is required; without it, the response is 422. Once the id is removed at the end of its retention, the response is 404.",
    query: systemMessageQuery,
    body: undefined,
    answers: {
      200: { description: "The system message.", schema: systemMessageReport, example: systemMessageReportExample },
    },
    errors: ["organization_not_found", "message_not_found"],
  }),
};
