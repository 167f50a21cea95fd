"""When a call is repeated, and how long to wait before."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import HeraldError

RETRIES = 9
"""How often a call is repeated unless it is said: for 20 to 40 s, as a server needs up to 12 s to start again."""

_LEAST_WAIT = 0.25
_MOST_WAIT = 8.0
_MOST_RETRY_AFTER = 60.0


@dataclass(frozen=True)
class Policy:
    """How often to repeat a call; the seconds that one attempt, and that all of them, may take; and a source of random
    numbers (0 ≤ n < 1)."""

    retries: int
    timeout: float
    deadline: float | None = None
    random: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise ValueError(f"retries must be 0 or more, not {self.retries}")
        for name, seconds in (("timeout", self.timeout), ("deadline", self.deadline)):
            if seconds is not None and not seconds > 0:
                raise ValueError(f"{name} must be more than 0 seconds, not {seconds}")


class Attempts:
    """The attempts of one call: repeats with exponential backoff and jitter, so that many callers do not return at the
    same moment, and none gives up long before the others."""

    def __init__(self, policy: Policy, *, is_safe: bool, extra: float = 0) -> None:
        """`is_safe` says that the call may be done twice, and `extra` how many seconds longer than usual it may take."""
        self._policy = policy
        self._is_safe = is_safe
        self._extra = extra
        self._ends_at = None if policy.deadline is None else time.monotonic() + policy.deadline + extra
        self._failures = 0

    @property
    def timeout(self) -> float:
        """The seconds that the next attempt may take."""
        timeout = self._policy.timeout + self._extra
        return timeout if self._ends_at is None else max(0.001, min(timeout, self._ends_at - time.monotonic()))

    def succeed(self) -> None:
        """Says that there was progress: the failures before it do not count any more."""
        self._failures = 0

    def wait_after(self, error: HeraldError, *, is_endless: bool = False) -> float:
        """The seconds to wait until the next attempt. Raises the error if there is none: it is final, or the retries are
        used up, unless they are endless."""
        may_retry = error.status == 429 or (self._is_safe and error.is_unknown)
        is_used_up = not is_endless and self._failures >= self._policy.retries
        asked = error.retry_after or 0.0
        if not may_retry or is_used_up or (asked > _MOST_RETRY_AFTER and not is_endless):
            raise error
        ceiling = min(_LEAST_WAIT * (1 << min(self._failures, 16)), _MOST_WAIT)
        wait = asked + ceiling * (0.5 + 0.5 * self._policy.random())
        if self._ends_at is not None and time.monotonic() + wait >= self._ends_at:
            raise error
        self._failures += 1
        return wait
