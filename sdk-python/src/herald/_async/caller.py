"""Calls with their retries, lists and streams."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

import httpx

from .._core.answers import Answer, failure_of, read_answer, require_type, unreachable
from .._core.calls import Call, Value, call_of
from .._core.operations import Operation
from .._core.pieces import Piece
from .._core.retries import Attempts, Policy
from .._core.streams import LineReader
from ..errors import HeraldError
from ..results import Page
from .io import AsyncClient, sleep

T = TypeVar("T")

LINES = "application/x-ndjson"
_ITEMS_OF_PAGE = 1000


class AsyncCaller:
    """Calls one server with one key."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        retries: int = 5,
        timeout: float = 30,
        deadline: float | None = None,
        http_client: AsyncClient | None = None,
    ) -> None:
        """`url` is the address of the server, whose path becomes a prefix of every path; `key` is an API key, which belongs on
        servers only.

        A failed call is repeated up to `retries` times. One attempt may take `timeout` seconds, and a call with all its
        attempts `deadline` seconds; neither counts for streams once they have begun. `http_client` is used instead of a
        client of our own, and stays open.
        """
        address = httpx.URL(url)
        if address.scheme not in ("http", "https") or not address.host:
            raise ValueError(f"the address of the server must begin with http:// or https://, not be {url!r}")
        if not key:
            raise ValueError("there is no API key")
        self._root = str(address.copy_with(query=None, fragment=None)).rstrip("/")
        self._key = key
        self._policy = Policy(retries, timeout, deadline)
        self._owns_http = http_client is None
        self._http = http_client or AsyncClient()

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owns_http:
            await self._http.aclose()

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
                await sleep(attempts.wait_after(error))

    async def _attempt(self, call: Call, timeout: float) -> Answer:
        try:
            response = await self._http.request(
                call.method,
                self._root + call.target,
                content=call.body,
                headers=self._headers(call),
                timeout=timeout,
                follow_redirects=False,  # the key would follow, too
            )
        except httpx.RequestError as cause:
            raise unreachable(self._root, cause) from cause
        return read_answer(call, response.status_code, response.headers, response.content)

    def _headers(self, call: Call) -> dict[str, str]:
        return {**call.headers, "Admin-Api-Key": self._key}

    async def _stream(
        self, call: Call, content_type: str, *, body: bytes | None = None, silence: float | None = None
    ) -> AsyncGenerator[bytes, None]:
        """Yields the bytes of a stream as they come, first none when it begins. `silence` is how many seconds may pass without
        any."""
        headers = {**self._headers(call), "Accept": content_type}
        if body is not None:
            headers["Content-Type"] = content_type
        timeout = httpx.Timeout(self._policy.timeout, read=silence or self._policy.timeout)
        try:
            async with self._http.stream(
                call.method,
                self._root + call.target,
                content=body,
                headers=headers,
                timeout=timeout,
                follow_redirects=False,
            ) as response:
                if not require_type(response.status_code, response.headers, content_type):
                    raise failure_of(response.status_code, response.headers, await response.aread())
                yield b""
                async for piece in response.aiter_bytes():
                    yield piece
        except httpx.RequestError as cause:
            raise unreachable(self._root, cause) from cause

    async def _lines(self, call: Call, *, body: bytes | None = None) -> AsyncGenerator[Any, None]:
        """Yields the values of an answer that consists of lines."""
        reader = LineReader()
        async with aclosing(self._stream(call, LINES, body=body)) as pieces:
            async for piece in pieces:
                for value in reader.read_json(piece):
                    yield value

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
                await sleep(attempts.wait_after(error))


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
