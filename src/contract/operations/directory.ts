import {
  createTokenRequestWithin,
  createTokenResponse,
  deleteUserQuery,
  organizationShown,
  pageQuery,
  prefixQuery,
  putOrganizationRequest,
  putUserRequest,
  resource,
  resourcePage,
  user,
  userPage,
} from "../directory.ts";
import { organizationExample, tokenExample, userExample } from "../documents/examples.ts";
import type { PayloadLimits } from "../limits.ts";
import { defineOperation, pageAnswers, putAnswers } from "./operation.ts";

const organizationShownExample = {
  ...organizationExample,
  limits: { requests_per_second: 500, messages_per_second: null, connections: null, stored_bytes: null },
  usage: { requests_per_second: 12, messages_per_second: 9, connections: 140, stored_bytes: 5_242_880 },
};
const readOrganizations = { method: "get", tag: "Organizations", scope: "directory:read" } as const;
const readUsers = { method: "get", tag: "Users", scope: "directory:read" } as const;
const deleteOfUsers = { method: "delete", tag: "Users", scope: "directory:write" } as const;

/** Organizations, users and sessions (api.md, section 4). */
export function createDirectoryOperations(limits: PayloadLimits) {
  return {
    putOrganization: defineOperation({
      method: "put",
      path: "/admin/organizations/{org}",
      tag: "Organizations",
      scope: "directory:write",
      summary: "Create or update an organization",
      description:
        "Only a key that is not bound to an organization may set `limits`. Other keys get 403 `insufficient_scope`.",
      body: putOrganizationRequest,
      isBodyOptional: true,
      bodyExample: { name: "Demo organization" },
      answers: putAnswers(resource, organizationExample),
      errors: ["storage_full"],
    }),
    getOrganization: defineOperation({
      ...readOrganizations,
      path: "/admin/organizations/{org}",
      summary: "Get an organization, its limits and its usage",
      answers: {
        200: { description: "The organization.", schema: organizationShown, example: organizationShownExample },
      },
      errors: ["organization_not_found"],
    }),
    deleteOrganization: defineOperation({
      method: "delete",
      path: "/admin/organizations/{org}",
      tag: "Organizations",
      scope: "directory:write",
      summary: "Delete an organization and everything in it",
      description: "Also closes the organization's connections with 4403.",
      answers: { 204: { description: "Deleted." } },
      errors: ["organization_not_found", "storage_full"],
    }),
    listOrganizations: defineOperation({
      ...readOrganizations,
      path: "/admin/organizations",
      limitsItself: true,
      summary: "List organizations, by id",
      query: pageQuery,
      answers: pageAnswers(resourcePage, [organizationExample]),
    }),
    putUser: defineOperation({
      method: "put",
      path: "/admin/organizations/{org}/users/{uid}",
      tag: "Users",
      scope: "directory:write",
      summary: "Create, update, block or unblock a user",
      description:
        "Blocking a user closes the user's connections with 4403. Until the user is unblocked, all of the user's tokens are refused, including tokens issued later. The user's conversations still receive messages, and messages can still be sent on the user's behalf. A deleted user stays blocked.",
      body: putUserRequest,
      isBodyOptional: true,
      bodyExample: { name: "Bob" },
      answers: putAnswers(user, userExample),
      errors: ["organization_not_found", "storage_full"],
    }),
    getUser: defineOperation({
      ...readUsers,
      path: "/admin/organizations/{org}/users/{uid}",
      summary: "Get a user",
      answers: { 200: { description: "The user.", schema: user, example: userExample } },
      errors: ["organization_not_found", "user_not_found"],
    }),
    deleteUser: defineOperation({
      ...deleteOfUsers,
      path: "/admin/organizations/{org}/users/{uid}",
      summary: "Delete a user",
      description:
        "Removes the user from all conversations and closes the user's connections with 4403. The user's messages remain, unless `messages=erase` is given: then every message that the user wrote is taken back, imported ones too, as by `DELETE /admin/message`; participants hear `message_delete`. System messages that the user sent keep only their ids, and the user's name is forgotten. The response comes when all is erased: after about a second for each 20,000 messages of the user, and for each million events of the organization. If the call breaks off, repeat it: it continues, even though the user is already deleted.",
      query: deleteUserQuery,
      answers: { 204: { description: "Deleted, and with `messages=erase` erased." } },
      errors: ["organization_not_found", "user_not_found", "storage_full"],
    }),
    listUsers: defineOperation({
      ...readUsers,
      path: "/admin/organizations/{org}/users",
      summary: "List the users of an organization, by id",
      query: prefixQuery,
      answers: pageAnswers(userPage, [userExample]),
      errors: ["organization_not_found"],
    }),
    revokeToken: defineOperation({
      ...deleteOfUsers,
      path: "/admin/organizations/{org}/users/{uid}/tokens/{jti}",
      summary: "Revoke one token of a user",
      description:
        "Revokes the token with this `jti`, whoever issued it: closes the connections that use it with 4403 and refuses it from now on. The user's other tokens remain valid.",
      answers: { 204: { description: "Revoked, now or earlier." } },
      errors: ["organization_not_found", "user_not_found", "storage_full"],
    }),
    deleteSessions: defineOperation({
      ...deleteOfUsers,
      path: "/admin/organizations/{org}/users/{uid}/sessions",
      summary: "Sign a user out everywhere",
      description: "Closes the user's connections with 4403 and refuses all tokens issued until now.",
      answers: { 204: { description: "Signed out." } },
      errors: ["organization_not_found", "user_not_found", "storage_full"],
    }),
    createToken: defineOperation({
      method: "post",
      path: "/admin/organizations/{org}/users/{uid}/tokens",
      tag: "Users",
      scope: "directory:write",
      summary: "Issue a token for a user",
      description: "The token is a JWT with which the user's client connects.",
      body: createTokenRequestWithin(limits),
      isBodyOptional: true,
      bodyExample: { ttl_seconds: 3600 },
      answers: {
        201: {
          description: "Issued.",
          schema: createTokenResponse,
          example: tokenExample,
        },
      },
      errors: ["organization_not_found", "user_not_found"],
    }),
  };
}
