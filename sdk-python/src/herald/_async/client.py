"""The client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .directory import AsyncDirectory
from .feed import AsyncFeed
from .files import AsyncFiles
from .keys import AsyncKeys
from .messages import AsyncMessages
from .proposals import AsyncProposals
from .reports import AsyncReports
from .schedule import AsyncSchedule
from .server import AsyncServer
from .transfer import AsyncTransfer
from .webhooks import AsyncWebhooks

if TYPE_CHECKING:
    from typing_extensions import Self


class AsyncHerald(
    AsyncMessages,
    AsyncSchedule,
    AsyncProposals,
    AsyncDirectory,
    AsyncReports,
    AsyncKeys,
    AsyncTransfer,
    AsyncWebhooks,
    AsyncFiles,
    AsyncFeed,
    AsyncServer,
):
    """The admin API of a Herald server. All methods raise `HeraldError` when a call fails.

    Calls are repeated after 429, and after 500, 502, 503, 504, 507 or no answer if they may be done twice, which every send
    may. Leave streams with `break`, and close them: they hold a connection.
    """

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
