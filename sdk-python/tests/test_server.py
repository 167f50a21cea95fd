"""Each call, against a real server."""

from __future__ import annotations

import ast
import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Server

import herald as package
from herald import AsyncHerald, Herald, HeraldError, TokenIssuer, new_id
from herald._core.operations import OPERATIONS
from herald.models import Event, NewAttachment, NewMessage, NewSystemMessage, Send


def say(herald: Herald, org: str, body: str, *, id: str | None = None, x: dict[str, Any] | None = None) -> str:
    message: NewMessage = {"cid": "c", "body": body, "x": x or {}}
    if id is not None:
        message["id"] = id
    return herald.send_message(organizationId=org, senderId="alice", message=message)["ask"]["server_mid"]


def test_a_message_is_sent_once_edited_read_and_taken_back(herald: Herald, org: str) -> None:
    id = "order-placed:user-123:order-456"
    first = say(herald, org, "Hello", id=id, x={"order": 456, "über": [1.5, None]})
    assert say(herald, org, "Hello", id=id, x={"order": 456, "über": [1.5, None]}) == first
    with pytest.raises(HeraldError) as caught:
        say(herald, org, "Something else", id=id)
    assert caught.value.code == "message_id_conflict"
    herald.edit_message(organizationId=org, senderId="alice", messageEdit={"id": first, "body": "Hello!"})
    herald.mark_read(organizationId=org, senderId="bob", messageRead={"cid": "c"})
    [message] = herald.messages(org, "c")
    assert (message["body"], message["from"], message["x"]) == ("Hello!", "alice", {"order": 456, "über": [1.5, None]})
    report = herald.get_message(org, first)
    assert report["delivery"]["recipients"] == 2 and "edited_at" in report["message"]
    assert {user["uid"]: user["state"] for user in herald.recipients(org, first)} == {"alice": "missing", "bob": "missing"}
    assert list(herald.recipients(org, first, state="delivered")) == []
    herald.recall_messages(
        organizationId=org, senderId="bob", messageDelete={"cid": "c", "ids": [first], "type": "all"}
    )
    assert list(herald.messages(org, "c")) == []
    assert "recalled_at" in herald.get_message(org, first)


def test_a_message_grows_by_pieces_until_it_is_done(herald: Herald, org: str) -> None:
    def pieces() -> Iterator[str]:
        yield "one "
        yield ""
        gives_up_at = time.monotonic() + 60
        while [(growing["body"], growing["open"]) for growing in herald.messages(org, "c")] != [("Hé 👋 one ", True)]:
            assert time.monotonic() < gives_up_at
        yield "two 👋"

    piped = herald.pipe(
        pieces(), organizationId=org, senderId="alice", message={"cid": "c", "body": "Hé 👋 ", "x": {"model": "m"}}
    )
    [message] = herald.messages(org, "c")
    assert (message["_id"], message["body"], piped.length) == (piped.id, "Hé 👋 one two 👋", 14)
    assert "open" not in message and message["x"] == {"model": "m"}
    with pytest.raises(HeraldError) as caught:
        herald.append(organizationId=org, senderId="alice", messageAppend={"id": piped.id, "offset": 3, "text": "x"})
    assert (caught.value.code, caught.value.length) == ("append_conflict", 14)


def test_a_message_whose_pieces_fail_is_complete_as_it_is(herald: Herald, org: str) -> None:
    def pieces() -> Iterator[str]:
        yield "a part"
        raise RuntimeError("the model is gone")

    with pytest.raises(RuntimeError, match="the model is gone"):
        herald.pipe(pieces(), organizationId=org, senderId="alice", message={"cid": "c"})
    [message] = herald.messages(org, "c")
    assert message["body"] == "a part" and "open" not in message


def test_a_file_is_uploaded_named_downloaded_and_removed(herald: Herald, org: str) -> None:
    file = herald.upload(org, "grüße.txt", iter([b"Hello, ", b"file"]), content_type="text/plain")
    assert (file["name"], file["size"], file["content_type"]) == ("grüße.txt", 11, "text/plain")
    attachments: list[NewAttachment] = [{"name": "grüße.txt", "file_id": file["file_id"]}, {"name": "later.txt"}]
    herald.send_message(organizationId=org, senderId="alice", message={"cid": "c", "attachments": attachments})
    [message] = herald.messages(org, "c")
    named, later = [attachment["file_id"] for attachment in message["attachments"]]
    assert named == file["file_id"] and b"".join(herald.download(named)) == b"Hello, file"
    assert herald.get_file(org, later)["sha256"] is None
    assert herald.put_file(org, later, b"now")["size"] == 3
    assert b"".join(herald.download(named, organization=org)) == b"Hello, file"
    with pytest.raises(HeraldError) as caught:
        list(herald.download(named, organization="nowhere"))
    assert caught.value.code == "file_not_found"
    herald.delete_file(org, named)
    with pytest.raises(HeraldError) as caught:
        list(herald.download(named))
    assert caught.value.code == "file_not_found"


def test_a_system_message_goes_to_a_list_a_conversation_or_everyone(herald: Herald, org: str) -> None:
    sent = herald.send_system_message(
        organizationId=org, senderId="alice", messageSystem={"uids": ["bob", "bob"], "x": {"n": 1}}, wait=1
    )
    assert sent["delivery"] == {"recipients": 1, "online": 0, "delivered": 0, "acknowledged": 0}
    report = herald.get_system_message(org, sent["ack"]["mid"], sender_id="alice")
    assert report["system_message"]["x"] == {"n": 1}
    assert [user["uid"] for user in herald.system_recipients(org, sent["ack"]["mid"])] == ["bob"]
    recipients: list[NewSystemMessage] = [{"cid": "c"}, {"everyone": True}]
    for message in recipients:
        answer = herald.try_system_message(organizationId=org, senderId="alice", messageSystem=message)
        assert answer == {"recipients": 2, "online": 0, "unknown_users": []}


def test_a_silent_message_is_listed_as_such(herald: Herald, org: str) -> None:
    message: NewMessage = {"cid": "c", "body": "quiet", "silent": True}
    herald.send_message(organizationId=org, senderId="alice", message=message)
    say(herald, org, "loud")
    assert [listed.get("silent") for listed in herald.messages(org, "c")] == [None, True]
    system = herald.send_system_message(
        organizationId=org, senderId="alice", messageSystem={"uids": ["bob"], "silent": True}
    )
    report = herald.get_system_message(org, system["ack"]["mid"], sender_id="alice")
    assert report["system_message"].get("silent") is True


def test_what_is_tried_is_not_done(herald: Herald, org: str) -> None:
    mid = say(herald, org, "stays")
    later: Send = {"organizationId": org, "senderId": "alice", "message": {"cid": "c", "body": "no"}}
    tries = [
        herald.try_message(organizationId=org, senderId="alice", message={"cid": "c", "body": "no"}),
        herald.try_edit(organizationId=org, senderId="alice", messageEdit={"id": mid, "body": "no"}),
        herald.try_recall(
            organizationId=org, senderId="alice", messageDelete={"cid": "c", "ids": [mid], "type": "all"}
        ),
        herald.try_schedule(org, "later", send_at="2026-01-01T00:00:00Z", request=later),
    ]
    assert [dry["recipients"] for dry in tries] == [2, 2, 2, 2]
    assert herald.try_read(organizationId=org, senderId="bob", messageRead={"cid": "c"})["recipients"] == 1
    assert [message["body"] for message in herald.messages(org, "c")] == ["stays"]
    assert list(herald.scheduled(org)) == []


def test_a_refusal_says_what_is_wrong(herald: Herald, org: str) -> None:
    with pytest.raises(HeraldError) as caught:
        herald.send_message(organizationId=org, senderId="alice", message={"cid": "c", "body": "x", "bdy": "y"})  # type: ignore[typeddict-unknown-key]
    assert (caught.value.status, caught.value.code) == (422, "invalid_request")
    assert caught.value.errors[0]["pointer"] == "/message/bdy" and caught.value.request_id
    with pytest.raises(HeraldError) as caught:
        herald.get_organization("nowhere")
    assert caught.value.code == "organization_not_found"


def test_a_send_waits_until_its_time_is_changed_and_cancelled(herald: Herald, org: str) -> None:
    request: Send = {"organizationId": org, "senderId": "alice", "message": {"cid": "c", "body": "later"}}
    later = datetime.now(timezone.utc) + timedelta(days=1)
    assert herald.schedule(org, "a/b", send_at=later, request=request)["state"] == "waiting"
    assert [send["id"] for send in herald.scheduled(org, state="waiting")] == ["a/b"]
    herald.cancel_scheduled(org, "a/b")
    assert herald.get_scheduled(org, "a/b")["state"] == "cancelled"


def test_what_one_key_proposes_another_decides(server: Server, herald: Herald, org: str) -> None:
    request: Send = {"organizationId": org, "senderId": "alice", "message": {"cid": "c", "body": "may I?"}}
    key = herald.create_key(name="agent", scopes=["message:propose"], organization=org)
    with Herald(server.url, key["key"]) as agent:
        assert agent.propose(org, "a/b", request=request, reason="why")["proposed_by"] == key["id"]
        agent.propose(org, "c", request=request)
        assert [proposal["id"] for proposal in agent.proposals(org, state="waiting")] == ["a/b", "c"]
    assert herald.approve_proposal(org, "a/b")["state"] == "approved"
    assert herald.reject_proposal(org, "c", reason="once is enough")["decision_reason"] == "once is enough"
    assert [message["body"] for message in herald.messages(org, "c")] == ["may I?"]
    assert herald.get_proposal(org, "c")["server_mid"] is None


def test_the_directory_is_kept(herald: Herald, org: str) -> None:
    assert herald.put_user(org, "carol", name="Carol")["name"] == "Carol"
    herald.put_user(org, "carol", blocked=True)
    user = herald.get_user(org, "carol")
    assert (user["name"], user.get("blocked")) == ("Carol", True)
    assert herald.put_user(org, "carol", name=None)["name"] is None
    assert [user["id"] for user in herald.users(org)] == ["alice", "bob", "carol"]
    assert [user["id"] for user in herald.users(org, prefix="CAR")] == ["carol"]
    page = herald.users(org).page(limit=2)
    assert [user["id"] for user in herald.users(org).page(cursor=page.cursor).items] == ["carol"]
    herald.add_participant(org, "c", "carol")
    herald.remove_participant(org, "c", "bob")
    assert [user["id"] for user in herald.participants(org, "c")] == ["alice", "carol"]
    assert herald.put_conversation(org, "d", name="D")["name"] == "D" == herald.get_conversation(org, "d")["name"]
    herald.delete_conversation(org, "d")
    assert [conversation["id"] for conversation in herald.conversations(org)] == ["c"]
    herald.delete_user(org, "carol", messages="erase")
    herald.put_organization(org, limits={"messages_per_second": 50})
    assert herald.get_organization(org)["limits"]["messages_per_second"] == 50
    assert org in [organization["id"] for organization in herald.organizations()]
    herald.delete_organization(org)
    with pytest.raises(HeraldError):
        herald.get_organization(org)


def test_keys_are_made_rotated_and_revoked_and_the_log_has_it(herald: Herald, server: Server, org: str) -> None:
    key = herald.create_key(name="python", scopes=["message:send"], organization=org)
    with Herald(server.url, key["key"]) as limited:
        assert limited.get_own_key()["scopes"] == ["message:send"]
        with pytest.raises(HeraldError) as caught:
            list(limited.users(org))
    assert caught.value.code == "insufficient_scope"
    assert herald.rotate_key(key["id"], overlap_seconds=0)["key"] != key["key"]
    assert herald.get_key(key["id"]) in list(herald.keys())
    herald.revoke_key(key["id"])
    entries = list(herald.audit(organization=org, since=datetime.now(timezone.utc) - timedelta(minutes=5)))
    assert "putConversation" in [entry["operation"] for entry in entries]
    assert herald.audit(result="refused", key=key["id"]).page(limit=1).items[0]["operation"] == "listUsers"


@pytest.fixture
def connected(server: Server, org: str) -> Iterator[str]:
    """alice, who listens with a token that was signed here."""
    token = TokenIssuer(server.token_secret).issue(org, "alice", ttl_seconds=60)
    with httpx.Client() as http, http.stream(
        "GET", f"{server.url}/sse", headers={"Authorization": f"Bearer {token.token}"}
    ) as response:
        assert response.status_code == 200
        yield token.id


def test_a_token_that_is_signed_here_connects_and_can_be_revoked(
    herald: Herald, server: Server, org: str, connected: str
) -> None:
    assert [user["id"] for user in herald.online(org)] == ["alice"]
    assert herald.count_online(org, uids=["alice", "bob"]) == {"count": 1, "connections": 1}
    assert [user["connections"] for user in herald.online(org, uids=["alice", "bob"])] == [1, 0]
    herald.revoke_token(org, "alice", connected)
    herald.put_user(org, "ünï")
    issuer = TokenIssuer(server.token_secret)
    tokens = [issuer.issue(org, "ünï", ttl_seconds=60).token, herald.create_token(org, "bob", ttl_seconds=60)["token"]]
    for uid in ("ünï", "bob"):
        herald.end_sessions(org, uid)
    for token in [*tokens, TokenIssuer("x" * 32).issue(org, "bob").token]:
        answer = httpx.get(f"{server.url}/sse", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401


def test_the_server_tells_how_it_is_and_what_it_can_do(herald: Herald) -> None:
    assert herald.nodes()[0]["state"] == "live"
    assert herald.get_health()["status"] == "ok" == herald.get_readiness()["checks"]["store"]
    assert "herald_sends_total" in herald.get_metrics() and "herald_sends_total" in herald.get_metrics(token="t")
    assert "/admin/message" in herald.get_openapi()["paths"] and "asyncapi" in herald.get_asyncapi()


def test_the_feed_shows_what_is_delivered(herald: Herald, org: str) -> None:
    heard: list[Event] = []
    mids: list[str] = []

    def send() -> None:
        mids.append(say(herald, org, "a\u2028b"))
        herald.mark_read(organizationId=org, senderId="bob", messageRead={"cid": "c"})
        herald.send_system_message(organizationId=org, senderId="alice", messageSystem={"uids": ["bob"]})

    with closing(herald.events(org, on_connect=send)) as events:
        for event in events:
            heard.append(event)
            if "system_message" in event:
                break
    assert [list(event) for event in heard] == [["message"], ["message_read"], ["system_message"]]
    assert heard[0]["message"]["_id"] == mids[0] and heard[0]["message"]["body"] == "a\u2028b"
    with pytest.raises(HeraldError) as caught:
        next(herald.events("nowhere"))
    assert caught.value.code == "organization_not_found"


def test_a_batch_of_many_sends_is_answered_in_order_and_what_is_refused_fails_alone(herald: Herald, org: str) -> None:
    def sends() -> Iterator[Send]:
        for number in range(1, 1001):
            cid = "nowhere" if number % 300 == 0 else "c"
            yield {"organizationId": org, "senderId": "alice", "message": {"cid": cid, "body": str(number)}}

    answers = list(herald.send_batch(sends()))
    assert [answer["line"] for answer in answers] == list(range(1, 1001))
    refused = {answer["line"]: answer["problem"]["code"] for answer in answers if "problem" in answer}
    assert refused == dict.fromkeys((300, 600, 900), "conversation_not_found")
    assert [int(message["body"]) for message in herald.messages(org, "c")] == [
        number for number in range(1000, 0, -1) if number % 300
    ]
    assert next(herald.send_batch(sends(), dry_run=True))["dry_run"]["recipients"] == 2


def test_a_batch_of_lines_numbers_those_that_are_blank_too(herald: Herald, org: str) -> None:
    line = f'{{"organizationId":"{org}","senderId":"alice","messageSystem":{{"id":"%s","uids":["bob"]}}}}\n'
    lines: list[str | bytes] = [line % "a", "\n", (line % "b").encode(), "{", line % "a"]
    answers = list(herald.send_batch(lines, lines_per_request=2, rate=1000))
    assert [(answer["line"], answer["status"], answer.get("replayed")) for answer in answers] == [
        (1, 201, None),
        (3, 201, None),
        (4, 400, None),
        (5, 201, True),
    ]


def test_what_is_exported_can_be_imported(herald: Herald, org: str) -> None:
    for number in range(30):
        say(herald, org, f"{number} \u2028 x")
    lines = list(herald.export_organization(org))
    assert len([line for line in lines if "message" in line]) == 30
    other = f"{org} copy"[:128]
    herald.put_organization(other)
    reports = list(herald.import_lines(other, lines, dry_run=True, lines_per_request=10))
    assert reports[-1] == {"done": True, "lines": len(lines), "failed": 0}
    assert list(herald.users(other)) == []
    for _ in range(2):  # the second time, everything is there already
        reports = list(herald.import_lines(other, [*lines, "{}"], lines_per_request=10))
        assert reports[-1] == {"done": True, "lines": len(lines) + 1, "failed": 1}
        [fault] = [report for report in reports if "line" in report]
        assert (fault["line"], fault["problem"]["status"]) == (len(lines) + 1, 422)
    assert len(list(herald.messages(other, "c"))) == 30
    assert [list(line) for line in herald.export_user(other, "bob")][0] == ["user"]


def test_ten_thousand_lines_that_fail_do_not_stop_an_import(herald: Herald, org: str) -> None:
    lines = (f'{{"user":{{"id":"{number}","nme":1}}}}' for number in range(10_000))
    reports = list(herald.import_lines(org, lines))
    assert reports[-1] == {"done": True, "lines": 10_000, "failed": 10_000}
    assert len([report for report in reports if "line" in report]) == 10_000


def test_the_async_client_does_the_same(server: Server, org: str) -> None:
    async def run() -> None:
        async with AsyncHerald(server.url, server.key) as herald:
            sent = await herald.send_message(
                organizationId=org, senderId="alice", message={"cid": "c", "body": "Hello", "id": new_id()}
            )
            assert [message["_id"] async for message in herald.messages(org, "c")] == [sent["ask"]["server_mid"]]

            async def sends() -> AsyncIterator[Send]:
                for number in range(300):
                    await asyncio.sleep(0)
                    yield {"organizationId": org, "senderId": "alice", "message": {"cid": "c", "body": str(number)}}

            assert [answer["line"] async for answer in herald.send_batch(sends())] == list(range(1, 301))
            reports = [report async for report in herald.import_lines(org, ['{"user":{"id":"dave"}}'])]
            assert reports[-1] == {"done": True, "lines": 1, "failed": 0}
            counts = await asyncio.gather(*[herald.count_online(org) for _ in range(20)])
            assert {count["count"] for count in counts} == {0}

            async def words() -> AsyncIterator[str]:
                for word in ("one ", "two"):
                    await asyncio.sleep(0)
                    yield word

            piped = await herald.pipe(words(), organizationId=org, senderId="alice", message={"cid": "c"})
            assert piped.length == 7
            connected = asyncio.Event()
            events = herald.events(org, kind="message_edit", on_connect=connected.set)
            first = asyncio.ensure_future(anext(events))
            await connected.wait()
            await herald.edit_message(
                organizationId=org, senderId="alice", messageEdit={"id": sent["ask"]["server_mid"], "body": "Hi"}
            )
            assert (await first)["message_edit"]["body"] == "Hi"
            await events.aclose()

    asyncio.run(run())


def test_each_operation_has_a_method_and_both_clients_have_the_same() -> None:
    folder = Path(package.__file__).parent / "_async"
    used = {
        node.value
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant)
    }
    assert set(OPERATIONS) <= used

    def methods(client: type) -> set[str]:
        return {name.replace("aclose", "close") for name, _ in inspect.getmembers(client) if not name.startswith("_")}

    assert methods(Herald) == methods(AsyncHerald)
    for name in methods(Herald) - {"close"}:
        parameters = [list(inspect.signature(getattr(client, name)).parameters) for client in (Herald, AsyncHerald)]
        assert parameters[0] == parameters[1]
