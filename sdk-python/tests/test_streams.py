"""Batches, imports and feeds that break off, and streams however they are cut."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from conftest import problem, script

from herald import HeraldError
from herald._core.streams import EventReader, LineReader
from herald.models import Event, Send

LINES = {"Content-Type": "application/x-ndjson"}
EVENTS = {"Content-Type": "text/event-stream"}


def stream(pieces: Iterator[bytes], headers: dict[str, str]) -> httpx.Response:
    return httpx.Response(200, content=pieces, headers=headers)


def lines(*values: dict[str, Any], breaks: bool = False) -> httpx.Response:
    def pieces() -> Iterator[bytes]:
        for value in values:
            yield json.dumps(value).encode() + b"\n"
        if breaks:
            raise httpx.ReadError("cut")

    return stream(pieces(), LINES)


def stored(line: int) -> dict[str, Any]:
    return {"line": line, "status": 201, "ask": {"mid": str(line), "server_mid": str(line), "t": 1}}


def sends(count: int) -> Iterator[Send]:
    for number in range(1, count + 1):
        yield {"organizationId": "o", "senderId": "u", "message": {"cid": "c", "body": str(number)}}


def sent_lines(request: httpx.Request) -> list[Any]:
    return [json.loads(line) for line in request.content.split(b"\n")]


ended = {"done": False, "line": 2, "problem": {"status": 503, "code": "unavailable", "detail": "restarting"}}


def test_what_a_broken_batch_left_without_an_answer_is_sent_again_with_the_same_ids(waits: list[float]) -> None:
    server = script(
        lines(stored(1), stored(2), breaks=True),
        problem(429, "rate_limited", {"Retry-After": "3"}),
        lines(stored(1), ended),
        lines(stored(1)),  # ends although a line has no answer
        lines(stored(1)),
    )
    answers = list(server.client().send_batch(sends(5)))
    assert [answer["line"] for answer in answers] == [1, 2, 3, 4, 5]
    asked = [[(line["message"]["body"], line["message"]["id"]) for line in sent_lines(one)] for one in server.requests]
    first = asked[0]
    assert asked == [first, first[2:], first[2:], first[3:], first[4:]]
    assert len({id for _, id in first}) == 5
    assert server.requests[0].headers["Content-Type"] == "application/x-ndjson"


def test_a_batch_that_gets_nowhere_raises_and_says_where(waits: list[float]) -> None:
    server = script(*[lines({**ended, "line": 1}) for _ in range(3)])
    batch = server.client(retries=2).send_batch(sends(3))
    with pytest.raises(HeraldError, match="503 unavailable: the batch ended before line 1 was answered: restarting"):
        list(batch)
    refused = {**ended, "line": 1, "problem": {"status": 401, "code": "unauthorized", "detail": "no"}}
    with pytest.raises(HeraldError, match="unauthorized"):
        list(script(lines(refused)).client().send_batch(sends(3)))


def test_sends_are_taken_no_faster_than_their_answers_are_read() -> None:
    taken = 0

    def counted() -> Iterator[Send]:
        nonlocal taken
        for send in sends(10):
            taken += 1
            yield send

    server = script(*[lines(stored(1), stored(2)) for _ in range(5)])
    batch = server.client().send_batch(counted(), lines_per_request=2)
    assert taken == 0
    next(batch)
    assert (taken, len(server.requests)) == (2, 1)
    batch.close()
    assert taken == 2
    assert list(script().client().send_batch([])) == []


def test_a_batch_of_large_sends_goes_in_requests_of_about_a_mebibyte() -> None:
    server = script(*[lines(stored(1), stored(2)) for _ in range(2)])
    large: list[Send] = [
        {"organizationId": "o", "senderId": "u", "message": {"cid": "c", "body": "x" * 600_000}} for _ in range(4)
    ]
    assert len(list(server.client().send_batch(large))) == 4


def test_a_piece_of_an_import_that_breaks_off_is_sent_again_and_its_faults_are_told_once(waits: list[float]) -> None:
    def fault(line: int) -> dict[str, Any]:
        return {"line": line, "problem": {"status": 422, "code": "invalid_request", "detail": "no"}}

    server = script(
        lines(fault(1), breaks=True),
        lines(fault(1), {"done": False, "lines": 1, "failed": 1, "problem": ended["problem"]}),
        lines(fault(1), fault(2), {"done": True, "lines": 2, "failed": 2}),
        lines(fault(1), {"done": True, "lines": 1, "failed": 1}),
    )
    reports = list(server.client().import_lines("o", ["{}", "", "{}", b"{}\n"], lines_per_request=2))
    assert reports == [
        fault(1),
        fault(3),
        {"lines": 3, "failed": 2},
        fault(4),
        {"lines": 4, "failed": 3},
        {"done": True, "lines": 4, "failed": 3},
    ]
    assert [request.content for request in server.requests] == [b"{}\n{}"] * 3 + [b"{}"]


def test_a_piece_of_a_dry_run_declares_the_conversations_of_earlier_pieces_that_it_names() -> None:
    done = [lines({"done": True, "lines": 1, "failed": 0}) for _ in range(3)]
    server = script(*done[:2], lines({"line": 2, "problem": {"status": 404}}, {"done": True, "lines": 2, "failed": 1}))
    texts = ['{"conversation":{"id":"c"}}', '{"user":{"id":"u"}}', '{"message":{"cid":"c"}}']
    reports = list(server.client().import_lines("o", texts, dry_run=True, lines_per_request=1))
    assert [request.content.decode() for request in server.requests] == [*texts[:2], f"{texts[0]}\n{texts[2]}"]
    assert [report["line"] for report in reports if "line" in report] == [3]


def test_a_feed_connects_again_until_it_is_refused(waits: list[float]) -> None:
    def feed(*bodies: str) -> httpx.Response:
        def pieces() -> Iterator[bytes]:
            for body in bodies:
                yield f"event: message\nid: of-{body}\ndata: {json.dumps({'message': {'body': body}})}\n\n:\n".encode()
            yield f":\nid: after-{bodies[-1]}\n\n".encode()
            raise httpx.ReadTimeout("silent")

        return stream(pieces(), EVENTS)

    server = script(
        problem(503, "unavailable"),
        feed("a", "b"),
        *[httpx.ConnectError("refused")] * 8,
        feed("c"),
        problem(401, "unauthorized"),
    )
    connects: list[int] = []
    interruptions: list[str] = []
    heard: list[Event] = []
    cursors: list[str] = []
    with pytest.raises(HeraldError, match="unauthorized"):
        for event in server.client(retries=2).events(
            "o",
            types=["message", "message_edit"],
            on_cursor=cursors.append,
            on_connect=lambda: connects.append(len(heard)),
            on_interruption=lambda error, wait: interruptions.append(error.detail),
        ):
            heard.append(event)
    assert [event["message"]["body"] for event in heard] == ["a", "b", "c"]
    assert connects == [0, 2]
    assert interruptions == [f"no response from http://herald/base: {why}" for why in ["timed out", *["refused"] * 8, "timed out"]]
    assert cursors == ["of-a", "of-b", "after-b", "of-c", "after-c"]
    queries = [request.url.params for request in server.requests]
    assert all(query["types"] == "message,message_edit" for query in queries) and max(waits) <= 15
    assert [query.get("after") for query in queries] == [None, None, *["after-b"] * 9, "after-c"]


def test_a_feed_of_a_user_goes_on_with_what_comes() -> None:
    texts = [b'id: 1\ndata: {"message":{}}\n\n', b'id: 2\ndata: {"message":{}}\n\n']
    server = script(*[stream(iter([text]), EVENTS) for text in texts], problem(401, "unauthorized"))
    with pytest.raises(HeraldError, match="unauthorized"):
        list(server.client().events("o", uid="u"))
    assert [request.url.query for request in server.requests] == [b"uid=u"] * 3


def test_a_feed_that_never_connects_ends_after_the_retries(waits: list[float]) -> None:
    server = script(*[httpx.ConnectError("refused")] * 3)
    with pytest.raises(HeraldError, match="refused"):
        next(server.client(retries=2).events("o"))


@pytest.mark.parametrize("seed", range(20))
def test_streams_are_read_the_same_however_they_are_cut(seed: int) -> None:
    chance = random.Random(seed)

    def cut(content: bytes) -> Iterator[bytes]:
        while content:
            size = chance.randrange(0, 9)
            yield content[:size]
            content = content[size:]

    def read(reader: Callable[[bytes], list[Any]], content: bytes) -> list[Any]:
        return [value for piece in cut(content) for value in reader(piece)]

    values = [{"text": text} for text in ("a\u2028b\x85", "🎉" * 10, "", "data: x")]
    texts = [json.dumps(value, ensure_ascii=False) for value in values]
    assert read(LineReader().read_json, "".join(f"{text}\n" for text in texts).encode() + b'{"incomplete') == values
    events = "".join(f"event: m\r\nid: 1\r\ndata:{text}\r\n\r\n: heartbeat\n\n:\nid:2\n\n" for text in texts)
    expected = [event for value in values for event in (("1", value), ("2", None))]
    assert read(EventReader().read, events.encode() + b"data: {}") == expected
    assert read(EventReader().read, b'data: {"a":\ndata: 1}\n\n') == [(None, {"a": 1})]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_events_may_have_any_line_ends_a_byte_order_mark_and_several_lines_of_data(end: str, size: int) -> None:
    several = ["data:[", "event: m", "data: 2", "data:]", ""]
    lines = ["\ufeffdata: 1", "", ": heartbeat", *several, "data", "", "", "database: 9", "", 'data: "\u2028\x85\u2029"', ""]
    content = "".join(f"{line}{end}" for line in lines).encode()
    reader = EventReader()
    events = [event for at in range(0, len(content), size) for event in reader.read(content[at : at + size])]
    assert events == [(None, 1), (None, [2]), (None, "\u2028\x85\u2029")]


def test_an_event_is_read_when_its_last_line_ends_even_if_that_is_a_carriage_return() -> None:
    reader = EventReader()
    assert [reader.read(piece) for piece in (b"data: 1\r\r", b"\n", b"", b"data: 2\n", b"\n")] == [[(None, 1)], [], [], [], [(None, 2)]]


def test_a_line_of_a_mebibyte_is_read(waits: list[float]) -> None:
    large = {**stored(1), "ask": {"mid": "x" * (1 << 20)}}
    assert list(script(lines(large)).client().send_batch(sends(1))) == [large]


def test_an_answer_that_ends_within_a_line_or_is_no_json_is_a_failure() -> None:
    for content, said in ((b'{"user":{}}\n{"us', "in the middle of a line"), (b"<html>\n", "not JSON")):
        with pytest.raises(HeraldError, match=said):
            list(script(stream(iter([content]), LINES)).client().export_organization("o"))
    with pytest.raises(HeraldError, match="not JSON"):
        next(script(stream(iter([b"data: <html>\n\n"]), EVENTS)).client(retries=0).events("o", on_interruption=fail))


def fail(error: HeraldError, wait: float) -> None:
    raise error
