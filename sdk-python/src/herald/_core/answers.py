"""What the server says."""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import HeraldError
from ..models import FieldError
from .calls import Call

_DELIVERY = ("recipients", "online", "delivered", "acknowledged")


@dataclass(frozen=True)
class Answer:
    """The JSON or the text of a successful answer (`None` if it is empty), and its headers."""

    body: Any
    headers: Mapping[str, str]


def read_answer(call: Call, status: int, headers: Mapping[str, str], content: bytes) -> Answer:
    """Reads an answer. Raises `HeraldError` if the server refused the call, or if it is not from a Herald server."""
    content_type = "text/plain" if call.is_text else "application/json"
    if status == 204 and not content:
        return Answer(None, headers)
    if not (200 <= status < 300 or status == call.also) or not has_type(headers, content_type):
        raise failure_of(status, headers, content)
    if call.is_text:
        return Answer(content.decode(errors="replace"), headers)
    body = read_json(content)
    if not isinstance(body, dict):
        raise failure_of(status, headers, content)
    return Answer(body, headers)


def has_type(headers: Mapping[str, str], content_type: str) -> bool:
    """Whether an answer has this media type, with or without parameters: a web page is no answer of a Herald server."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == content_type


def read_json(content: bytes) -> Any:
    """The value of a text in JSON, or `None` if it is none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def failure_of(status: int, headers: Mapping[str, str], content: bytes) -> HeraldError:
    """The error of an answer (RFC 9457)."""
    problem = read_json(content)
    request_id = headers.get("x-request-id")
    retry_after = read_retry_after(headers.get("retry-after"))
    if 200 <= status < 300 or not isinstance(problem, dict) or not isinstance(problem.get("code"), str):
        detail = f"the answer with the status {status} is not from a Herald server"
        return HeraldError(status, "not_herald", detail, request_id, (), retry_after)
    return problem_error(problem, status, request_id=request_id, retry_after=retry_after)


def problem_error(
    problem: Mapping[str, Any],
    status: int,
    *,
    prefix: str = "",
    request_id: str | None = None,
    retry_after: float | None = None,
) -> HeraldError:
    """The error that a problem tells of."""
    title = str(problem.get("title") or "")
    detail = prefix + str(problem.get("detail") or title or problem["code"])
    told = problem.get("errors")
    errors: list[FieldError] = [
        {"pointer": str(error.get("pointer", "")), "detail": str(error.get("detail", ""))}
        for error in (told if isinstance(told, list) else ())
        if isinstance(error, dict)
    ]
    request_id = request_id or problem.get("request_id")
    length = problem.get("length")
    return HeraldError(
        status,
        problem["code"],
        detail,
        request_id,
        errors,
        retry_after,
        "" if prefix else title,
        length=length if isinstance(length, int) else None,
    )


def unreachable(where: str, why: str, *, was_sent: bool = True) -> HeraldError:
    """The error of a call that got no answer, or an incomplete one."""
    return HeraldError(0, "unreachable", f"no response from {where}: {why}", was_sent=was_sent)


def read_retry_after(header: str | None, now: float | None = None) -> float | None:
    """The seconds that `Retry-After` asks for, as a number or a date (RFC 9110, section 10.2.3)."""
    if header is None:
        return None
    if header.isascii() and header.isdecimal():
        return float(header)
    try:
        date = email.utils.parsedate_to_datetime(header).timestamp()
    except ValueError:
        return None
    return max(0.0, date - (time.time() if now is None else now))


def sent_of(answer: Answer) -> dict[str, Any]:
    """The answer to a send, with what its headers tell."""
    sent = dict(answer.body or {})
    if not any(isinstance(sent.get(member), dict) for member in ("ask", "ack")):
        raise failure_of(200, answer.headers, b"")
    if answer.headers.get("idempotent-replayed") == "true":
        sent["replayed"] = True
    # A dictionary of whole numbers (RFC 8941, section 3.2).
    counts = dict(re.findall(r"([a-z]+)=(\d+)(?=\s*(?:,|$))", answer.headers.get("herald-delivery", "")))
    if all(name in counts for name in _DELIVERY):
        sent["delivery"] = {name: int(counts[name]) for name in _DELIVERY}
    return sent
