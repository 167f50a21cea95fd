"""Streams of lines, and of server-sent events, however their bytes are cut."""

from __future__ import annotations

import json
from typing import Any


class LineReader:
    """Reads lines that end with a line feed. (`str.splitlines` ends them elsewhere, too, such as at U+2028.)"""

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def read(self, piece: bytes) -> list[bytes]:
        """The lines that a piece of the stream completes, without their ends."""
        *lines, rest = piece.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._rest, lines[0]])
            self._rest = []
        self._rest.append(rest)
        return lines

    def read_json(self, piece: bytes) -> list[Any]:
        """The values of the lines that a piece completes."""
        return [json.loads(line) for line in self.read(piece) if line.strip()]


class EventReader:
    """Reads the data of server-sent events (WHATWG HTML, section 9.2.6)."""

    def __init__(self) -> None:
        self._lines = LineReader()
        self._data: list[bytes] = []

    def read(self, piece: bytes) -> list[Any]:
        """The values, in JSON, of the events that a piece of the stream completes. Passes over comments and other fields."""
        events = []
        for raw in self._lines.read(piece):
            line = raw.rstrip(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line.removeprefix(b"data:").removeprefix(b" "))
            elif not line and self._data:
                events.append(json.loads(b"\n".join(self._data)))
                self._data = []
        return events
