"""Calls, their answers and their retries, against a server that answers as told."""

from __future__ import annotations

import copy
import pickle
from datetime import datetime, timezone
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from conftest import problem, script

from herald import HeraldError, new_id
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
