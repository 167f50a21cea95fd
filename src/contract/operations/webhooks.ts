import { pageQuery } from "../directory.ts";
import {
  webhookDeliveryExample,
  webhookExample,
  webhookSecretExample,
  webhookTestExample,
} from "../documents/webhook-examples.ts";
import {
  putWebhookOutcome,
  putWebhookRequest,
  webhook,
  webhookDelivery,
  webhookDeliveryPage,
  webhookDeliveryQuery,
  webhookPage,
  webhookWithSecret,
} from "../webhooks/webhooks.ts";
import { defineOperation, pageAnswers } from "./operation.ts";

const managed = { tag: "Webhooks", scope: "webhooks:manage" } as const;
const withSecret = { ...webhookExample, secret: webhookSecretExample };
const shown = { description: "The webhook.", schema: webhook, example: webhookExample };
const { last_try } = webhookDeliveryExample;
const delivered = {
  ...webhookDeliveryExample,
  state: "delivered" as const,
  next_try_at: null,
  last_try: { ...last_try, status: 204, error: null, answer: "" },
  request: webhookTestExample,
};
const waiting = { ...webhookDeliveryExample, tries: 0, next_try_at: last_try.at };

/** Webhooks for who was not reached (api.md, section 4.3). */
export const webhookOperations = {
  putWebhook: defineOperation({
    method: "put",
    path: "/admin/organizations/{org}/webhooks/{wid}",
    ...managed,
    summary: "Create or change a webhook",
    description:
      "A few seconds after each message or system message, Herald checks whom it has not reached. If there is anyone, Herald posts their ids to the webhook, signed as Standard Webhooks 1.0 specifies, at least once: it tries for three days until the receiver answers 2xx. Messages sent before the webhook was created are not posted. A receiver that answers 410 switches the webhook off; this call switches it on again. An organization has at most 20 webhooks.",
    body: putWebhookRequest,
    bodyExample: { url: webhookExample.url, events: webhookExample.events, wait_seconds: 10, until: "delivered" },
    answers: {
      200: {
        description: "Changed, with the secret that it has.",
        schema: webhook,
        commonSchema: putWebhookOutcome,
        example: webhookExample,
      },
      201: {
        description: "Created, with its secret, which is shown only this once.",
        schema: webhookWithSecret,
        example: withSecret,
      },
    },
    errors: ["organization_not_found", "storage_full"],
  }),
  getWebhook: defineOperation({
    method: "get",
    path: "/admin/organizations/{org}/webhooks/{wid}",
    ...managed,
    summary: "Get a webhook",
    answers: { 200: shown },
    errors: ["organization_not_found", "not_found"],
  }),
  listWebhooks: defineOperation({
    method: "get",
    path: "/admin/organizations/{org}/webhooks",
    ...managed,
    summary: "List the webhooks of an organization, by id",
    query: pageQuery,
    answers: pageAnswers(webhookPage, [webhookExample]),
    errors: ["organization_not_found"],
  }),
  deleteWebhook: defineOperation({
    method: "delete",
    path: "/admin/organizations/{org}/webhooks/{wid}",
    ...managed,
    summary: "Delete a webhook",
    description: "Nothing more is posted to it, except what is on its way.",
    answers: { 204: { description: "Deleted." } },
    errors: ["organization_not_found", "not_found", "storage_full"],
  }),
  rotateWebhook: defineOperation({
    method: "post",
    path: "/admin/organizations/{org}/webhooks/{wid}/rotate",
    ...managed,
    summary: "Make a new secret",
    description: "For 24 hours, posts are signed with both the old secret and the new one.",
    answers: {
      200: {
        description: "Rotated, with the new secret, which is shown only this once.",
        schema: webhookWithSecret,
        example: withSecret,
      },
    },
    errors: ["organization_not_found", "not_found", "storage_full"],
  }),
  testWebhook: defineOperation({
    method: "post",
    path: "/admin/organizations/{org}/webhooks/{wid}/test",
    ...managed,
    summary: "Post a test",
    description:
      "Posts a `webhook.test` now, once, and responds when the receiver has answered, or after 15 s. An organization may do this six times a minute; further calls get 429 with `Retry-After`. `state` is `delivered` if the receiver answered 2xx; otherwise it is `failed`, and `last_try` says why.",
    answers: { 200: { description: "What became of it.", schema: webhookDelivery, example: delivered } },
    errors: ["organization_not_found", "not_found", "storage_full"],
  }),
  listWebhookDeliveries: defineOperation({
    method: "get",
    path: "/admin/organizations/{org}/webhooks/{wid}/deliveries",
    ...managed,
    audit: "all", // it shows message content
    summary: "List what was posted to a webhook, newest first",
    description: "Deliveries that succeeded are kept for 3 days, others for 30 days. A page holds at most 100 items.",
    query: webhookDeliveryQuery,
    answers: pageAnswers(webhookDeliveryPage, [webhookDeliveryExample]),
    errors: ["organization_not_found", "not_found"],
  }),
  redeliverWebhook: defineOperation({
    method: "post",
    path: "/admin/organizations/{org}/webhooks/{wid}/deliveries/{did}/redeliver",
    ...managed,
    summary: "Post a delivery again",
    description: "Posts it now, with the same `webhook-id`; if that fails, its tries begin anew.",
    answers: { 202: { description: "It will be posted.", schema: webhookDelivery, example: waiting } },
    errors: ["organization_not_found", "not_found", "storage_full"],
  }),
};
