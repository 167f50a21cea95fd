"""Servers on real sockets: one that does what a test says with each connection, and one that speaks HTTP and keeps connections."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Listener:
    """A server of TCP. Keeps the connections that it got."""

    def __init__(self, treat: Callable[[socket.socket], None]) -> None:
        self.connections: list[socket.socket] = []
        self._treat = treat
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            if self._thread is not threading.current_thread() or self._closes:
                connection.close()
                return
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    _closes = False

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), closing(connection):
            self._treat(connection)

    def close(self) -> None:
        """Ends the server with its connections."""
        self._closes = True
        socket.create_connection(("127.0.0.1", self.port)).close()
        self._thread.join()
        self._socket.close()
        for connection in self.connections:
            connection.close()


@contextmanager
def listening(treat: Callable[[socket.socket], None]) -> Iterator[Listener]:
    """A server that does this with each connection."""
    with closing(Listener(treat)) as listener:
        yield listener


def hear(connection: socket.socket) -> bytes:
    """Reads the head of a request."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(65536)
        if not piece:
            break
        head += piece
    return head


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answers with the last step of the path as an id, and the client's port."""
        body = json.dumps({"id": self.path.rpartition("/")[2], "port": self.client_address[1]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def echoing(tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server that answers each GET with the last step of its path as an id."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
