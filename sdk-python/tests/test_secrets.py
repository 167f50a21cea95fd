"""Keys and other secrets are in no error, no representation and no log."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import pickle
import socket
import traceback
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from conftest import script
from listener import hear, listening

from herald import AsyncHerald, Herald, HeraldError, TokenIssuer, webhooks

SECRET = "hk_01a1f910-573b-7c21-9d4e-6a5b4c3d2e1f_S3cretS3cret"
Clients = pytest.mark.parametrize("kind", [Herald, AsyncHerald])


def told(error: BaseException) -> str:
    """All that a reporter of errors could show of an error and what led to it: texts, members, and variables of our calls."""
    texts: list[str] = []
    left: list[BaseException] = [error]
    while left:
        each = left.pop()
        texts += [str(each), repr(each), repr(each.args), repr(vars(each))]
        if isinstance(each, httpx.RequestError) and getattr(each, "_request", None) is not None:
            texts.append(repr(list(each.request.headers.items())))
        for frame, _ in traceback.walk_tb(each.__traceback__):
            if "/tests/" not in frame.f_code.co_filename:
                texts += [repr(value) for value in frame.f_locals.values()]
        left += [one for one in (each.__cause__, each.__context__) if one is not None]
    return "\n".join(texts)


def failure(action: Callable[[], Any]) -> BaseException:
    with pytest.raises((HeraldError, ValueError)) as caught:
        action()
    return caught.value


def get_user(kind: type[Herald] | type[AsyncHerald], url: str, key: str, **options: Any) -> Any:
    """Makes a call with a client of either kind."""
    if kind is Herald:
        with Herald(url, key, **options) as client:
            return client.get_user("o", "u")

    async def call() -> Any:
        async with AsyncHerald(url, key, **options) as client:
            return await client.get_user("o", "u")

    return asyncio.run(call())


@Clients
def test_white_space_around_a_key_is_left_out(kind: type[Herald] | type[AsyncHerald]) -> None:
    heads: list[bytes] = []

    def treat(connection: socket.socket) -> None:
        heads.append(hear(connection))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{\"id\":\"u\"}")

    with listening(treat) as server:
        assert get_user(kind, f" {server.url}\n", f"\t{SECRET} \r\n")["id"] == "u"
    assert f"\r\nAdmin-Api-Key: {SECRET}\r\n".encode() in heads[0]


@pytest.mark.parametrize("character", ["\n", "\r", " ", "\0", "\x7f", "é", "\u2028", "\udce9", "“"])
@Clients
def test_a_key_with_other_characters_is_refused_at_once_without_it(
    kind: type[Herald] | type[AsyncHerald], character: str
) -> None:
    error = failure(lambda: kind("http://127.0.0.1:1", f"{SECRET[:-4]}{character}{SECRET[-4:]}"))
    assert isinstance(error, ValueError) and "the API key must be visible ASCII characters" in str(error)
    for text in ("".join(traceback.format_exception(error)), repr(error.args)):
        assert SECRET[-12:-4] not in text
    assert error.__context__ is None and error.__cause__ is None


def test_a_key_that_is_missing_is_told_as_such() -> None:
    missing: Any
    for missing in ("", " \n", None):
        with pytest.raises(ValueError, match="the API key is missing"):
            Herald("http://herald", missing)


@Clients
def test_an_error_of_the_network_has_no_key_in_it_however_deep(kind: type[Herald] | type[AsyncHerald]) -> None:
    def cut(connection: socket.socket) -> None:
        connection.recv(65536)

    with listening(cut) as server:
        for url in ("http://127.0.0.1:1", server.url, server.url.replace("http:", "https:")):
            error = failure(lambda: get_user(kind, url, SECRET, retries=0))
            assert isinstance(error, HeraldError) and error.code == "unreachable"
            assert SECRET not in told(error)


def test_a_client_shows_no_key() -> None:
    for client in (Herald("http://herald", SECRET), AsyncHerald("http://herald", SECRET)):
        assert SECRET not in repr(client) + str(client) + repr(vars(client)) + f"{client}"
    issuer = TokenIssuer(SECRET * 2)
    token = issuer.issue("o", "u")
    assert SECRET not in repr(issuer) + repr(vars(issuer)) and token.token not in repr(token) + str(token)


def test_the_log_has_no_key_at_any_level(caplog: pytest.LogCaptureFixture) -> None:
    def treat(connection: socket.socket) -> None:
        hear(connection)
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    with listening(treat) as server, caplog.at_level(logging.DEBUG), Herald(server.url, SECRET) as client:
        client.delete_user("o", "u")
    assert "204" in caplog.text and SECRET not in caplog.text


def test_a_header_that_http_does_not_allow_is_not_quoted_and_not_sent_again(waits: list[float]) -> None:
    with listening(lambda connection: connection.close()) as server:
        with Herald(server.url, SECRET) as client:
            error = failure(lambda: client.upload("o", "a", b"x", content_type=f"text/plain\n{SECRET}"))
            assert isinstance(error, HeraldError) and not error.is_unknown
            assert "cannot be sent" in str(error) and SECRET not in str(error) + repr(error.args)
            assert error.__cause__ is None and error.__context__ is None
            for token in ("a b", f"{SECRET}\n{SECRET}", "é" * 9):
                error = failure(lambda: client.get_metrics(token=token))
                assert isinstance(error, ValueError) and token not in str(error)
    assert waits == []


def test_a_token_of_the_metrics_is_read_like_a_key() -> None:
    server = script(httpx.Response(200, text="# HELP"))  # of the type text/plain
    assert server.client().get_metrics(token=" the-token\n") == "# HELP"
    assert server.requests[0].headers["Authorization"] == "Bearer the-token"


def test_an_address_with_a_password_is_refused_without_it() -> None:
    for url in (
        f"http://user:{SECRET}@herald",
        f"http://user:{SECRET}/x@herald",
        f"user:{SECRET}@herald",
        f"http://{SECRET}@herald:port",
        SECRET,
    ):
        error = failure(lambda: Herald(url, "k"))
        assert isinstance(error, ValueError) and "the address of the server" in str(error)
        assert SECRET not in "".join(traceback.format_exception(error)) + repr(error.args)


def test_a_secret_of_tokens_is_stripped_and_never_told() -> None:
    def now() -> float:
        return 1_795_000_000.0

    def signed(secret: str) -> str:
        token = TokenIssuer(secret, now=now).issue("o", "u")
        return token.token

    long = f"{SECRET} ü"
    header, claims, signature = signed(f"{long}\n").split(".")
    expected = hmac.new(long.encode(), f"{header}.{claims}".encode(), hashlib.sha256).digest()
    assert base64.urlsafe_b64decode(signature + "=") == expected
    for secret in (SECRET[:20], f"{SECRET}\udce9"):
        error = failure(lambda: TokenIssuer(secret))
        assert secret[:20] not in told(error).replace(repr(secret), "") and error.__context__ is None


def test_a_secret_of_a_webhook_is_stripped_and_never_told() -> None:
    headers = {"webhook-id": "1", "webhook-timestamp": "1795000000", "webhook-signature": "v1,AAAA"}
    with pytest.raises(webhooks.WebhookError, match="signature"):
        webhooks.verify(b"{}", headers, " whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", now=1_795_000_000)
    for secret in ("whsec_MfKQ9r8G!KYqr", "whsec_é", "whsec_", "whsec_\udce9MfKQ9r8G"):
        error = failure(lambda: webhooks.verify(b"{}", headers, secret, now=1_795_000_000))
        assert type(error) is ValueError and "MfKQ9r8G" not in str(error) + repr(error.args)
        assert error.__context__ is None and error.__cause__ is None


def test_an_error_without_an_answer_can_be_pickled() -> None:
    error = failure(lambda: get_user(Herald, "http://127.0.0.1:1", SECRET, retries=0))
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)
