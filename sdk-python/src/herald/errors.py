"""What a call raises when it fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from .models import ErrorCode, FieldError

Code: TypeAlias = ErrorCode | Literal["unreachable", "not_herald"]
"""The code of an error: one of the server, or one that says that the server did not answer."""

_UNKNOWN_OUTCOMES = frozenset({0, 500, 502, 503, 504, 507})


class HeraldError(Exception):
    """A call failed. `status` and `code` come from the answer (RFC 9457).

    The status 0 with the code `unreachable` means that there was no answer, and the code `not_herald` that somebody else
    gave it, such as a proxy.
    """

    def __init__(
        self,
        status: int,
        code: Code,
        detail: str,
        request_id: str | None = None,
        errors: Sequence[FieldError] = (),
        retry_after: float | None = None,
        title: str = "",
        was_sent: bool = True,
        length: int | None = None,
    ) -> None:
        super().__init__(status, code, detail, request_id, errors, retry_after, title, was_sent, length)
        self.status = status
        self.code: Code = code
        self.title = title
        """What the code means, the same for every occurrence."""
        self.detail = detail
        """What went wrong this time, and what to do next."""
        self.request_id = request_id
        """The `X-Request-Id` of the answer, which the server's log has, too."""
        self.errors = list(errors)
        """The invalid values in the request, each with a JSON Pointer to it."""
        self.retry_after = retry_after
        """The seconds that the server asks to wait."""
        self.was_sent = was_sent
        """Whether the request may have reached a server. If not, the same call fails again, and is not repeated."""
        self.length = length
        """How long the message is, in code points, after `append_conflict`."""

    @property
    def is_unknown(self) -> bool:
        """Whether the call may have been done nevertheless: repeat it with the same id."""
        return self.was_sent and self.status in _UNKNOWN_OUTCOMES

    def __str__(self) -> str:
        titled = f"{self.title}: " if self.title and not self.detail.startswith(self.title) else ""
        text = self.detail if self.status == 0 else f"{self.status} {self.code}: {titled}{self.detail}"
        return "\n".join([text, *(f"  {error['pointer']}: {error['detail']}" for error in self.errors)])
