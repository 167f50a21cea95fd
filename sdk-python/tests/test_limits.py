"""How long calls take, at most, with servers that answer one byte at a time or not at all."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from conftest import problem, script
from listener import Listener, hear, listening

from herald import AsyncHerald, Herald, HeraldError
from herald._core.retries import Attempts, Policy

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n"
ANSWER = HEAD + b'{"id":"u"}'


def drip(content: bytes, over: threading.Event, *, all_at_once: int = 0) -> Callable[[socket.socket], None]:
    """Answers so many bytes at once, and then one each 0.2 s, so that no read of them takes long. The last comes in time for none."""

    def treat(connection: socket.socket) -> None:
        hear(connection)
        connection.sendall(content[:all_at_once])
        for number in range(all_at_once, len(content)):
            if over.wait(0.2):
                return
            connection.sendall(content[number : number + 1])

    return treat


@pytest.fixture
def over() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def get_user(kind: type[Herald] | type[AsyncHerald], url: str, **options: Any) -> Any:
    if kind is Herald:
        with Herald(url, "k", **options) as client:
            return client.get_user("o", "u")

    async def call() -> Any:
        async with AsyncHerald(url, "k", **options) as client:
            return await client.get_user("o", "u")

    return asyncio.run(call())


def timed_out(kind: type[Herald] | type[AsyncHerald], server: Listener, **options: Any) -> HeraldError:
    with pytest.raises(HeraldError) as caught:
        get_user(kind, server.url, **options)
    assert caught.value.code == "unreachable" and "timed out after" in str(caught.value)
    return caught.value


Clients = pytest.mark.parametrize("kind", [Herald, AsyncHerald])


@Clients
@pytest.mark.parametrize("at_once", [0, len(HEAD)])
def test_a_timeout_is_that_of_the_whole_attempt_with_its_head_and_its_body(
    kind: type[Herald] | type[AsyncHerald], at_once: int, over: threading.Event
) -> None:
    with listening(drip(ANSWER, over, all_at_once=at_once)) as server:
        error = timed_out(kind, server, timeout=0.5, retries=0)
        assert error.is_unknown and str(error) == f"no response from {server.url}: timed out after 0.5 s"


@Clients
def test_a_deadline_ends_the_attempt_that_it_comes_in(kind: type[Herald] | type[AsyncHerald], over: threading.Event) -> None:
    with listening(drip(ANSWER, over, all_at_once=len(HEAD))) as server:
        timed_out(kind, server, timeout=30, deadline=0.5)
        assert len(server.connections) == 1


@Clients
def test_a_deadline_ends_an_upload(kind: type[Herald] | type[AsyncHerald], over: threading.Event) -> None:
    async def upload(url: str) -> None:
        async with AsyncHerald(url, "k", deadline=0.5) as client:
            await client.upload("o", "a", b"x")

    with listening(drip(ANSWER, over)) as server, pytest.raises(HeraldError, match="timed out after 0.5 s"):
        if kind is AsyncHerald:
            asyncio.run(upload(server.url))
        else:
            with Herald(server.url, "k", deadline=0.5) as client:
                client.upload("o", "a", b"x")


def test_a_stream_has_to_begin_in_time_and_may_then_take_long(over: threading.Event) -> None:
    lines = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n" + b"{}\n" * 4
    with listening(drip(lines, over)) as server, Herald(server.url, "k", timeout=1.5, retries=0) as client:
        with pytest.raises(HeraldError, match="timed out"):
            list(client.export_organization("o"))
    with listening(drip(lines, over, all_at_once=len(lines) - 12)) as server, Herald(server.url, "k", timeout=1.5) as client:
        assert list(client.export_organization("o")) == [{}] * 4


def test_a_host_is_reached_at_any_of_its_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo

    def find(host: Any, port: Any, *rest: Any, **named: Any) -> Any:
        """A host whose first address listens to nothing."""
        if host != "herald.test":
            return real(host, port, *rest, **named)
        return [real(address, port, type=socket.SOCK_STREAM)[0] for address in ("127.0.0.2", "127.0.0.1")]

    def answer(connection: socket.socket) -> None:
        hear(connection)
        connection.sendall(ANSWER)

    monkeypatch.setattr(socket, "getaddrinfo", find)
    with listening(answer) as server, Herald(f"http://herald.test:{server.port}", "k", retries=0) as client:
        assert client.get_user("o", "u") == {"id": "u"}


def test_the_retries_outlast_a_restart_of_the_server_unless_it_is_said_otherwise(waits: list[float]) -> None:
    for _ in range(50):
        waits.clear()
        with pytest.raises(HeraldError):
            script(*[httpx.ConnectError("refused")] * 10).client().get_user("o", "u")
        assert len(waits) == 9 and 19 <= sum(waits) <= 40 and max(waits) <= 8


def test_waits_double_up_to_a_ceiling_and_differ() -> None:
    error = HeraldError(0, "unreachable", "")
    for chance, first, last in ((0.0, 0.125, 4), (0.999999, 0.25, 8)):
        attempts = Attempts(Policy(9, 30, None, lambda: chance), is_safe=True)
        waits = [attempts.wait_after(error) for _ in range(9)]
        assert [round(wait, 3) for wait in waits[:6]] == [first * 2**number for number in range(6)]
        assert round(waits[-1], 3) == last


def test_the_wait_before_a_retry_does_not_begin_if_it_would_pass_the_deadline(waits: list[float]) -> None:
    server = script(problem(503, "unavailable", {"Retry-After": "2"}))
    with pytest.raises(HeraldError, match="503"):
        server.client(deadline=1.5).get_user("o", "u")
    assert waits == []


def test_limits_that_cannot_be_are_refused() -> None:
    options: dict[str, Any]
    for options in ({"timeout": 0}, {"timeout": -1}, {"timeout": float("nan")}, {"deadline": 0}, {"retries": -1}):
        with pytest.raises(ValueError, match=next(iter(options))):
            Herald("http://herald", "k", **options)
