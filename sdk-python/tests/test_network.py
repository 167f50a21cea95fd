"""What is said when something is between the client and the server, or when the address is wrong."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import problem, script
from listener import echoing, hear, listening

from herald import AsyncHerald, Herald, HeraldError

Clients = pytest.mark.parametrize("kind", [Herald, AsyncHerald])


def complaint(kind: type[Herald] | type[AsyncHerald], url: str, **options: Any) -> HeraldError:
    async def call() -> None:
        async with AsyncHerald(url, "k", **options) as client:
            await client.get_user("o", "u")

    with pytest.raises(HeraldError) as caught:
        if kind is AsyncHerald:
            asyncio.run(call())
        else:
            with Herald(url, "k", **options) as client:
                client.get_user("o", "u")
    return caught.value


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails if a call waits for a retry."""

    def refuse(seconds: float) -> None:
        raise AssertionError(f"waits for {seconds} s")

    monkeypatch.setattr("herald._sync.caller.sleep", refuse)
    monkeypatch.setattr("herald._async.caller.sleep", refuse)


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    folder = tmp_path_factory.mktemp("tls")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subprocess.run([*made, "-keyout", key, "-out", certificate, "-subj", "/CN=localhost"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "is missing: write one such as http://127.0.0.1:7070"),
        ("127.0.0.1:7070", "'127.0.0.1:7070' must begin with http:// or https://: write http://127.0.0.1:7070"),
        ("herald.example.com", "write http://herald.example.com"),
        ("ftp://herald", "'ftp://herald' must begin with http:// or https://: write one such as http://127.0.0.1:7070"),
        ("http://", "must begin with http:// or https://"),
        ("http://herald:port", "'http://herald:port' is not a URL"),
        (None, "is missing"),
    ],
)
@Clients
def test_an_address_that_cannot_be_used_is_refused_with_what_to_write(
    kind: type[Herald] | type[AsyncHerald], url: Any, said: str
) -> None:
    with pytest.raises(ValueError) as caught:
        kind(url, "k")
    assert "the address of the server" in str(caught.value) and said in str(caught.value)


@Clients
def test_https_to_a_port_that_speaks_http_is_told_at_once(kind: type[Herald] | type[AsyncHerald], no_waits: None) -> None:
    with echoing() as url:
        wrong = url.replace("http:", "https:")
        error = complaint(kind, wrong)
        said = f"no response from {wrong}: the server speaks plain HTTP on this port, not HTTPS. Use {url} instead"
        assert (str(error), error.is_unknown) == (said, False)


@Clients
def test_http_to_a_port_that_speaks_https_is_told_at_once(
    kind: type[Herald] | type[AsyncHerald], no_waits: None, tls: ssl.SSLContext
) -> None:
    with echoing(tls) as url:
        wrong = url.replace("https:", "http:")
        said = f"no response from {wrong}: the server speaks HTTPS on this port, not plain HTTP. Use {url} instead"
        assert str(complaint(kind, wrong)) == said


@Clients
def test_a_certificate_that_is_not_trusted_is_told_at_once(
    kind: type[Herald] | type[AsyncHerald], no_waits: None, tls: ssl.SSLContext
) -> None:
    with echoing(tls) as url:
        error = complaint(kind, url)
        assert "its certificate is not trusted (self-signed certificate)" in str(error) and "SSL_CERT_FILE" in str(error)
        assert not error.is_unknown


@Clients
def test_what_went_wrong_is_said_in_words(kind: type[Herald] | type[AsyncHerald]) -> None:
    assert str(complaint(kind, "http://127.0.0.1:1", retries=0)) == "no response from http://127.0.0.1:1: connection refused"
    assert str(complaint(kind, "http://nowhere.invalid", retries=0)).endswith(": the host name is unknown")
    with listening(lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")) as server:
        assert complaint(kind, server.url.replace("http:", "https:"), retries=0).code == "unreachable"


@Clients
def test_a_proxy_that_is_gone_is_named(kind: type[Herald] | type[AsyncHerald], monkeypatch: pytest.MonkeyPatch) -> None:
    with echoing() as url:
        monkeypatch.setenv("http_proxy", "http://user:s3cret@127.0.0.1:1")
        for name in ("HTTP_PROXY", "no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        error = complaint(kind, url, retries=0)
        assert str(error) == f"no response from {url} through the proxy 127.0.0.1:1 (from http_proxy): connection refused"
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        with Herald(url, "k", retries=0) as client:
            assert client.get_user("o", "u")["id"] == "u"


@Clients
def test_an_answer_that_is_not_of_a_herald_server_is_no_success(kind: type[Herald] | type[AsyncHerald]) -> None:
    answers = [
        ("200 OK", "text/html", '{"id":"u"}'),
        ("200 OK", "text/html", ""),
        ("200 OK", "application/json", ""),
        ("200 OK", "application/json", "null"),
        ("200 OK", "application/json", "[]"),
        ("200 OK", "application/json", "[" * 100_000),
        ("200 OK", "application/jsonish", '{"id":"u"}'),
        ("404 Not Found", "application/json", '{"code":"x","errors":["y"],"detail":7}'),
    ]
    for status, content_type, body in answers:

        def treat(connection: socket.socket) -> None:
            hear(connection)
            head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall((head + body).encode())

        with listening(treat) as server:
            error = complaint(kind, server.url, retries=0)
            assert error.code == ("x" if "x" in body else "not_herald")


def test_a_page_is_no_stream_and_no_success_of_a_call_without_an_answer() -> None:
    page = httpx.Response(200, headers={"Content-Type": "text/html"}, text="<p>Welcome</p>")
    for action in (
        lambda client: list(client.export_organization("o")),
        lambda client: list(client.send_batch([b"{}"])),
        lambda client: next(client.events("o")),
        lambda client: client.delete_user("o", "u"),
        lambda client: client.get_metrics(),
        lambda client: client.send_message(organizationId="o", senderId="u", message={"cid": "c"}),
    ):
        with pytest.raises(HeraldError, match="not_herald"):
            action(script(page).client())
    other = httpx.Response(200, json={"status": "ok"})
    with pytest.raises(HeraldError, match="not_herald"):
        script(other).client().send_message(organizationId="o", senderId="u", message={"cid": "c"})


def test_an_error_says_what_its_code_means_and_then_what_to_do() -> None:
    body = {"code": "conversation_not_found", "title": "The conversation does not exist", "detail": "Create it."}
    for detail, said in (
        ("Create it.", "The conversation does not exist: Create it."),
        ("The conversation does not exist", "The conversation does not exist"),
        ("", "The conversation does not exist"),
    ):
        with pytest.raises(HeraldError) as caught:
            script(httpx.Response(404, json={**body, "detail": detail})).client().get_user("o", "u")
        assert str(caught.value) == f"404 conversation_not_found: {said}"
        assert caught.value.title == "The conversation does not exist"


def test_a_code_is_one_of_those_that_are_typed() -> None:
    from typing import get_args

    from herald.errors import Code

    codes = {code for part in get_args(Code) for code in (get_args(part) or (part,))}
    assert {"message_id_conflict", "unreachable", "not_herald"} <= codes
    with pytest.raises(HeraldError) as caught:
        script(problem(404, "user_not_found")).client().get_user("o", "u")
    # A type checker refuses a code that does not exist.
    assert caught.value.code != "user_not_fuond"  # type: ignore[comparison-overlap]


def test_the_folder_of_the_package_says_that_it_is_typed() -> None:
    import herald

    assert (Path(herald.__file__).parent / "py.typed").exists()


def test_a_store_of_files_that_is_gone_is_named_without_the_signature_of_the_address() -> None:
    for location, said in (
        ("http://127.0.0.1:1/f?X-Amz-Signature=s3cret", "no response from http://127.0.0.1:1: connection refused"),
        ("http://bucket:x/f?X-Amz-Signature=s3cret", "Invalid URL in location header: Invalid port: 'x'."),
        ("mailto:s3cret@herald", "it names no address"),
    ):

        def treat(connection: socket.socket) -> None:
            hear(connection)
            connection.sendall(f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())

        with listening(treat) as server, Herald(server.url, "k") as client:
            with pytest.raises(HeraldError) as caught:
                list(client.download("f"))
            assert str(caught.value).endswith(said) and "s3cret" not in repr(caught.value.args)
