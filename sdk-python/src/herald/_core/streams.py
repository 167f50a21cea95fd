"""Streams of lines, and of server-sent events, however their bytes are cut."""

from __future__ import annotations

import json
import re
from typing import Any, Final

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LINE_FEED: Final = re.compile(rb"\n")
_ANY_END: Final = re.compile(rb"\r\n|\n|\r")


class LineReader:
    """Reads lines that end with a line feed. (`str.splitlines` ends them elsewhere, too, such as at U+2028.)"""

    def __init__(self, end: re.Pattern[bytes] = _LINE_FEED) -> None:
        self._end = end
        self._rest: list[bytes] = []

    @property
    def is_done(self) -> bool:
        """Whether nothing is left but blanks: every line has ended."""
        return not b"".join(self._rest).strip()

    def read(self, piece: bytes) -> list[bytes]:
        """The lines that a piece of the stream completes, without their ends."""
        *lines, rest = self._end.split(piece)
        if lines:
            lines[0] = b"".join([*self._rest, lines[0]])
            self._rest = []
        if rest:
            self._rest.append(rest)
        return lines

    def read_json(self, piece: bytes) -> list[Any]:
        """The values of the lines that a piece completes."""
        return [json.loads(line) for line in self.read(piece) if line.strip()]


class EventReader:
    """Reads the ids and the data of server-sent events (WHATWG HTML, section 9.2.6)."""

    def __init__(self) -> None:
        self._lines = LineReader(_ANY_END)
        self._data: list[bytes] = []
        self._id: str | None = None
        self._is_first = True
        self._follows_return = False

    def read(self, piece: bytes) -> list[tuple[str | None, Any]]:
        """The id, if there is one, and the value, in JSON, of each event that a piece of the stream completes.

        The value is `None` if there is only an id. Passes over comments and other fields.
        """
        if self._follows_return and piece:
            piece = piece.removeprefix(b"\n")  # of a line end that was cut: the line was complete before
            self._follows_return = False
        if piece:
            self._follows_return = piece.endswith(b"\r")
        events: list[tuple[str | None, Any]] = []
        for raw in self._lines.read(piece):
            line = raw.removeprefix(_BYTE_ORDER_MARK) if self._is_first else raw
            self._is_first = False
            field, _, value = line.partition(b":")
            if field == b"data":
                self._data.append(value.removeprefix(b" "))
            elif field == b"id":
                self._id = value.removeprefix(b" ").decode()
            elif not line:
                text = b"\n".join(self._data)
                if text or self._id is not None:
                    events.append((self._id, json.loads(text) if text else None))
                self._data, self._id = [], None
        return events
