"""What differs between the client that awaits and the one that blocks."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from typing import TypeAlias, TypeVar

from httpx import AsyncClient

T = TypeVar("T")

Source: TypeAlias = Iterable[T] | AsyncIterable[T]
"""Where many values come from."""


async def each(source: Source[T]) -> AsyncGenerator[T, None]:
    """Yields the values of a source."""
    if isinstance(source, AsyncIterable):
        async for value in source:
            yield value
    else:
        for value in source:
            yield value


__all__ = ["AsyncClient", "Source", "each", "sleep"]
