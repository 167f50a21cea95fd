import { z } from "zod";
import { pageQuery } from "../directory.ts";
import { apiKeyExample, apiKeySecretExample, ownKeyExample } from "../documents/examples.ts";
import { identifier } from "../identifiers.ts";
import { apiKey, apiKeyPage, apiKeyWithSecret, createKeyRequest, ownKey, rotateKeyRequest } from "../keys/keys.ts";
import { defineOperation, noParams, noQuery } from "./operation.ts";

const path = "/admin/keys/{id}";
const params = z.strictObject({
  id: identifier.meta({ description: "The key's id.", examples: [apiKeyExample.id] }),
});
const withSecret = { ...apiKeyExample, key: apiKeySecretExample };

/** API keys (api.md, sections 4 and 5). A caller who is bound to an organization sees and makes only keys of that one. */
export const keyOperations = {
  createKey: defineOperation({
    operationId: "createKey",
    method: "post",
    path: "/admin/keys",
    tag: "Keys",
    scope: "keys:manage",
    limitsItself: true,
    summary: "Make an API key",
    description:
      "A key may do no more than the one that makes it: more scopes, another organization, other senders or networks, or a later end are refused. The answer shows the secret, this once.",
    params: noParams,
    query: noQuery,
    body: createKeyRequest,
    targetOf: ({ organization }) => (typeof organization === "string" ? { organization } : {}),
    bodyExample: {
      name: apiKeyExample.name,
      scopes: apiKeyExample.scopes,
      organization: apiKeyExample.organization,
      allowed_senders: apiKeyExample.allowed_senders,
    },
    answers: { 201: { description: "Made.", schema: apiKeyWithSecret, example: withSecret } },
    errors: ["organization_forbidden", "organization_not_found", "sender_forbidden", "storage_full"],
  }),
  listKeys: defineOperation({
    operationId: "listKeys",
    method: "get",
    path: "/admin/keys",
    tag: "Keys",
    scope: "keys:manage",
    limitsItself: true,
    summary: "List API keys, by id",
    description: "The oldest first. Neither revoked keys nor the bootstrap key are among them; expired ones are.",
    params: noParams,
    query: pageQuery,
    body: undefined,
    answers: {
      200: { description: "A page.", schema: apiKeyPage, example: { items: [apiKeyExample], cursor: null } },
    },
    errors: [],
  }),
  getOwnKey: defineOperation({
    operationId: "getOwnKey",
    method: "get",
    path: "/admin/self",
    tag: "Keys",
    scope: "any",
    limitsItself: true,
    summary: "Get the API key that calls: what it may do",
    params: noParams,
    query: noQuery,
    body: undefined,
    answers: { 200: { description: "Your key.", schema: ownKey, example: ownKeyExample } },
    errors: [],
  }),
  getKey: defineOperation({
    operationId: "getKey",
    method: "get",
    path,
    tag: "Keys",
    scope: "keys:manage",
    limitsItself: true,
    summary: "Get an API key",
    params,
    query: noQuery,
    body: undefined,
    answers: { 200: { description: "The key, without its secret.", schema: apiKey, example: apiKeyExample } },
    errors: ["not_found"],
  }),
  rotateKey: defineOperation({
    operationId: "rotateKey",
    method: "post",
    path: `${path}/rotate`,
    tag: "Keys",
    scope: "keys:manage",
    limitsItself: true,
    summary: "Give an API key a new secret",
    description:
      "The old secret works for the overlap, and answers to who still uses it carry `Herald-Key-Expires`. Secrets of earlier rotations end when they would have, or with the old one if that is sooner. As with a new key, the key may do no more than the one that you use. The id `bootstrap` stands for the admin API key, if the server made it: the new one takes its place in the server's data folder.",
    params,
    query: noQuery,
    body: rotateKeyRequest,
    isBodyOptional: true,
    bodyExample: { overlap_seconds: 3600 },
    answers: {
      200: {
        description: "Rotated.",
        schema: apiKeyWithSecret,
        example: { ...withSecret, old_secret_expires_at: apiKeyExample.expires_at },
      },
    },
    errors: ["bad_request", "organization_forbidden", "sender_forbidden", "not_found", "storage_full"],
  }),
  deleteKey: defineOperation({
    operationId: "deleteKey",
    method: "delete",
    path,
    tag: "Keys",
    scope: "keys:manage",
    limitsItself: true,
    summary: "Revoke an API key",
    description: "It is refused at once here, and within 5 seconds on every node. Calls that are under way finish.",
    params,
    query: noQuery,
    body: undefined,
    answers: { 204: { description: "Revoked." } },
    errors: ["not_found", "storage_full"],
  }),
};
