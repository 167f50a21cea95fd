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
import { conversationPath, defineOperation, noQuery, organizationPath, participantPath } from "./operation.ts";

// The writer takes about a millisecond for a hundred participants, and a key may make a thousand requests per second.
const participantsPerRequest = 100;

/** Conversations, their participants and their history (api.md, section 4). */
export function createConversationOperations(limits: PayloadLimits) {
  return {
    putConversation: defineOperation({
      operationId: "putConversation",
      method: "put",
      ...conversationPath,
      tag: "Conversations",
      scope: "directory:write",
      summary: "Create or update a conversation",
      description:
        "`participants` replaces the set of participants. Open connections follow the change immediately. A change of more than 250 participants is made in steps, each of which is stored and takes effect separately. If you get no response, only some steps may have been made: repeat the call. If two calls replace the set at the same time, the last one wins.",
      query: noQuery,
      body: createPutConversationRequest(limits),
      isBodyOptional: true,
      bodyExample: { name: "Welcome", participants: ["alice", "bob", "carol"] },
      workOf: ({ participants = [] }) => Math.floor(participants.length / participantsPerRequest),
      answers: {
        200: { description: "Updated.", schema: resource, example: conversationExample },
        201: { description: "Created.", schema: resource, example: conversationExample },
      },
      errors: ["organization_not_found", "storage_full"],
    }),
    getConversation: defineOperation({
      operationId: "getConversation",
      method: "get",
      ...conversationPath,
      tag: "Conversations",
      scope: "directory:read",
      summary: "Get a conversation",
      query: noQuery,
      body: undefined,
      answers: { 200: { description: "The conversation.", schema: resource, example: conversationExample } },
      errors: ["organization_not_found", "conversation_not_found"],
    }),
    deleteConversation: defineOperation({
      operationId: "deleteConversation",
      method: "delete",
      ...conversationPath,
      tag: "Conversations",
      scope: "directory:write",
      summary: "Delete a conversation",
      description:
        "Participants stop receiving its messages immediately, and its history is deleted. More than 250 participants are removed in steps. If you get no response, repeat the call.",
      query: noQuery,
      body: undefined,
      answers: { 204: { description: "Deleted." } },
      errors: ["organization_not_found", "conversation_not_found", "storage_full"],
    }),
    listConversations: defineOperation({
      operationId: "listConversations",
      method: "get",
      path: `${organizationPath.path}/conversations`,
      params: organizationPath.params,
      tag: "Conversations",
      scope: "directory:read",
      summary: "List the conversations of an organization, by id",
      query: prefixQuery,
      body: undefined,
      answers: {
        200: { description: "A page.", schema: resourcePage, example: { items: [conversationExample], cursor: null } },
      },
      errors: ["organization_not_found"],
    }),
    putParticipant: defineOperation({
      operationId: "putParticipant",
      method: "put",
      ...participantPath,
      tag: "Conversations",
      scope: "directory:write",
      summary: "Add a participant",
      description: "Creates the user if necessary. Returns the user.",
      query: noQuery,
      body: undefined,
      answers: {
        200: { description: "The user was already a participant.", schema: resource, example: userExample },
        201: { description: "Added.", schema: resource, example: userExample },
      },
      errors: ["organization_not_found", "conversation_not_found", "storage_full"],
    }),
    deleteParticipant: defineOperation({
      operationId: "deleteParticipant",
      method: "delete",
      ...participantPath,
      tag: "Conversations",
      scope: "directory:write",
      summary: "Remove a participant",
      query: noQuery,
      body: undefined,
      answers: { 204: { description: "Removed." } },
      errors: ["organization_not_found", "conversation_not_found", "user_not_found", "storage_full"],
    }),
    listParticipants: defineOperation({
      operationId: "listParticipants",
      method: "get",
      path: `${conversationPath.path}/participants`,
      params: conversationPath.params,
      tag: "Conversations",
      scope: "directory:read",
      summary: "List the participants of a conversation, by id",
      query: pageQuery,
      body: undefined,
      answers: {
        200: { description: "A page.", schema: resourcePage, example: { items: [userExample], cursor: null } },
      },
      errors: ["organization_not_found", "conversation_not_found"],
    }),
    listMessages: defineOperation({
      operationId: "listMessages",
      method: "get",
      path: `${conversationPath.path}/messages`,
      params: conversationPath.params,
      tag: "Conversations",
      scope: "history:read",
      audit: "all", // nothing else records who read messages
      summary: "Read a conversation's history",
      description: "Newest first, or oldest first with `after`.",
      query: historyQuery,
      body: undefined,
      answers: {
        200: { description: "A page.", schema: messagePage, example: { items: [messageExample], cursor: null } },
      },
      errors: ["organization_not_found", "conversation_not_found", "message_not_found"],
    }),
  };
}
