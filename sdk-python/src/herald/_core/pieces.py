"""Batches and imports, in pieces: one request each.

HTTP/1.1 in Python does not read an answer while it sends, and a server whose answer nobody reads stops reading. So a request
has few lines. That also makes each of them safe to repeat from memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from ..errors import HeraldError
from ..ids import new_id
from .answers import problem_error
from .calls import json_bytes

Line = tuple[int, bytes]
"""A line with its number, counted from 1."""

_MOST_BYTES = 1 << 20


class Piece(Protocol):
    """The lines of one request, and what the server has said of them."""

    @property
    def is_done(self) -> bool:
        """Whether it has said all."""
        ...

    @property
    def body(self) -> bytes:
        """The lines that are left to send."""
        ...

    def read(self, line: dict[str, Any]) -> list[Any]:
        """What a line of the answer means for the caller. Raises `HeraldError` if the answer ends early."""
        ...



class Slicer:
    """Cuts lines into pieces of so many lines, and of about a mebibyte."""

    def __init__(self, most_lines: int) -> None:
        if most_lines < 1:
            raise ValueError("a request has at least one line")
        self._most_lines = most_lines
        self._count = 0
        self._lines: list[Line] = []
        self._bytes = 0

    def add(self, line: Mapping[str, Any] | str | bytes) -> list[Line]:
        """Takes a line: text as it is, even if it is blank, and anything else as JSON. Returns a piece when it is full."""
        self._count += 1
        text = line.encode() if isinstance(line, str) else line if isinstance(line, bytes) else json_bytes(line)
        text = text.strip()
        if text:
            self._lines.append((self._count, text))
            self._bytes += len(text)
        return self.rest() if len(self._lines) >= self._most_lines or self._bytes >= _MOST_BYTES else []

    def rest(self) -> list[Line]:
        """The lines that are in no piece yet."""
        lines, self._lines, self._bytes = self._lines, [], 0
        return lines


def send_with_id(send: Mapping[str, Any] | str | bytes) -> Mapping[str, Any] | str | bytes:
    """A send with an id, which is random if it has none. Text stays as it is."""
    if isinstance(send, (str, bytes)):
        return send
    for member in ("message", "messageSystem"):
        if member in send:
            return {**send, member: {**send[member], "id": send[member].get("id") or new_id()}}
    return send


class BatchPiece:
    """Sends of one request, which the server answers one by one and in order."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._answered = 0
        self._begun_at = 0

    @property
    def is_done(self) -> bool:
        return self._answered == len(self._lines)

    @property
    def body(self) -> bytes:
        self._begun_at = self._answered
        return b"\n".join(text for _, text in self._lines[self._answered :])

    def read(self, line: dict[str, Any]) -> list[Any]:
        index = self._begun_at + line["line"] - 1
        number = self._lines[min(index, len(self._lines) - 1)][0]
        if "done" in line:
            raise _ended(line["problem"], f"the batch ended before line {number} was answered: ")
        self._answered = index + 1
        return [{**line, "line": number}]


class ImportCounts:
    """How many lines were imported so far, and how many of them failed."""

    def __init__(self) -> None:
        self.lines = 0
        self.failed = 0

    def report(self, **members: bool) -> dict[str, Any]:
        """The report of them."""
        return {**members, "lines": self.lines, "failed": self.failed}


class ImportPiece:
    """Lines of one request. The same lines again change nothing, so a piece that breaks off is sent again as a whole."""

    def __init__(self, lines: list[Line], counts: ImportCounts, declarations: list[bytes]) -> None:
        """The declarations come before the lines, and nothing is reported of them."""
        self._lines = lines
        self._counts = counts
        self._declarations = declarations
        self._failed: set[int] = set()
        self.is_done = False

    @property
    def body(self) -> bytes:
        return b"\n".join([*self._declarations, *(text for _, text in self._lines)])

    def read(self, line: dict[str, Any]) -> list[Any]:
        if "line" in line:
            index = line["line"] - 1 - len(self._declarations)
            if index < 0 or index in self._failed:
                return []
            self._failed.add(index)
            return [{**line, "line": self._lines[index][0]}]
        if "done" not in line:
            return []  # how far it is within the piece
        if not line["done"]:
            raise _ended(line["problem"], "the import ended early: ")
        self.is_done = True
        self._counts.lines = self._lines[-1][0]
        self._counts.failed += len(self._failed)
        return [self._counts.report()]


class Conversations:
    """The conversations of a dry run, which creates none: a piece declares again those of earlier pieces that it names."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def declare(self, lines: list[Line]) -> list[bytes]:
        """The declarations that a piece needs. Remembers those that it makes."""
        named: set[str] = set()
        made: set[str] = set()
        for _, text in lines:
            try:
                line = json.loads(text)
                member = line.get("participant") or line.get("message") or {}
                named.add(str(member.get("cid")))
                made.add(str((line.get("conversation") or {}).get("id")))
            except (ValueError, AttributeError):
                continue  # the server says what is wrong with it
        declarations = [json_bytes({"conversation": {"id": cid}}) for cid in sorted(named & self._known)]
        self._known |= made
        return declarations


def _ended(problem: dict[str, Any], prefix: str) -> HeraldError:
    return problem_error(problem, int(problem["status"]), prefix=prefix)
