"""What differs between the client that awaits and the one that blocks."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from time import sleep
from typing import TypeAlias, TypeVar

from httpx import Client

T = TypeVar("T")

Source: TypeAlias = Iterable[T]
"""Where many values come from."""


def each(source: Source[T]) -> Generator[T, None, None]:
    """Yields the values of a source."""
    yield from source


__all__ = ["Client", "Source", "each", "sleep"]
