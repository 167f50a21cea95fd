"""Calls, their answers and their retries, against a server that answers as told."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime, timezone
from threading import Event
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from conftest import problem, script
from listener import hear, listening

from herald import AsyncHerald, Herald, HeraldError, new_id
from herald._core.answers import read_retry_after
from herald.models import SendMessageRequest

ASK = {"ask": {"mid": "m", "server_mid": "s", "t": 1}}
SEND: SendMessageRequest = {"organizationId": "o", "senderId": "u", "message": {"cid": "c", "body": "hi"}}


def stored(**headers: str) -> httpx.Response:
    return httpx.Response(201, json=ASK, headers={name.replace("_", "-"): value for name, value in headers.items()})


def test_a_send_is_repeated_with_the_same_id_until_it_is_answered(waits: list[float]) -> None:
    server = script(
        problem(503, "unavailable", {"Retry-After": "1"}),
        problem(507, "storage_full"),
        problem(500, "internal"),
        httpx.ReadError("cut"),
        stored(Idempotent_Replayed="true"),
    )
    assert server.client().send_message(**SEND) == {**ASK, "replayed": True}
    ids = {body["message"]["id"] for body in server.bodies}
    assert len(ids) == 1 and ids.pop()[14] == "7"
    assert "id" not in SEND["message"]
    assert 1.1 <= waits[0] <= 1.25 and waits[1] <= 0.5 and waits[2] <= 1 and waits[3] <= 2
    assert server.requests[0].headers["Admin-Api-Key"] == "the-key"
    assert server.requests[0].url.path == "/base/admin/message"


def test_the_callers_id_is_kept() -> None:
    server = script(httpx.Response(201, json={"ack": {"mid": "mine", "t": 1}}))
    server.client().send_system_message(
        organizationId="o", senderId="u", messageSystem={"id": "order-placed:user-123:order-456", "uids": ["u"]}
    )
    assert server.bodies[0]["messageSystem"]["id"] == "order-placed:user-123:order-456"


def test_a_send_that_waits_says_so_and_tells_of_the_delivery() -> None:
    counts = "recipients=3, online=2, delivered=2, acknowledged=1"
    server = script(stored(Herald_Delivery=counts), stored(Herald_Delivery="recipients=3, online=many"), stored())
    client = server.client(timeout=7)
    delivery = {"recipients": 3, "online": 2, "delivered": 2, "acknowledged": 1}
    assert client.send_message(**SEND, wait=5) == {**ASK, "delivery": delivery}
    assert client.send_message(**SEND, wait=5) == ASK
    assert client.send_message(**SEND) == ASK
    assert [request.headers.get("Prefer") for request in server.requests] == ["wait=5", "wait=5", None]
    assert [request.extensions["timeout"]["read"] for request in server.requests] == [12, 12, 7]
    for wait in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="whole number of seconds"):
            client.send_message(**SEND, wait=wait)  # type: ignore[arg-type]


def test_a_refusal_is_not_repeated_and_tells_everything(waits: list[float]) -> None:
    server = script(problem(422, "invalid_request"))
    with pytest.raises(HeraldError) as caught:
        server.client().send_message(**SEND)
    error = caught.value
    assert (error.status, error.code, error.detail, error.request_id) == (
        422,
        "invalid_request",
        "detail of invalid_request",
        "r1",
    )
    assert error.errors == [{"pointer": "/message/cid", "detail": "is missing"}]
    assert not error.is_unknown and waits == []
    assert str(error) == "422 invalid_request: the title: detail of invalid_request\n  /message/cid: is missing"
    for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert vars(same) == vars(error)


def test_retry_after_is_honoured_unless_it_asks_for_too_long(waits: list[float]) -> None:
    server = script(
        problem(429, "rate_limited", {"Retry-After": "2"}),
        stored(),
        problem(429, "rate_limited", {"Retry-After": "3600"}),
    )
    client = server.client()
    client.send_message(**SEND)
    assert 2 <= waits[0] <= 2.25
    with pytest.raises(HeraldError, match="rate_limited"):
        client.send_message(**SEND)
    assert len(waits) == 1


def test_what_is_not_safe_to_do_twice_is_repeated_after_429_only(waits: list[float]) -> None:
    server = script(problem(429, "rate_limited"), problem(503, "unavailable"), problem(500, "internal"))
    client = server.client()
    with pytest.raises(HeraldError, match="503"):
        client.create_key(name="n", scopes=["observe"])
    with pytest.raises(HeraldError, match="500"):
        client.rotate_key("k/1", overlap_seconds=60)
    assert [request.url.raw_path for request in server.requests] == [
        b"/base/admin/keys",
        b"/base/admin/keys",
        b"/base/admin/keys/k%2F1/rotate",
    ]


def test_a_server_that_is_gone_is_told_as_unreachable_after_the_retries(waits: list[float]) -> None:
    server = script(*[httpx.ConnectError("refused")] * 3)
    with pytest.raises(HeraldError) as caught:
        server.client(retries=2).get_user("o", "u")
    assert (caught.value.status, caught.value.code, caught.value.is_unknown) == (0, "unreachable", True)
    assert str(caught.value) == "no response from http://herald/base: refused"
    assert isinstance(caught.value.__cause__, httpx.ConnectError)


def test_a_call_with_its_retries_ends_at_its_deadline(waits: list[float]) -> None:
    server = script(problem(503, "unavailable", {"Retry-After": "2"}))
    with pytest.raises(HeraldError, match="503"):
        server.client(deadline=1.5).get_user("o", "u")
    assert waits == [] and server.requests[0].extensions["timeout"]["read"] <= 1.5


def test_the_key_does_not_follow_a_redirect_and_a_foreign_answer_is_told_as_such() -> None:
    server = script(
        httpx.Response(307, headers={"Location": "http://elsewhere/"}),
        httpx.Response(200, text="<h1>hello</h1>"),
        httpx.Response(404, json={"error": "no"}),
    )
    client = server.client()
    for status in (307, 200, 404):
        with pytest.raises(HeraldError) as caught:
            client.get_user("o", "u")
        assert (caught.value.status, caught.value.code) == (status, "not_herald")


def test_identifiers_of_any_form_reach_the_server_unchanged() -> None:
    identifiers = ["a/b", "*", "ü ?", "%2F", "a%b", "#", ";=,&+", "🎉", "...", "a\\b", '"|<>^`{}']
    for identifier in identifiers:
        server = script(httpx.Response(204))
        server.client().remove_participant(identifier, "c", "u")
        path = server.requests[0].url.raw_path.decode()
        assert unquote(path.split("/")[4]) == identifier and path.count("/") == 8
    for identifier in ("", ".", ".."):
        with pytest.raises(ValueError, match="cannot be part of a URL"):
            script().client().get_user(identifier, "u")


def test_a_query_encodes_each_item_and_leaves_out_what_is_not_given() -> None:
    page: dict[str, Any] = {"items": [], "cursor": None}
    server = script(*[httpx.Response(200, json=page) for _ in range(3)])
    client = server.client()
    client.online("o", uids=["a,b", "c d"]).page()
    client.audit(since=datetime(2026, 11, 20, 13, 6, tzinfo=timezone.utc)).page(limit=5)
    client.users("o").page()
    assert [request.url.query for request in server.requests] == [
        b"uids=a%2Cb,c%20d",
        b"since=2026-11-20T13%3A06%3A00%2B00%3A00&limit=5",
        b"",
    ]
    with pytest.raises(ValueError, match="time zone"):
        client.audit(since=datetime(2026, 11, 20)).page()


def test_a_list_is_read_page_by_page_even_if_one_is_empty() -> None:
    pages: list[dict[str, Any]] = [
        {"items": [{"id": "a"}], "cursor": "1"},
        {"items": [], "cursor": "2"},
        {"items": [{"id": "b"}], "cursor": None},
    ]
    server = script(*[httpx.Response(200, json=page) for page in pages])
    assert [user["id"] for user in server.client().users("o")] == ["a", "b"]
    assert [request.url.params.get("cursor") for request in server.requests] == [None, "1", "2"]
    assert server.requests[0].url.params["limit"] == "1000"


def test_what_is_left_out_is_not_sent_and_none_is() -> None:
    server = script(*[httpx.Response(200, json={}) for _ in range(2)])
    client = server.client()
    client.put_user("o", "u", name=None)
    client.put_user("o", "u", blocked=True)
    assert server.bodies == [{"name": None}, {"blocked": True}]


def test_a_node_that_is_not_ready_says_why_and_a_proxy_without_a_node_is_a_failure(waits: list[float]) -> None:
    health = {"status": "unavailable", "checks": {"store": "no answer"}}
    server = script(httpx.Response(503, json=health), httpx.Response(503, text="no upstream"))
    client = server.client(retries=0)
    assert client.get_readiness() == health
    with pytest.raises(HeraldError, match="not_herald"):
        client.get_readiness()


def test_what_json_does_not_have_is_refused_before_it_is_sent() -> None:
    for value in (float("nan"), "\ud800"):
        with pytest.raises(ValueError):
            script().client().send_message(organizationId="o", senderId="u", message={"cid": "c", "x": {"v": value}})


def test_retry_after_may_be_a_date() -> None:
    now = datetime(2026, 11, 20, 13, 6, tzinfo=timezone.utc).timestamp()
    assert read_retry_after("Fri, 20 Nov 2026 13:06:05 GMT", now) == 5
    assert read_retry_after("Fri, 20 Nov 2026 13:05:00 GMT", now) == 0
    assert [read_retry_after(header) for header in ("7", "soon", None)] == [7, None, None]


def test_ids_are_sorted_by_time() -> None:
    ids = [new_id(now) for now in (1.0, 1.001, 2_000_000_000.5)]
    assert ids == sorted(ids) and len({new_id() for _ in range(1000)}) == 1000
    assert all(len(id) == 36 and id[14] == "7" and id[19] in "89ab" for id in ids)
    assert ids[0].startswith("00000000-03e8-7")


def test_a_file_that_is_elsewhere_is_downloaded_there_without_the_key() -> None:
    server = script(
        httpx.Response(302, headers={"Location": "https://bucket.example.org/f?signed"}),
        httpx.Response(200, content=b"bytes"),
        httpx.Response(302, headers={"Location": "https://bucket.example.org/f?signed"}),
        httpx.Response(302, headers={"Location": "https://elsewhere.example.org/"}),
    )
    client = server.client()
    assert b"".join(client.download("f/1")) == b"bytes"
    with pytest.raises(HeraldError):
        list(client.download("f"))
    assert [str(request.url) for request in server.requests][:2] == [
        client.file_url("f/1"),
        "https://bucket.example.org/f?signed",
    ]
    assert client.file_url("f/1") == "http://herald/base/files/f%2F1"
    assert ["Admin-Api-Key" in request.headers for request in server.requests] == [True, False, True, False]


def test_a_download_may_name_the_organization_of_the_file() -> None:
    server = script(
        httpx.Response(200, content=b"bytes"),
        httpx.Response(302, headers={"Location": "https://bucket.example.org/f?signed"}),
        httpx.Response(200, content=b"bytes"),
    )
    client = server.client()
    for _ in range(2):  # also where the bytes are elsewhere
        assert b"".join(client.download("f/1", organization="a&b/c")) == b"bytes"
    named = client.file_url("f/1") + "?organization=a%26b%2Fc"
    assert [str(request.url) for request in server.requests] == [named, named, "https://bucket.example.org/f?signed"]


def test_a_list_may_be_of_what_begins_with_a_text() -> None:
    page: dict[str, Any] = {"items": [], "cursor": None}
    server = script(*[httpx.Response(200, json=page) for _ in range(2)])
    client = server.client()
    client.users("o", prefix="a&b/é").page(limit=2)
    list(client.conversations("o", prefix="a"))
    assert [request.url.raw_path for request in server.requests] == [
        b"/base/admin/organizations/o/users?prefix=a%26b%2F%C3%A9&limit=2",
        b"/base/admin/organizations/o/conversations?prefix=a&limit=1000",
    ]


class Grower:
    """Lets one message grow, as the server does. `before` is called with each append."""

    def __init__(self, before: Callable[[dict[str, Any]], None]) -> None:
        self.before = before
        self.text = ""
        self.appended: list[dict[str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.read())
        if "message" in body:
            return stored()
        piece = body["messageAppend"]
        self.before(piece)
        offset, text = piece["offset"], piece["text"]
        if offset == len(self.text) and not (self.appended and self.appended[-1].get("done")):
            self.text += text
            self.appended.append(piece)
        elif piece not in self.appended:
            return problem(409, "append_conflict", length=len(self.text))
        else:
            return httpx.Response(200, json={"success": True, "length": offset + len(text)})
        return httpx.Response(200, json={"success": True, "length": len(self.text)})

    def client(self) -> Herald:
        return Herald("http://herald", "the-key", http_client=httpx.Client(transport=httpx.MockTransport(self)))


PIPED: SendMessageRequest = {"organizationId": "o", "senderId": "u", "message": {"cid": "c"}}


def test_a_piece_without_an_answer_is_appended_again_at_the_same_offset(waits: list[float]) -> None:
    tried: list[dict[str, Any]] = []

    def fail(piece: dict[str, Any]) -> None:
        tried.append(piece)
        if len(tried) == 1:
            raise httpx.ConnectError("refused")
        if len(tried) == 2:
            server.text += piece["text"]
            server.appended.append(piece)
            raise httpx.ReadError("the answer is lost")

    server = Grower(fail)
    piped = server.client().pipe(["one ", "two", "", " three"], **PIPED)
    assert (piped.id, piped.length, server.text) == ("s", 13, "one two three")
    assert tried[0] == tried[1] == tried[2] and len(waits) == 2
    assert [piece.get("done", False) for piece in server.appended][-1]


def test_pieces_that_come_during_a_call_go_into_the_next_one() -> None:
    called, written = Event(), Event()

    def hold(piece: dict[str, Any]) -> None:
        called.set()
        assert written.wait(60)

    def pieces() -> Iterator[str]:
        yield "one "
        assert called.wait(60)
        yield "two "
        yield "👋 "
        yield "three"
        written.set()

    server = Grower(hold)
    assert server.client().pipe(pieces(), **PIPED).length == 15
    assert [piece["text"] for piece in server.appended if piece["text"]] == ["one ", "two 👋 three"]


def test_pieces_wait_for_room() -> None:
    taken = 0
    is_full = Event()

    def look(piece: dict[str, Any]) -> None:
        assert is_full.wait(60)
        ahead.append(taken - len(server.text))

    def pieces() -> Iterator[str]:
        nonlocal taken
        for _ in range(60):
            taken += 1_000
            if taken > 16_384:
                is_full.set()
            yield "x" * 1_000

    ahead: list[int] = []
    server = Grower(look)
    assert server.client().pipe(pieces(), **PIPED).length == 60_000
    assert max(ahead) <= 16_384 + 2_000  # the piece that makes it full, and one that was taken when there was room again


def test_a_refused_piece_ends_the_pipe() -> None:
    def refuse(piece: dict[str, Any]) -> None:
        server.text = "more than we know"
        server.appended = [{}]

    def pieces() -> Iterator[str]:
        while True:
            yield "word "

    server = Grower(refuse)
    with pytest.raises(HeraldError) as caught:
        server.client().pipe(pieces(), **PIPED)
    assert caught.value.code == "append_conflict"


def test_a_client_that_awaits_stores_each_piece_of_what_blocks_before_the_next_is_taken() -> None:
    def pieces() -> Iterator[str]:
        for number in range(5):
            assert server.text == "ab" * number
            yield "ab"

    async def run() -> None:
        http_client = httpx.AsyncClient(transport=httpx.MockTransport(server))
        async with AsyncHerald("http://herald", "the-key", http_client=http_client) as client:
            assert (await client.pipe(pieces(), **PIPED)).length == 10

    server = Grower(lambda _: None)
    asyncio.run(run())
    assert server.appended[-1]["done"] is True


def test_a_pipe_that_is_cancelled_leaves_the_message_open() -> None:
    async def run() -> None:
        async def pieces() -> AsyncIterator[str]:
            yield "a part"
            while server.text == "":
                await asyncio.sleep(0)
            piping.cancel()
            await asyncio.Event().wait()

        http_client = httpx.AsyncClient(transport=httpx.MockTransport(server))
        async with AsyncHerald("http://herald", "the-key", http_client=http_client) as client:
            piping = asyncio.ensure_future(client.pipe(pieces(), **PIPED))
            with pytest.raises(asyncio.CancelledError):
                await piping
            assert asyncio.all_tasks() == {asyncio.current_task()}

    server = Grower(lambda _: None)
    asyncio.run(run())
    assert [piece.get("done") for piece in server.appended] == [None]


@pytest.mark.parametrize("earlier", [[], ["one "], ["one 👋"], ["on", "e 👋👋"], ["one 👋👋 two"]])
@pytest.mark.parametrize("pieces", [list("one 👋👋 two"), ["one 👋👋 two"], ["one 👋", "👋 two"]])
def test_a_pipe_that_is_resumed_leaves_out_what_is_stored(earlier: list[str], pieces: list[str]) -> None:
    server = Grower(lambda _: None)
    for text in earlier:
        server.appended.append({"id": "s", "offset": len(server.text), "text": text})
        server.text += text
    begun: SendMessageRequest = {**PIPED, "message": {"cid": "c", "id": "answer-7"}}
    for _ in range(2):  # the second time, it is complete
        assert server.client().pipe(pieces, resume=True, **begun).length == 10
        assert server.text == "one 👋👋 two" and server.appended[-1]["done"]
    with pytest.raises(HeraldError) as caught:
        server.client().pipe([*pieces, " more"], resume=True, **begun)
    assert (caught.value.code, caught.value.length) == ("append_conflict", 10)
    with pytest.raises(ValueError, match="resume needs the id"):
        server.client().pipe(pieces, resume=True, **PIPED)


def test_no_answer_is_read_before_the_request_is_sent() -> None:
    """Why pieces are not the lines of one request."""
    steps: list[str] = []

    def content() -> Iterator[bytes]:
        yield b"{}\n"
        yield b"{}\n"

    def answer_at_once(connection: socket.socket) -> None:
        hear(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}\n")
        while connection.recv(65536):
            pass

    with listening(answer_at_once) as server, httpx.Client() as client:
        client.put(server.url, content=content(), extensions={"trace": lambda name, _: steps.append(name)})
    assert steps.index("http11.send_request_body.complete") < steps.index("http11.receive_response_headers.started")
