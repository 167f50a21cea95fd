"""Ids of sends.

The id of a send says what is sent: the same id again sends nothing again, and returns the first answer. A send without an
id gets a random one, so the retries of one call are safe. To be safe across a restart of your program, too, compose the id
of what you already have: the event, whom it concerns, and which one it is.

    id=f"order-placed:{user.id}:{order.id}"  # order-placed:user-123:order-456
"""

from __future__ import annotations

import os
import time
import uuid


def new_id(now: float | None = None) -> str:
    """A UUID (version 7, RFC 9562, section 5.7): random, but sorted by the time of its creation.

    `now` is in seconds since the Unix epoch.
    """
    millis = time.time_ns() // 1_000_000 if now is None else round(now * 1000)
    bits = int.from_bytes(millis.to_bytes(6, "big") + os.urandom(10), "big")
    bits = bits & ~(0xF << 76) | 0x7 << 76  # the version
    bits = bits & ~(0x3 << 62) | 0x2 << 62  # the variant
    return str(uuid.UUID(int=bits))
