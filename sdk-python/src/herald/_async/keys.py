"""API keys, and the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ..models import ApiKey, ApiKeyWithSecret, AuditEntry, AuditResult, ConsoleSession, CreateKeyRequest, OwnKey, RotateKeyRequest
from .caller import AsyncCaller, AsyncPages

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncKeys(AsyncCaller):
    """The calls about who may call."""

    async def create_key(self, **fields: Unpack[CreateKeyRequest]) -> ApiKeyWithSecret:
        """Creates a key. Only this answer contains its secret.

        It is not repeated if the outcome is unknown: that could create a second key.
        """
        return await self._call(ApiKeyWithSecret, "createKey", body=fields)

    def keys(self) -> AsyncPages[ApiKey]:
        """The keys."""
        return AsyncPages(self, "listKeys", ())

    async def get_own_key(self) -> OwnKey:
        """Reads the key of this client, and what it may do."""
        return await self._call(OwnKey, "getOwnKey")

    async def get_key(self, id: str) -> ApiKey:
        """Reads a key."""
        return await self._call(ApiKey, "getKey", (id,))

    async def rotate_key(self, id: str, **fields: Unpack[RotateKeyRequest]) -> ApiKeyWithSecret:
        """Gives a key a new secret. The old one works for `overlap_seconds` (a day unless it is said, at most 7).

        It is not repeated if the outcome is unknown.
        """
        return await self._call(ApiKeyWithSecret, "rotateKey", (id,), body=fields)

    async def revoke_key(self, id: str) -> None:
        """Revokes a key. Every node refuses it within 5 seconds."""
        await self._run("deleteKey", (id,))

    def sessions(self) -> AsyncPages[ConsoleSession]:
        """The sessions of people in the console, the oldest first."""
        return AsyncPages(self, "listSessions", ())

    async def end_session(self, id: str) -> None:
        """Ends the session of a person in the console. Every node refuses it from then on."""
        await self._run("endSession", (id,))

    def audit(
        self,
        *,
        organization: str | None = None,
        key: str | None = None,
        operation: str | None = None,
        result: AuditResult | None = None,
        status: int | None = None,
        after: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> AsyncPages[AuditEntry]:
        """The audit log, newest first, or after the id of an entry oldest first: who did what."""
        return AsyncPages(
            self,
            "listAudit",
            (),
            {
                "organization": organization,
                "key": key,
                "operation": operation,
                "result": result,
                "status": status,
                "after": after,
                "since": since,
                "until": until,
            },
        )
