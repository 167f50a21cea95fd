"""Sends at a later time."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from .._core.calls import time_text
from ..models import DryRun, ScheduledSend, ScheduledState, Send, SendMessageRequest, SendSystemMessageRequest
from .caller import AsyncCaller, AsyncPages

_Request = Send | SendMessageRequest | SendSystemMessageRequest


class AsyncSchedule(AsyncCaller):
    """The calls about scheduled sends."""

    async def schedule(self, org: str, id: str, *, send_at: datetime | str, request: _Request) -> ScheduledSend:
        """Schedules a send, or replaces the one of this `id` that waits.

        It is checked now, and sent once at its time. The same call again changes nothing.
        """
        body = {"send_at": time_text(send_at), "request": request}
        return await self._call(ScheduledSend, "putScheduled", (org, id), body=body)

    async def try_schedule(self, org: str, id: str, *, send_at: datetime | str, request: _Request) -> DryRun:
        """Checks a send, and returns whom it would reach now. Nothing is scheduled."""
        body = {"send_at": time_text(send_at), "request": request}
        answer: Any = await self._call(dict, "putScheduled", (org, id), query={"dry_run": True}, body=body)
        return cast(DryRun, answer["dry_run"])

    async def get_scheduled(self, org: str, id: str) -> ScheduledSend:
        """Reads a scheduled send, or what became of it."""
        return await self._call(ScheduledSend, "getScheduled", (org, id))

    def scheduled(self, org: str, *, state: ScheduledState | None = None) -> AsyncPages[ScheduledSend]:
        """Scheduled sends by time: those in one state, or all."""
        return AsyncPages(self, "listScheduled", (org,), {"state": state})

    async def cancel_scheduled(self, org: str, id: str) -> None:
        """Cancels a scheduled send, which then is never sent. Fails with `already_sent` if it was, or has failed."""
        await self._run("deleteScheduled", (org, id))
