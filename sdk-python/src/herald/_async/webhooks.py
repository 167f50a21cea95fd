"""Webhooks for who was not reached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import PutWebhookRequest, Webhook, WebhookDelivery, WebhookDeliveryState, WebhookWithSecret
from .caller import AsyncCaller, AsyncPages

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncWebhooks(AsyncCaller):
    """The calls about webhooks. `herald.webhooks` verifies what they post."""

    async def put_webhook(self, org: str, id: str, **fields: Unpack[PutWebhookRequest]) -> WebhookWithSecret:
        """Creates a webhook, or changes the one of this `id` and switches it on.

        Only the answer that creates it has its `secret`.
        """
        return await self._call(WebhookWithSecret, "putWebhook", (org, id), body=fields)

    async def get_webhook(self, org: str, id: str) -> Webhook:
        """Reads a webhook, without its secret."""
        return await self._call(Webhook, "getWebhook", (org, id))

    def webhooks(self, org: str) -> AsyncPages[Webhook]:
        """The webhooks of an organization, by id."""
        return AsyncPages(self, "listWebhooks", (org,))

    async def delete_webhook(self, org: str, id: str) -> None:
        """Deletes a webhook."""
        await self._run("deleteWebhook", (org, id))

    async def rotate_webhook(self, org: str, id: str) -> WebhookWithSecret:
        """Makes a new secret, which only this answer has. For a day, both sign."""
        return await self._call(WebhookWithSecret, "rotateWebhook", (org, id))

    async def test_webhook(self, org: str, id: str) -> WebhookDelivery:
        """Posts a test, and returns what became of it: see `state` and `last_try`."""
        return await self._call(WebhookDelivery, "testWebhook", (org, id))

    def webhook_deliveries(
        self, org: str, id: str, *, state: WebhookDeliveryState | None = None
    ) -> AsyncPages[WebhookDelivery]:
        """What was posted to a webhook, or will be, newest first: what is in one state, or all."""
        return AsyncPages(self, "listWebhookDeliveries", (org, id), {"state": state})

    async def redeliver_webhook(self, org: str, id: str, delivery: str) -> WebhookDelivery:
        """Posts a delivery again, with the same `webhook-id`."""
        return await self._call(WebhookDelivery, "redeliverWebhook", (org, id, delivery))
