"""The feed of what is delivered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from .._core.answers import unreachable
from .._core.calls import call_of
from .._core.retries import Attempts
from .._core.streams import EventReader
from ..errors import HeraldError
from ..models import Event, EventKind
from .caller import AsyncCaller
from .io import sleep


class AsyncFeed(AsyncCaller):
    """The call that shows what is delivered."""

    async def events(
        self,
        org: str,
        *,
        after: str | None = None,
        kind: EventKind | None = None,
        types: Sequence[EventKind] | None = None,
        cid: str | None = None,
        uid: str | None = None,
        on_cursor: Callable[[str], None] | None = None,
        on_connect: Callable[[], None] | None = None,
        on_interruption: Callable[[HeraldError, float], None] | None = None,
        silence: float = 90,
    ) -> AsyncGenerator[Event, None]:
        """Yields everything that is delivered in the organization after a cursor, or from now on, in the order of its log.

        An event has one member, named as its kind. `kind`, `types`, `cid` and `uid` select events: `types` those of several
        kinds, `cid` what happens in a conversation, `uid` what a user sends or receives.

        `on_cursor` hears where the feed begins, and just before each event is yielded its cursor: keep it together with what
        the event changed, to go on from there with `after`. If the server does not keep everything since, the feed raises
        `HeraldError` with the code `cursor_too_old`.

        A feed that is interrupted connects again and goes on where it was; with `uid`, which cannot be combined with `after`,
        it omits what is delivered in the meantime. `on_interruption` hears why and in how many seconds, `on_connect` that the
        feed is connected. `silence` is how many seconds nothing may arrive, not even a heartbeat. Raises `HeraldError` if the
        server refuses the feed.
        """
        chosen = {"kind": kind, "types": types, "cid": cid, "uid": uid}
        cursor = after
        attempts = Attempts(replace(self._policy, deadline=None), is_safe=True)
        has_connected = False
        while True:
            try:
                call = call_of("streamEvents", (org,), query={**chosen, "after": cursor if uid is None else after})
                reader = EventReader()
                async with aclosing(self._stream(call, "text/event-stream", silence=silence)) as pieces:
                    async for piece in pieces:
                        if not piece:
                            has_connected = True
                            attempts.succeed()
                            if on_connect is not None:
                                on_connect()
                        try:
                            events = reader.read(piece)
                        except ValueError:
                            raise unreachable(self._root, "the feed has an event that is not JSON") from None
                        for moved, event in events:
                            cursor = moved or cursor
                            if moved and on_cursor is not None:
                                on_cursor(moved)
                            if event is not None:
                                yield event
                raise unreachable(self._root, "the feed ended")
            except HeraldError as error:
                wait = attempts.wait_after(error, is_endless=has_connected)
                if has_connected and on_interruption is not None:
                    on_interruption(error, wait)
                await sleep(wait)
