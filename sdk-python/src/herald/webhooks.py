"""Verifies and reads the webhooks of a Herald server, which are signed as Standard Webhooks 1.0 says.

    event = webhooks.read(request.body, request.headers, secret="whsec_…")
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypedDict, cast

from ._core.secrets import stripped_secret

TOLERANCE_SECONDS: Final = 300
"""How far the time of a webhook may be from now."""


class WebhookError(ValueError):
    """A webhook is not from the server, was changed, or is too old: answer it with 401."""


class Unreached(TypedDict):
    """A user who had not got the message in time, and why."""

    uid: str
    reason: Literal["offline", "unacknowledged"]


class _UnreachedData(TypedDict):
    organizationId: str
    message: dict[str, Any]
    unreached: list[Unreached]
    waited_seconds: float
    part: int
    parts: int


class UnreachedData(_UnreachedData, total=False):
    """Who had not got a message, or a part of them if they are many. `message` is the event that recipients get."""

    truncated: bool


class MessageReadData(TypedDict):
    """What a participant has read. `message_read["from"]` is the reader."""

    organizationId: str
    message_read: dict[str, Any]


class ScheduledFailedData(TypedDict):
    """A scheduled send that was refused when it was due: its `id`, `send_at` and `problem`."""

    organizationId: str
    scheduled: dict[str, Any]


class ProposalWaitingData(TypedDict):
    """A send that was proposed, and waits for a decision: its `id`, `senderId`, `cid`, `proposed_by` and `expires_at`."""

    organizationId: str
    proposal: dict[str, Any]


class UndeliverableData(TypedDict):
    """A delivery to another webhook that has failed for good: its `webhook`, `delivery`, `type`, `id`, `tries`, `status` and `error`."""

    organizationId: str
    undeliverable: dict[str, Any]


class PresenceData(TypedDict):
    """Who has come and who has gone. Apply all of them by `seq`, beginning with nobody at 1: they may arrive in another order."""

    organizationId: str
    online: list[str]
    offline: list[str]
    seq: int


class _Event(TypedDict):
    id: str
    timestamp: str


class UnreachedEvent(_Event):
    """Who had not got a message in time."""

    type: Literal["message.unreached", "system_message.unreached"]
    data: UnreachedData


class MessageReadEvent(_Event):
    """What a participant has read."""

    type: Literal["message.read"]
    data: MessageReadData


class ScheduledFailedEvent(_Event):
    """A scheduled send that was refused when it was due."""

    type: Literal["scheduled.failed"]
    data: ScheduledFailedData


class ProposalWaitingEvent(_Event):
    """A send that was proposed, and waits for a decision."""

    type: Literal["proposal.waiting"]
    data: ProposalWaitingData


class UndeliverableEvent(_Event):
    """A delivery to another webhook that has failed for good."""

    type: Literal["message.undeliverable"]
    data: UndeliverableData


class PresenceEvent(_Event):
    """Who comes and goes."""

    type: Literal["users.presence"]
    data: PresenceData


WebhookEvent = (
    UnreachedEvent
    | MessageReadEvent
    | ScheduledFailedEvent
    | ProposalWaitingEvent
    | UndeliverableEvent
    | PresenceEvent
)
"""A webhook, with its `webhook-id`, which is the same for each attempt to deliver it: ignore an id that you know. Look at its `type`;
pass over types that you do not know."""


def read(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    now: float | None = None,
) -> WebhookEvent:
    """Verifies a webhook, and reads it. Raises `WebhookError`. See `verify`."""
    verify(body, headers, secret, now=now)
    try:
        event = json.loads(body)
    except ValueError as cause:
        raise WebhookError("the body is not JSON") from cause
    return cast(WebhookEvent, {"id": _header(headers, "webhook-id"), **event})


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    now: float | None = None,
) -> None:
    """Raises `WebhookError` unless the body, exactly as it was received, is from somebody who has the secret, and of now.

    With several secrets, any of them will do. `now` is in seconds since the Unix epoch.
    """
    content = body.encode() if isinstance(body, str) else body
    timestamp = _header(headers, "webhook-timestamp")
    if not (timestamp.isascii() and timestamp.isdecimal()):
        raise WebhookError("the header webhook-timestamp is missing, or not a number")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise WebhookError("the webhook is too old, or from the future")
    signed = f"{_header(headers, 'webhook-id')}.{timestamp}.".encode() + content
    given = [_decoded(text) for text in _header(headers, "webhook-signature").split()]
    secrets = [secret] if isinstance(secret, str) else secret
    expected = [hmac.new(_key_of(text), signed, hashlib.sha256).digest() for text in secrets]
    # Compares all of them: the time that it takes does not tell which one is nearly right.
    if not sum(hmac.compare_digest(one, other) for one in given for other in expected):
        raise WebhookError("the signature is wrong")


def _header(headers: Mapping[str, str], name: str) -> str:
    values = [value for key, value in headers.items() if key.lower() == name]
    return values[0] if len(values) == 1 else ""


def _decoded(signature: str) -> bytes:
    version, _, encoded = signature.partition(",")
    try:
        return base64.b64decode(encoded, validate=True) if version == "v1" else b""
    except (binascii.Error, ValueError):
        return b""


def _key_of(secret: str) -> bytes:
    encoded = stripped_secret("the secret of the webhook", secret).removeprefix("whsec_")
    key = b""
    try:
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        pass
    if not key:
        raise ValueError("the secret of a webhook is base64, after whsec_: check where it is read from")
    return key
