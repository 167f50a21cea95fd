"""User tokens that are issued without a call, by whoever has the server's secret."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone

from ._core.secrets import Secret, stripped_secret
from .ids import new_id

_LEAST_SECRET_BYTES = 32  # RFC 7518, section 3.2
_AUDIENCE = "herald"


@dataclass(frozen=True)
class UserToken:
    """A token for a user to connect with, and the id (`jti`) by which it can be revoked."""

    token: str = field(repr=False)
    id: str
    expires_at: datetime


class TokenIssuer:
    """Issues user tokens with `HERALD_TOKEN_SECRET`.

    Whoever has that secret can be any user of any organization: prefer `create_token` where a call is affordable.
    """

    def __init__(self, secret: str, *, now: Callable[[], float] = time.time) -> None:
        """White space around the secret is left out. Raises `ValueError` without the secret if it is too short.

        `now` returns seconds since the Unix epoch.
        """
        self._secret = Secret(stripped_secret("the token secret", secret))
        self._now = now
        if len(_bytes_of(self._secret)) < _LEAST_SECRET_BYTES:
            raise ValueError(f"a token secret has at least {_LEAST_SECRET_BYTES} bytes")

    def issue(self, org: str, uid: str, *, ttl_seconds: float = 3600) -> UserToken:
        """A token for a user. The server allows 30 days, unless it is configured otherwise.

        Whoever connects with it becomes a user, if the organization exists. `end_sessions` refuses tokens that were issued
        before.
        """
        if not org or not uid or ttl_seconds <= 0:
            raise ValueError("a token needs an organization, a user and a time to live")
        # `iat` has its milliseconds: a sign-out distinguishes the tokens of one second.
        issued_at = int(self._now() * 1000)
        expires_at = issued_at + round(ttl_seconds * 1000)
        token_id = new_id(issued_at / 1000)
        claims = {
            "org": org,
            "sub": uid,
            "aud": _AUDIENCE,
            "jti": token_id,
            "iat": issued_at / 1000,
            "exp": expires_at / 1000,
        }
        text = f"{_encode({'alg': 'HS256', 'typ': 'JWT'})}.{_encode(claims)}"
        signature = hmac.new(_bytes_of(self._secret), text.encode(), hashlib.sha256).digest()
        expiry = datetime.fromtimestamp(expires_at / 1000, timezone.utc)
        return UserToken(f"{text}.{_base64(signature)}", token_id, expiry)


def _bytes_of(secret: Secret) -> bytes:
    try:
        return secret.reveal().encode()
    except UnicodeEncodeError:  # which has the secret
        pass
    raise ValueError("the token secret is not valid Unicode: check where it is read from")


def _encode(part: Mapping[str, object]) -> str:
    return _base64(json.dumps(part, separators=(",", ":"), ensure_ascii=False).encode())


def _base64(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()
