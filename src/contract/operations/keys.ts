import { pageQuery } from "../directory.ts";
import { apiKeyExample } from "../documents/examples.ts";
import { apiKey, apiKeyPage, apiKeyWithSecret, createKeyRequest, ownKey, rotateKeyRequest } from "../keys/keys.ts";
import { defineOperation, pageAnswers } from "./operation.ts";

const managed = { tag: "Keys", scope: "keys:manage", limitsItself: true } as const;
const { id, name, scopes, organization, allowed_senders, expires_at } = apiKeyExample;
// The checksum is wrong, so that no server accepts it.
const withSecret = { ...apiKeyExample, key: `hk_${id}_8SecretSecretSecretSecretSecretS000000` };

/** API keys (api.md, sections 4 and 5). A key that is bound to an organization sees and creates only keys of that organization. */
export const keyOperations = {
  createKey: defineOperation({
    method: "post",
    path: "/admin/keys",
    ...managed,
    summary: "Create an API key",
    description:
      "The new key may do no more than the calling key: a request for more scopes, another organization, other senders or networks, or a later expiry is refused. The response shows the secret, only this once.",
    body: createKeyRequest,
    targetOf: (body) => (typeof body.organization === "string" ? { organization: body.organization } : {}),
    bodyExample: { name, scopes, organization, allowed_senders },
    answers: { 201: { description: "Created.", schema: apiKeyWithSecret, example: withSecret } },
    errors: ["organization_forbidden", "organization_not_found", "sender_forbidden", "storage_full"],
  }),
  listKeys: defineOperation({
    method: "get",
    path: "/admin/keys",
    ...managed,
    summary: "List API keys, by id",
    description: "Oldest first. Includes expired keys, but neither revoked keys nor the bootstrap key.",
    query: pageQuery,
    answers: pageAnswers(apiKeyPage, [apiKeyExample]),
  }),
  getOwnKey: defineOperation({
    method: "get",
    path: "/admin/self",
    tag: "Keys",
    scope: "any",
    limitsItself: true,
    summary: "Get the calling API key and what it may do",
    answers: {
      200: {
        description: "The calling key.",
        schema: ownKey,
        example: {
          id,
          key_id: id,
          name,
          scopes,
          organization,
          organizations: null,
          allowed_senders,
          expires_at,
          session_id: null,
        },
      },
    },
  }),
  getKey: defineOperation({
    method: "get",
    path: "/admin/keys/{id}",
    ...managed,
    summary: "Get an API key",
    answers: { 200: { description: "The key, without its secret.", schema: apiKey, example: apiKeyExample } },
    errors: ["not_found"],
  }),
  rotateKey: defineOperation({
    method: "post",
    path: "/admin/keys/{id}/rotate",
    ...managed,
    summary: "Rotate the secret of an API key",
    description:
      "The old secret keeps working for the overlap. Responses to callers that still use it carry `Herald-Key-Expires`. Secrets from earlier rotations expire at their own time, or with the old secret if that is sooner. As when you create a key, the rotated key may do no more than the calling key. The id `bootstrap` stands for the admin API key, if the server generated it: the new key replaces it in the server's data folder.",
    body: rotateKeyRequest,
    isBodyOptional: true,
    bodyExample: { overlap_seconds: 3600 },
    answers: {
      200: {
        description: "Rotated.",
        schema: apiKeyWithSecret,
        example: { ...withSecret, old_secret_expires_at: expires_at },
      },
    },
    errors: ["bad_request", "organization_forbidden", "sender_forbidden", "not_found", "storage_full"],
  }),
  deleteKey: defineOperation({
    method: "delete",
    path: "/admin/keys/{id}",
    ...managed,
    summary: "Revoke an API key",
    description:
      "This node refuses the key immediately, and every other node within 5 seconds. Calls in progress are completed.",
    answers: { 204: { description: "Revoked." } },
    errors: ["not_found", "storage_full"],
  }),
};
