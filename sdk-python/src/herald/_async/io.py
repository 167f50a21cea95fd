"""What differs between the client that awaits and the one that blocks."""

from __future__ import annotations

import asyncio
import os
from asyncio import Condition as AsyncCondition
from asyncio import sleep
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeAlias, TypeVar

import httpx
from httpx import AsyncClient

T = TypeVar("T")

Source: TypeAlias = Iterable[T] | AsyncIterable[T]
"""Where many values come from."""

# The limits of httpx, which are for one step, come first: it does not close what is cancelled during the handshake of TLS.
_GRACE_SECONDS = 0.05


async def each(source: Source[T]) -> AsyncGenerator[T, None]:
    """Yields the values of a source."""
    if isinstance(source, AsyncIterable):
        async for value in source:
            yield value
    else:
        for value in source:
            yield value


def can_run_ahead(source: Source[T]) -> bool:
    """Whether something else goes on while a value is taken: nothing does while a loop runs over what does not await."""
    return isinstance(source, AsyncIterable)


@asynccontextmanager
async def beside(action: Callable[[], Awaitable[None]]) -> AsyncGenerator[None, None]:
    """Runs an action at the same time as the block, and breaks it off with that."""
    task = asyncio.ensure_future(action())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def within(seconds: float | None, action: Callable[[], Awaitable[T]]) -> T:
    """What an action returns. Breaks it off and raises `httpx.TimeoutException` when it takes longer, if that is limited."""
    try:
        return await asyncio.wait_for(action(), None if seconds is None else seconds + _GRACE_SECONDS)
    except asyncio.TimeoutError:
        raise httpx.ReadTimeout("timed out") from None


class AsyncConnections:
    """Clients of HTTP: one for each event loop, whose connections belong to it. A process that was forked has its own."""

    def __init__(self, given: AsyncClient | None) -> None:
        self._given = given
        self._tls = None if given else httpx.create_ssl_context()  # reads many certificates
        self._made: dict[asyncio.AbstractEventLoop, AsyncClient] = {}
        self._process = os.getpid()

    def client(self) -> AsyncClient:
        """The client of the loop that runs."""
        if self._given is not None:
            return self._given
        if self._process != os.getpid():
            self._made = {}  # the connections of the parent, which goes on using them
            self._process = os.getpid()
        loop = asyncio.get_running_loop()
        made = self._made.get(loop)
        if made is None:
            for other in list(self._made):
                if other.is_closed():
                    self._made.pop(other, None)  # nothing can be closed any more in a loop that has ended
            made = self._made[loop] = AsyncClient(verify=self._tls or True)
        return made

    async def aclose(self) -> None:
        """Closes the connections of this loop. Further calls open new ones."""
        made = self._made.pop(asyncio.get_running_loop(), None) if self._process == os.getpid() else None
        if made is not None:
            await made.aclose()


__all__ = [
    "AsyncClient",
    "AsyncCondition",
    "AsyncConnections",
    "Source",
    "beside",
    "can_run_ahead",
    "each",
    "sleep",
    "within",
]
