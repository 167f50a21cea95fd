"""Webhooks, with the example of Standard Webhooks and with each thing that can be wrong."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from herald import webhooks

SECRET = "whsec_" + base64.b64encode(b"a secret of 24 bytes....").decode()
NOW = 1_795_179_960
EVENT: dict[str, Any] = {
    "type": "message.unreached",
    "timestamp": "2026-11-20T13:06:00.123Z",
    "data": {
        "organizationId": "o",
        "message": {"_id": "m", "body": "hé"},
        "unreached": [{"uid": "u", "reason": "offline"}],
        "waited_seconds": 10,
        "part": 1,
        "parts": 1,
    },
}
BODY = json.dumps(EVENT, ensure_ascii=False).encode()


def signed(body: bytes = BODY, *, secret: str = SECRET, at: int = NOW, id: str = "w1") -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signature = hmac.new(key, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    return {
        "Webhook-Id": id,
        "Webhook-Timestamp": str(at),
        "Webhook-Signature": "v1," + base64.b64encode(signature).decode(),
    }


def test_the_example_of_standard_webhooks_is_verified() -> None:
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    webhooks.verify('{"test": 2432232314}', headers, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", now=1614265330)


def test_a_webhook_is_read_with_its_id() -> None:
    event = webhooks.read(BODY, signed(), SECRET, now=NOW + 299)
    assert event == {"id": "w1", **EVENT}
    assert event["type"] == "message.unreached"
    assert event["data"]["unreached"][0]["reason"] == "offline"
    assert webhooks.read(BODY.decode(), signed(), SECRET, now=NOW)["id"] == "w1"


def test_one_of_several_signatures_and_one_of_several_secrets_is_enough() -> None:
    other = "whsec_" + base64.b64encode(b"another secret of 32 bytes......").decode()
    headers = signed()
    headers["Webhook-Signature"] = f"v2,x v1,!! {signed(secret=other)['Webhook-Signature']} {headers['Webhook-Signature']}"
    webhooks.verify(BODY, headers, SECRET, now=NOW)
    webhooks.verify(BODY, signed(), [other, SECRET], now=NOW)


@pytest.mark.parametrize(
    ("body", "headers", "now"),
    [
        (BODY + b" ", signed(), NOW),
        (BODY, signed(), NOW + 301),
        (BODY, signed(), NOW - 301),
        (BODY, {**signed(), "Webhook-Id": "w2"}, NOW),
        (BODY, {**signed(), "Webhook-Timestamp": str(NOW + 1)}, NOW),
        (BODY, {**signed(), "Webhook-Timestamp": "now"}, NOW),
        (BODY, {**signed(), "Webhook-Signature": signed()["Webhook-Signature"].replace("v1,", "v2,")}, NOW),
        (BODY, {**signed(), "Webhook-Signature": "v1,"}, NOW),
        (BODY, {**signed(), "webhook-id": "w1"}, NOW),
        (BODY, {}, NOW),
        (b"no json", signed(b"no json"), NOW),
    ],
)
def test_what_is_not_from_the_server_or_not_of_now_is_refused(
    body: bytes, headers: dict[str, str], now: float
) -> None:
    with pytest.raises(webhooks.WebhookError):
        webhooks.read(body, headers, SECRET, now=now)


def test_a_secret_that_cannot_be_one_is_an_error_of_the_program() -> None:
    for secret in ("whsec_!", "whsec_", ""):
        with pytest.raises(ValueError, match="secret") as caught:
            webhooks.verify(BODY, signed(), secret, now=NOW)
        assert not isinstance(caught.value, webhooks.WebhookError)
