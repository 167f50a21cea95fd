"""What a call raises when it fails."""

from __future__ import annotations

from collections.abc import Sequence

from .models import FieldError

_UNKNOWN_OUTCOMES = frozenset({0, 500, 502, 503, 504, 507})


class HeraldError(Exception):
    """A call failed. `status` and `code` come from the answer (RFC 9457).

    The status 0 with the code `unreachable` means that there was no answer, and the code `not_herald` that somebody else
    gave it, such as a proxy.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        request_id: str | None = None,
        errors: Sequence[FieldError] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(status, code, detail, request_id, errors, retry_after)
        self.status = status
        self.code = code
        self.detail = detail
        """What went wrong this time, and what to do next."""
        self.request_id = request_id
        """The `X-Request-Id` of the answer, which the server's log has, too."""
        self.errors = list(errors)
        """The invalid values in the request, each with a JSON Pointer to it."""
        self.retry_after = retry_after
        """The seconds that the server asks to wait."""

    @property
    def is_unknown(self) -> bool:
        """Whether the call may have been done nevertheless: repeat it with the same id."""
        return self.status in _UNKNOWN_OUTCOMES

    def __str__(self) -> str:
        text = self.detail if self.status == 0 else f"{self.status} {self.code}: {self.detail}"
        return "\n".join([text, *(f"  {error['pointer']}: {error['detail']}" for error in self.errors)])
