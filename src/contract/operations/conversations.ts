import {
  createPutConversationRequest,
  historyQuery,
  messagePage,
  pageQuery,
  prefixQuery,
  resource,
  resourcePage,
} from "../directory.ts";
import { conversationExample, messageExample, userExample } from "../documents/examples.ts";
import type { PayloadLimits } from "../limits.ts";
import { defineOperation, pageAnswers, putAnswers } from "./operation.ts";

// The writer takes about a millisecond for a hundred participants, and a key may make a thousand requests per second.
const participantsPerRequest = 100;
const read = { method: "get", tag: "Conversations", scope: "directory:read" } as const;
const put = { method: "put", tag: "Conversations", scope: "directory:write" } as const;
const remove = { method: "delete", tag: "Conversations", scope: "directory:write" } as const;

/** Conversations, their participants and their history (api.md, section 4). */
export function createConversationOperations(limits: PayloadLimits) {
  return {
    putConversation: defineOperation({
      ...put,
      path: "/admin/organizations/{org}/conversations/{cid}",
      summary: "Create or update a conversation",
      description:
        "`participants` replaces the set of participants. Open connections follow the change immediately. A change of more than 250 participants is made in steps, each of which is stored and takes effect separately. If you get no response, only some steps may have been made: repeat the call. If two calls replace the set at the same time, the last one wins.",
      body: createPutConversationRequest(limits),
      isBodyOptional: true,
      bodyExample: { name: "Welcome", participants: ["alice", "bob", "carol"] },
      workOf: ({ participants = [] }) => Math.floor(participants.length / participantsPerRequest),
      answers: putAnswers(resource, conversationExample),
      errors: ["organization_not_found", "storage_full"],
    }),
    getConversation: defineOperation({
      ...read,
      path: "/admin/organizations/{org}/conversations/{cid}",
      summary: "Get a conversation",
      answers: { 200: { description: "The conversation.", schema: resource, example: conversationExample } },
      errors: ["organization_not_found", "conversation_not_found"],
    }),
    deleteConversation: defineOperation({
      ...remove,
      path: "/admin/organizations/{org}/conversations/{cid}",
      summary: "Delete a conversation",
      description:
        "Participants stop receiving its messages immediately, and its history is deleted. More than 250 participants are removed in steps. If you get no response, repeat the call.",
      answers: { 204: { description: "Deleted." } },
      errors: ["organization_not_found", "conversation_not_found", "storage_full"],
    }),
    listConversations: defineOperation({
      ...read,
      path: "/admin/organizations/{org}/conversations",
      summary: "List the conversations of an organization, by id",
      query: prefixQuery,
      answers: pageAnswers(resourcePage, [conversationExample]),
      errors: ["organization_not_found"],
    }),
    putParticipant: defineOperation({
      ...put,
      path: "/admin/organizations/{org}/conversations/{cid}/participants/{uid}",
      summary: "Add a participant",
      description: "Creates the user if necessary. Returns the user.",
      answers: {
        200: { description: "The user was already a participant.", schema: resource, example: userExample },
        201: { description: "Added.", schema: resource, example: userExample },
      },
      errors: ["organization_not_found", "conversation_not_found", "storage_full"],
    }),
    deleteParticipant: defineOperation({
      ...remove,
      path: "/admin/organizations/{org}/conversations/{cid}/participants/{uid}",
      summary: "Remove a participant",
      answers: { 204: { description: "Removed." } },
      errors: ["organization_not_found", "conversation_not_found", "user_not_found", "storage_full"],
    }),
    listParticipants: defineOperation({
      ...read,
      path: "/admin/organizations/{org}/conversations/{cid}/participants",
      summary: "List the participants of a conversation, by id",
      query: pageQuery,
      answers: pageAnswers(resourcePage, [userExample]),
      errors: ["organization_not_found", "conversation_not_found"],
    }),
    listMessages: defineOperation({
      method: "get",
      path: "/admin/organizations/{org}/conversations/{cid}/messages",
      tag: "Conversations",
      scope: "history:read",
      audit: "all", // nothing else records who read messages
      summary: "Read a conversation's history",
      description: "Newest first, or oldest first with `after`.",
      query: historyQuery,
      answers: pageAnswers(messagePage, [messageExample]),
      errors: ["organization_not_found", "conversation_not_found", "message_not_found"],
    }),
  };
}
