"""What differs between the client that awaits and the one that blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from threading import Condition, Thread
from time import sleep
from typing import TypeAlias, TypeVar

import httpx
from httpx import Client

from .limits import limit_client, within_limit

T = TypeVar("T")

Source: TypeAlias = Iterable[T]
"""Where many values come from."""


def each(source: Source[T]) -> Generator[T, None, None]:
    """Yields the values of a source."""
    yield from source


def can_run_ahead(source: Source[T]) -> bool:
    """Whether something else goes on while a value is taken: another thread does."""
    return True


@contextmanager
def beside(action: Callable[[], None]) -> Generator[None, None, None]:
    """Runs an action at the same time as the block, in a thread that must end by itself."""
    Thread(target=action, name="herald-pipe", daemon=True).start()
    yield


def within(seconds: float | None, action: Callable[[], T]) -> T:
    """What an action returns. Breaks it off and raises `httpx.TimeoutException` when it takes longer, if that is limited."""
    with within_limit(seconds):
        return action()


class Connections:
    """Clients of HTTP: one for each process, as a fork has the connections of its parent."""

    def __init__(self, given: Client | None) -> None:
        self._given = given
        self._tls = None if given else httpx.create_ssl_context()  # reads many certificates
        self._made: dict[int, Client] = {}

    def client(self) -> Client:
        """The client of this process."""
        if self._given is not None:
            return self._given
        process = os.getpid()
        made = self._made.get(process)
        if made is None:
            for other in [each for each in self._made if each != process]:
                self._made.pop(other, None)  # the connections of the parent, which goes on using them
            new = limit_client(Client(verify=self._tls or True))
            made = self._made.setdefault(process, new)  # no lock: a fork may have one that nobody releases
            if made is not new:
                new.close()
        return made

    def close(self) -> None:
        """Closes the connections of this process. Further calls open new ones."""
        made = self._made.pop(os.getpid(), None)
        if made is not None:
            made.close()


__all__ = [
    "Client",
    "Condition",
    "Connections",
    "Source",
    "beside",
    "can_run_ahead",
    "each",
    "sleep",
    "within",
]
