import type { Page, PageOptions } from "../../types.ts";
import type { WebhookDelivery, WebhookDeliveryState, WebhookEndpoint, WebhookSettings } from "../../webhook-types.ts";
import type { CallOptions, Request } from "../exchange.ts";
import { path, query } from "./paths.ts";

/** Creates the calls about webhooks. */
export function createWebhookCalls(request: Request) {
  return {
    /**
     * Creates a webhook, or changes the one of this `id` and switches it on. Only the answer that creates it has its `secret`: keep
     * that, to verify what comes.
     */
    async putWebhook(
      org: string,
      id: string,
      settings: WebhookSettings,
      options: CallOptions = {},
    ): Promise<WebhookEndpoint & { secret?: string }> {
      return request("PUT", path`/admin/organizations/${org}/webhooks/${id}`, settings, options);
    },
    /** Reads a webhook, without its secret. */
    async getWebhook(org: string, id: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
      return request("GET", path`/admin/organizations/${org}/webhooks/${id}`, undefined, options);
    },
    /** Lists the webhooks of an organization, by id. */
    async listWebhooks(org: string, page: PageOptions = {}, options: CallOptions = {}): Promise<Page<WebhookEndpoint>> {
      return request("GET", path`/admin/organizations/${org}/webhooks` + query(page), undefined, options);
    },
    /** Deletes a webhook. */
    async deleteWebhook(org: string, id: string, options: CallOptions = {}): Promise<void> {
      return request("DELETE", path`/admin/organizations/${org}/webhooks/${id}`, undefined, options);
    },
    /** Makes a new secret, which only this answer has. For a day, both sign. It is not repeated if the outcome is unknown. */
    async rotateWebhook(
      org: string,
      id: string,
      options: CallOptions = {},
    ): Promise<WebhookEndpoint & { secret: string }> {
      return request("POST", path`/admin/organizations/${org}/webhooks/${id}/rotate`, undefined, options);
    },
    /** Posts a test, and resolves with what became of it: see `state` and `last_try`. */
    async testWebhook(org: string, id: string, options: CallOptions = {}): Promise<WebhookDelivery> {
      return request("POST", path`/admin/organizations/${org}/webhooks/${id}/test`, undefined, options);
    },
    /** Lists what was posted to a webhook, or will be, newest first: what is in one `state`, or all. */
    async listWebhookDeliveries(
      org: string,
      id: string,
      page: PageOptions & { state?: WebhookDeliveryState } = {},
      options: CallOptions = {},
    ): Promise<Page<WebhookDelivery>> {
      return request(
        "GET",
        path`/admin/organizations/${org}/webhooks/${id}/deliveries` + query(page),
        undefined,
        options,
      );
    },
    /** Posts a delivery again, with the same `webhook-id`. */
    async redeliverWebhook(
      org: string,
      id: string,
      delivery: string,
      options: CallOptions = {},
    ): Promise<WebhookDelivery> {
      return request(
        "POST",
        path`/admin/organizations/${org}/webhooks/${id}/deliveries/${delivery}/redeliver`,
        undefined,
        options,
      );
    },
  };
}
