"""Calls, as they go to the server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from .operations import OPERATIONS, Operation
from .secrets import Secret

Value = str | int | datetime | Sequence[str] | None
"""A value of a query. `None` leaves it out."""

# What is no GET, PUT or DELETE, and may be repeated nevertheless.
_SAFE: Final[frozenset[Operation]] = frozenset(
    {
        "sendMessage",
        "sendSystemMessage",
        "sendBatch",
        "importLines",
        "createToken",
        "approveProposal",
        "rejectProposal",
    }
)
_MOST_WAIT = 30


@dataclass(frozen=True)
class Call:
    """One call. `target` is the path with its query; `extra` is how many seconds longer than usual it may take; the status
    `also` is no failure; the answer is text if `is_text`, otherwise JSON; and `bearer` is a further credential."""

    method: str
    target: str
    body: bytes | None
    headers: dict[str, str]
    is_safe: bool
    extra: float = 0
    also: int | None = None
    is_text: bool = False
    bearer: Secret | None = None


def call_of(
    operation: Operation,
    ids: Sequence[str] = (),
    *,
    query: Mapping[str, Value] | None = None,
    body: object = None,
    wait: int | None = None,
) -> Call:
    """The call of an operation with its identifiers, in the order of the path.

    Raises `ValueError` for an identifier that cannot be part of a URL.
    """
    method, template = OPERATIONS[operation]
    headers = {"Accept": "application/json"}
    content = None
    if body is not None:
        headers["Content-Type"] = "application/json"
        content = json_bytes(body)
    if wait is not None:
        if isinstance(wait, bool) or not isinstance(wait, int) or wait < 1:
            raise ValueError(f"wait must be a whole number of seconds from 1, not {wait!r}")
        headers["Prefer"] = f"wait={wait}"
    extra = min(wait or 0, _MOST_WAIT)
    return Call(
        method,
        _path(template, ids) + _query(query or {}),
        content,
        headers,
        is_safe=method != "POST" or operation in _SAFE,
        extra=extra,
    )


def json_bytes(value: object) -> bytes:
    """Writes JSON. Raises `ValueError` for what JSON does not have, such as NaN and lone surrogates."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def given(**members: Any) -> dict[str, Any]:
    """The members that are not `None`."""
    return {name: value for name, value in members.items() if value is not None}


def time_text(time: datetime | str) -> str:
    """A time as the server reads it. Raises `ValueError` for a `datetime` without a time zone."""
    if isinstance(time, str):
        return time
    if time.utcoffset() is None:
        raise ValueError("a time needs a time zone, such as datetime.now(timezone.utc)")
    return time.isoformat()


def _path(template: str, ids: Sequence[str]) -> str:
    """Fills a template with percent-encoded identifiers.

    URLs cannot contain `.` and `..` as a step, even percent-encoded (WHATWG URL, "double-dot URL path segment"): the call
    would reach something else.
    """
    steps = template.split("/")
    left = list(ids)
    for index, step in enumerate(steps):
        if not step.startswith("{"):
            continue
        identifier = left.pop(0)
        if identifier in ("", ".", ".."):
            raise ValueError(f"the identifier {identifier!r} cannot be part of a URL")
        steps[index] = quote(identifier, safe="")
    if left:
        raise ValueError(f"{template} has no place for {left}")
    return "/".join(steps)


def _query(parameters: Mapping[str, Value]) -> str:
    """Encodes each item of a list by itself: commas within items differ from those between them (RFC 6570, 3.2.8)."""
    pairs = [f"{name}={_value(value)}" for name, value in parameters.items() if value is not None and value is not False]
    return f"?{'&'.join(pairs)}" if pairs else ""


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "true"
    if isinstance(value, (str, datetime)):
        return quote(time_text(value), safe="")
    if isinstance(value, Sequence):
        return ",".join(quote(item, safe="") for item in value)
    return str(value)
