import {
  deliveryItemPage,
  deliveryItemQuery,
  messageReport,
  recipientPage,
  recipientQuery,
  systemMessageQuery,
  systemMessageReport,
  systemRecipientQuery,
} from "../delivery.ts";
import {
  deliveryItemExamples,
  inboxItemExample,
  messageReportExample,
  recipientExamples,
  systemMessageReportExample,
} from "../documents/examples.ts";
import { inboxPage, inboxQuery } from "../messages/inbox.ts";
import { defineOperation, pageAnswers } from "./operation.ts";

const read = { method: "get", tag: "Messages", scope: "history:read", audit: "all" } as const; // message content is shown

const aboutPages =
  "The list is current to about a second. A page may hold fewer entries than `limit`; the list ends only when `cursor` is `null`.";

/** Sent messages, their delivery reports and their recipients, and the inboxes of users (api.md, sections 2.3, 2.4 and 4). */
export const deliveryOperations = {
  getMessage: defineOperation({
    ...read,
    path: "/admin/organizations/{org}/messages/{server_mid}",
    summary: "Read a message and its delivery report",
    description:
      "Delivered means written to an open connection. Only an acknowledgement proves that a client received the message. The figures cover all nodes and are about a second old. If a node crashes, the figures that it had not yet stored are lost.",
    answers: { 200: { description: "The message.", schema: messageReport, example: messageReportExample } },
    errors: ["organization_not_found", "message_not_found"],
  }),
  getSystemMessage: defineOperation({
    ...read,
    path: "/admin/organizations/{org}/system-messages/{mid}",
    summary: "Read a system message and its delivery report",
    description:
      "The report includes the delivery to each of the `uids`. For a system message to a conversation or to everyone, it consists of the figures only. If several senders used the same id, `senderId` is required; without it, the response is 422. Once the id is removed at the end of its retention, the response is 404.",
    query: systemMessageQuery,
    answers: {
      200: { description: "The system message.", schema: systemMessageReport, example: systemMessageReportExample },
    },
    errors: ["organization_not_found", "message_not_found"],
  }),
  listInbox: defineOperation({
    ...read,
    path: "/admin/organizations/{org}/users/{uid}/system-messages",
    summary: "List the inbox of a user",
    description:
      "The system messages with `keep_days` that were addressed to the user, newest first, and what the user has seen and read. A page may hold fewer entries than `limit`; the list ends only when `cursor` is `null`.",
    query: inboxQuery,
    answers: pageAnswers(inboxPage, [inboxItemExample]),
    errors: ["organization_not_found", "user_not_found"],
  }),
  listDeliveries: defineOperation({
    ...read,
    path: "/admin/organizations/{org}/users/{uid}/deliveries",
    summary: "List what a user should have, and has",
    description: `The messages and system messages that were addressed to the user, newest first: those for which the lists of recipients name the user, and system messages to everyone. They include those of conversations that the user has left, and those that were taken back or have expired, of which no content is shown. Imported ones were sent to nobody. ${aboutPages}`,
    query: deliveryItemQuery,
    answers: pageAnswers(deliveryItemPage, deliveryItemExamples),
    errors: ["organization_not_found", "user_not_found"],
  }),
  listRecipients: defineOperation({
    ...read,
    path: "/admin/organizations/{org}/messages/{server_mid}/recipients",
    summary: "List the recipients of a message, and who has it",
    description: `Recipients are the participants when the message was stored, including the sender and those who have left since, by id. A message from an import has none. ${aboutPages}`,
    query: recipientQuery,
    answers: pageAnswers(recipientPage, recipientExamples),
    errors: ["organization_not_found", "message_not_found"],
  }),
  listSystemRecipients: defineOperation({
    ...read,
    path: "/admin/organizations/{org}/system-messages/{mid}/recipients",
    summary: "List the recipients of a system message, and who has it",
    description: `Recipients are the \`uids\`, in their order, or the participants of the \`cid\` when the system message was stored, by id. A system message to everyone has no list: the response is 404 \`not_found\`. If several senders used the same id, \`senderId\` is required; without it, the response is 422. ${aboutPages}`,
    query: systemRecipientQuery,
    answers: pageAnswers(recipientPage, recipientExamples.slice(0, 1)),
    errors: ["organization_not_found", "message_not_found", "not_found"],
  }),
};
