"""Limits of the time of an attempt as a whole. Those of httpx are for each read and each write, however many there are."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore
from httpx import Client

_PIECE_BYTES = 1 << 16

_ends_at: ContextVar[float | None] = ContextVar("herald_ends_at", default=None)


@contextmanager
def within_limit(seconds: float | None) -> Generator[None, None, None]:
    """Limits what is done with a client of `limit_client` until the block ends. `None` is no limit."""
    token = _ends_at.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends_at.reset(token)


def limit_client(client: Client) -> Client:
    """Makes a client heed `within_limit`.

    httpx passes no network to its transports, and they have theirs under private names. A version without these keeps the
    limits of each read and write, and a test says so.
    """
    transports = [getattr(client, "_transport", None), *getattr(client, "_mounts", {}).values()]
    for transport in transports:
        pool = getattr(transport, "_pool", None)
        network = getattr(pool, "_network_backend", None)
        if isinstance(network, httpcore.NetworkBackend):
            setattr(pool, "_network_backend", _Network(network))
    return client


def _left(timeout: float | None, error: type[Exception]) -> float | None:
    """How long one step may take. Raises the error if the limit is over."""
    ends_at = _ends_at.get()
    if ends_at is None:
        return timeout
    left = ends_at - time.monotonic()
    if left <= 0:
        raise error("timed out")
    return left if timeout is None else min(left, timeout)


class _Network(httpcore.NetworkBackend):
    """Connects to one address of a host after the other."""

    def __init__(self, network: httpcore.NetworkBackend) -> None:
        self._network = network

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as cause:
            raise httpcore.ConnectError(str(cause)) from cause
        addresses = list(dict.fromkeys(str(place[0]) for *_, place in found))
        for address in addresses:
            left = _left(timeout, httpcore.ConnectTimeout)
            try:
                stream = self._network.connect_tcp(address, port, left, local_address, socket_options)
                return _Stream(stream)
            except httpcore.ConnectError:
                if address == addresses[-1]:
                    raise
        raise httpcore.ConnectError(f"{host} has no address")

    def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        return _Stream(self._network.connect_unix_socket(path, _left(timeout, httpcore.ConnectTimeout), socket_options))

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE_BYTES):
            self._stream.write(buffer[start : start + _PIECE_BYTES], _left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
