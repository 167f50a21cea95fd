import {
  messageReport,
  recipientPage,
  recipientQuery,
  systemMessageQuery,
  systemMessageReport,
  systemRecipientQuery,
} from "../delivery.ts";
import { messageReportExample, recipientExamples, systemMessageReportExample } from "../documents/examples.ts";
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

const aboutPages =
  "The list is current to about a second. A page may hold fewer entries than `limit`; the list ends only when `cursor` is `null`.";

/** Sent messages, their delivery reports and their recipients (api.md, sections 2.3 and 4). */
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
      "The report includes the delivery to each of the `uids`. For a system message to a conversation or to everyone, it consists of the figures only. If several senders used the same id, `senderId` is required; without it, the response is 422. Once the id is removed at the end of its retention, the response is 404.",
    query: systemMessageQuery,
    body: undefined,
    answers: {
      200: { description: "The system message.", schema: systemMessageReport, example: systemMessageReportExample },
    },
    errors: ["organization_not_found", "message_not_found"],
  }),
  listRecipients: defineOperation({
    operationId: "listRecipients",
    method: "get",
    path: `${organizationPath.path}/messages/{server_mid}/recipients`,
    params: organizationPath.params.extend({ server_mid: serverMid }),
    tag: "Messages",
    scope: "history:read",
    audit: "all", // like the report
    summary: "List the recipients of a message, and who has it",
    description: `Recipients are the participants when the message was stored, including the sender and those who have left since, by id. A message from an import has none. ${aboutPages}`,
    query: recipientQuery,
    body: undefined,
    answers: {
      200: { description: "A page.", schema: recipientPage, example: { items: recipientExamples, cursor: null } },
    },
    errors: ["organization_not_found", "message_not_found"],
  }),
  listSystemRecipients: defineOperation({
    operationId: "listSystemRecipients",
    method: "get",
    path: `${organizationPath.path}/system-messages/{mid}/recipients`,
    params: organizationPath.params.extend({ mid }),
    tag: "Messages",
    scope: "history:read",
    audit: "all",
    summary: "List the recipients of a system message, and who has it",
    description: `Recipients are the \`uids\`, in their order, or the participants of the \`cid\` when the system message was stored, by id. A system message to everyone has no list: the response is 404 \`not_found\`. If several senders used the same id, \`senderId\` is required; without it, the response is 422. ${aboutPages}`,
    query: systemRecipientQuery,
    body: undefined,
    answers: {
      200: {
        description: "A page.",
        schema: recipientPage,
        example: { items: recipientExamples.slice(0, 1), cursor: null },
      },
    },
    errors: ["organization_not_found", "message_not_found", "not_found"],
  }),
};
