"""The server under test, and a server that answers as a test says."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from herald import Herald


@dataclass
class Script:
    """Gives these answers in order; an exception stands for none. Keeps what it was asked."""

    answers: list[httpx.Response | Exception]
    requests: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: Any) -> Herald:
        http_client = httpx.Client(transport=httpx.MockTransport(self))
        return Herald("http://herald/base/", "the-key", http_client=http_client, **options)

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests]


def script(*answers: httpx.Response | Exception) -> Script:
    return Script(list(answers))


def problem(status: int, code: str, headers: dict[str, str] | None = None, **members: object) -> httpx.Response:
    body = {
        "type": f"/docs/errors#{code}",
        "title": "the title",
        "status": status,
        "detail": f"detail of {code}",
        "code": code,
        "request_id": "r1",
        "errors": [{"pointer": "/message/cid", "detail": "is missing"}],
        **members,
    }
    return httpx.Response(status, json=body, headers={"X-Request-Id": "r1", **(headers or {})})


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Does not wait before retries, and keeps how long it would have been."""
    times: list[float] = []
    monkeypatch.setattr("herald._sync.caller.sleep", times.append)
    monkeypatch.setattr("herald._sync.feed.sleep", times.append)
    return times


@dataclass(frozen=True)
class Server:
    url: str
    key: str
    token_secret: str


@pytest.fixture(scope="session")
def server() -> Server:
    url = os.environ.get("HERALD_TEST_URL")
    if url is None:
        pytest.skip("HERALD_TEST_URL names no server")
    return Server(url, os.environ["HERALD_TEST_KEY"], os.environ["HERALD_TEST_TOKEN_SECRET"])


@pytest.fixture
def herald(server: Server) -> Iterator[Herald]:
    with Herald(server.url, server.key) as client:
        yield client


@pytest.fixture
def org(herald: Herald, request: pytest.FixtureRequest) -> str:
    """An organization of this test, with alice and bob in the conversation c."""
    name = f"python {request.node.name}"[:128]
    herald.put_organization(name)
    herald.put_conversation(name, "c", participants=["alice", "bob"])
    return name
