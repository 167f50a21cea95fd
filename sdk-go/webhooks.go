package herald

import (
	"context"
	"iter"
	"net/http"
)

// PutWebhook creates a webhook, or changes the one of this id and switches it on. Only the answer that creates it has its Secret.
// Package webhooks verifies what it posts.
func (c *Client) PutWebhook(ctx context.Context, org, id string, fields PutWebhookRequest) (*WebhookWithSecret, error) {
	return put[WebhookWithSecret](ctx, c, fields, webhook(org, id)...)
}

// GetWebhook reads a webhook, without its secret.
func (c *Client) GetWebhook(ctx context.Context, org, id string) (*Webhook, error) {
	return get[Webhook](ctx, c, nil, webhook(org, id)...)
}

// DeleteWebhook deletes a webhook.
func (c *Client) DeleteWebhook(ctx context.Context, org, id string) error {
	return c.remove(ctx, nil, webhook(org, id)...)
}

// RotateWebhook makes a new secret, which only this answer has. For a day, both sign. It is not retried if the outcome is unknown.
func (c *Client) RotateWebhook(ctx context.Context, org, id string) (*WebhookWithSecret, error) {
	return answer[WebhookWithSecret](ctx, c, call{method: http.MethodPost, path: webhook(org, id, "rotate")})
}

// TestWebhook posts a test, and returns what became of it: see State and LastTry.
func (c *Client) TestWebhook(ctx context.Context, org, id string) (*WebhookDelivery, error) {
	return answer[WebhookDelivery](ctx, c, call{method: http.MethodPost, path: webhook(org, id, "test")})
}

// RedeliverWebhook posts a delivery again, with the same webhook-id.
func (c *Client) RedeliverWebhook(ctx context.Context, org, id, delivery string) (*WebhookDelivery, error) {
	path := webhook(org, id, "deliveries", delivery, "redeliver")
	return answer[WebhookDelivery](ctx, c, call{method: http.MethodPost, path: path})
}

// ListWebhooks reads a page of the webhooks of an organization, by id.
func (c *Client) ListWebhooks(ctx context.Context, org string, page PageOptions) (*Page[Webhook], error) {
	return listPage[Webhook](ctx, c, webhooksOf(org), page)
}

// Webhooks yields the webhooks of an organization, by id.
func (c *Client) Webhooks(ctx context.Context, org string) iter.Seq2[Webhook, error] {
	return each[Webhook](ctx, c, webhooksOf(org))
}

// ListWebhookDeliveries reads a page of what was posted to a webhook, or will be, newest first: what is in one state or, if it is
// empty, all.
func (c *Client) ListWebhookDeliveries(ctx context.Context, org, id string, state WebhookDeliveryState, page PageOptions) (*Page[WebhookDelivery], error) {
	return listPage[WebhookDelivery](ctx, c, webhookDeliveries(org, id, state), page)
}

// WebhookDeliveries yields what was posted to a webhook, or will be, newest first: what is in one state or, if it is empty, all.
func (c *Client) WebhookDeliveries(ctx context.Context, org, id string, state WebhookDeliveryState) iter.Seq2[WebhookDelivery, error] {
	return each[WebhookDelivery](ctx, c, webhookDeliveries(org, id, state))
}

func webhook(org, id string, more ...string) []string {
	return organization(org, append([]string{"webhooks", id}, more...)...)
}

func webhooksOf(org string) list { return list{path: organization(org, "webhooks")} }

func webhookDeliveries(org, id string, state WebhookDeliveryState) list {
	return list{path: webhook(org, id, "deliveries"), query: query{param("state", string(state))}}
}
