"""Calls with their retries, lists and streams."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

import httpx

from .._core.addresses import no_address, read_address
from .._core.answers import Answer, failure_of, has_type, read_answer, unreachable
from .._core.calls import Call, Value, call_of
from .._core.failures import failure_without_answer, is_untrusted, may_be_wrong_scheme, other_scheme, wrong_scheme
from .._core.operations import Operation
from .._core.pieces import Piece
from .._core.retries import RETRIES, Attempts, Policy
from .._core.secrets import header_secret
from .._core.streams import LineReader
from ..errors import HeraldError
from ..results import Page
from .io import AsyncClient, AsyncConnections, sleep, within

T = TypeVar("T")

LINES = "application/x-ndjson"
_ITEMS_OF_PAGE = 1000
_PROBE_SECONDS = 2


class AsyncCaller:
    """Calls one server with one key."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        retries: int = RETRIES,
        timeout: float = 30,
        deadline: float | None = None,
        http_client: AsyncClient | None = None,
    ) -> None:
        """`url` is the address of the server, whose path becomes a prefix of every path; `key` is an API key, which belongs on
        servers only. White space around them is left out. Raises `ValueError` for what cannot be used, without the key.

        A failed call is repeated up to `retries` times, which takes 20 to 40 seconds unless it is said otherwise. One attempt
        may take `timeout` seconds from its beginning to the last byte of the answer, and a call with all its attempts and the
        waits between them `deadline` seconds; neither counts for streams once they have begun.

        It may be used by all threads and event loops, and in processes that are forked: each of these has connections of its
        own. `http_client` is used instead of clients of our own, and stays open. It belongs to one process and, if it awaits,
        to one event loop; and if it blocks, its own time limits are for each read and write.
        """
        self._root = read_address(url)
        self._key = header_secret("the API key", key)
        self._policy = Policy(retries, timeout, deadline)
        self._connections = AsyncConnections(http_client)
        self._has_answered = False

    async def aclose(self) -> None:
        """Closes the connections. Further calls open new ones."""
        await self._connections.aclose()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._root}>"

    async def _call(
        self,
        answer: type[T],
        operation: Operation,
        ids: Sequence[str] = (),
        *,
        query: Mapping[str, Value] | None = None,
        body: object = None,
    ) -> T:
        """Makes a call whose answer is of this type."""
        return cast(T, (await self._exchange(call_of(operation, ids, query=query, body=body))).body)

    async def _run(
        self,
        operation: Operation,
        ids: Sequence[str] = (),
        *,
        query: Mapping[str, Value] | None = None,
        body: object = None,
    ) -> None:
        """Makes a call whose answer says nothing."""
        await self._exchange(call_of(operation, ids, query=query, body=body))

    async def _exchange(self, call: Call) -> Answer:
        """Makes a call with its retries."""
        attempts = Attempts(self._policy, is_safe=call.is_safe, extra=call.extra)
        while True:
            try:
                return await self._attempt(call, attempts.timeout)
            except HeraldError as error:
                wait = attempts.wait_after(error)
            await sleep(wait)

    async def _attempt(self, call: Call, limit: float) -> Answer:
        request = self._request(call, call.body, {}, httpx.Timeout(limit))
        try:
            response = await within(limit, lambda: self._send_request(request))
        except httpx.RequestError as cause:
            failure = cause
        else:
            return read_answer(call, response.status_code, response.headers, response.content)
        raise await self._failure(failure, limit)

    def _request(self, call: Call, content: Any, headers: Mapping[str, str], timeout: httpx.Timeout) -> httpx.Request:
        """The only place where the key is a variable: errors keep those of the calls that they come from."""
        bearer = {} if call.bearer is None else {"Authorization": f"Bearer {call.bearer.reveal()}"}
        return self._connections.client().build_request(
            call.method,
            self._root + call.target,
            content=content,
            headers={**call.headers, **bearer, **headers, "Admin-Api-Key": self._key.reveal()},
            timeout=timeout,
        )

    async def _send_request(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        """Sends a request. A redirect is not followed: the key would go there, too."""
        response = None
        with suppress(httpx.InvalidURL):  # of a redirect, which is read although it is not followed
            response = await self._connections.client().send(request, stream=stream, follow_redirects=False)
        self._has_answered = True
        if response is None:
            raise no_address()
        return response

    async def _failure(self, cause: httpx.RequestError, limit: float | None, origin: str | None = None) -> HeraldError:
        """The error of a call that got no answer. `origin` is where it went, if not to the server."""
        if not self._has_answered and may_be_wrong_scheme(self._root, cause) and await self._speaks_other_scheme():
            return wrong_scheme(self._root)
        return failure_without_answer(self._connections.client(), origin or self._root, cause, limit)

    async def _speaks_other_scheme(self) -> bool:
        """Whether a server answers with the other scheme. The request has no key."""
        client = self._connections.client()
        request = client.build_request("HEAD", other_scheme(self._root), timeout=_PROBE_SECONDS)
        try:
            response = await within(_PROBE_SECONDS, lambda: client.send(request, stream=True, follow_redirects=False))
            await response.aclose()
        except httpx.RequestError as cause:
            return is_untrusted(cause)
        return True

    async def _stream(
        self, call: Call, content_type: str, *, body: bytes | None = None, silence: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yields the bytes of a stream as they come, first none when it begins. `silence` is how many seconds may pass without
        any."""
        headers = {"Accept": content_type}
        if body is not None:
            headers["Content-Type"] = content_type
        limit = self._policy.timeout
        request = self._request(call, body, headers, httpx.Timeout(limit, read=silence or limit))
        try:
            response = await within(limit, lambda: self._send_request(request, stream=True))
            try:
                if response.status_code != httpx.codes.OK or not has_type(response.headers, content_type):
                    content = await within(limit, response.aread)
                    raise failure_of(response.status_code, response.headers, content)
                yield b""
                async for piece in response.aiter_bytes():
                    yield piece
                return
            finally:
                await response.aclose()
        except httpx.RequestError as cause:
            failure = cause
        raise await self._failure(failure, None)

    async def _lines(self, call: Call, *, body: bytes | None = None) -> AsyncGenerator[Any, None]:
        """Yields the values of an answer that consists of lines."""
        reader = LineReader()
        async with aclosing(self._stream(call, LINES, body=body)) as pieces:
            async for piece in pieces:
                try:
                    values = reader.read_json(piece)
                except ValueError:
                    raise unreachable(self._root, "the answer has a line that is not JSON") from None
                for value in values:
                    yield value
        if not reader.is_done:
            raise unreachable(self._root, "the answer ended in the middle of a line")

    async def _send_piece(self, call: Call, piece: Piece) -> AsyncGenerator[Any, None]:
        """Sends lines until the server has said all about them. Yields what it says."""
        attempts = Attempts(replace(self._policy, deadline=None), is_safe=True)
        while not piece.is_done:
            try:
                async with aclosing(self._lines(call, body=piece.body)) as lines:
                    async for line in lines:
                        for report in piece.read(line):
                            attempts.succeed()
                            yield report
                if not piece.is_done:
                    raise unreachable(self._root, "the answer ended early")
            except HeraldError as error:
                wait = attempts.wait_after(error)
                await sleep(wait)


class AsyncPages(Generic[T]):
    """A list on the server: iterate over it, or read it page by page."""

    def __init__(
        self, caller: AsyncCaller, operation: Operation, ids: Sequence[str], query: Mapping[str, Value] | None = None
    ) -> None:
        self._caller = caller
        self._operation: Operation = operation
        self._ids = ids
        self._query = query or {}

    async def page(self, *, limit: int | None = None, cursor: str | None = None) -> Page[T]:
        """A page of up to `limit` items (100 unless it is said, at most 1,000), from the `cursor` of the page before."""
        query = {**self._query, "limit": limit, "cursor": cursor}
        answer: Any = await self._caller._call(dict, self._operation, self._ids, query=query)
        return Page(answer["items"], answer["cursor"])

    async def __aiter__(self) -> AsyncGenerator[T, None]:
        page = await self.page(limit=_ITEMS_OF_PAGE)
        while True:
            for item in page.items:
                yield item
            if page.cursor is None:
                return
            page = await self.page(limit=_ITEMS_OF_PAGE, cursor=page.cursor)
