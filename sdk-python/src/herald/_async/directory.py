"""Organizations, users, tokens and conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..models import (
    CreateTokenRequest,
    CreateTokenResponse,
    ListedMessage,
    Organization,
    PutConversationRequest,
    PutOrganizationRequest,
    PutUserRequest,
    Resource,
    User,
)
from .caller import AsyncCaller, AsyncPages

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncDirectory(AsyncCaller):
    """The calls about who there is, and who talks to whom."""

    async def put_organization(self, org: str, **fields: Unpack[PutOrganizationRequest]) -> Resource:
        """Creates or updates an organization. What is left out stays; `None` clears a name, and makes a limit the server's.

        Setting `limits` needs a key that is bound to no organization.
        """
        return await self._call(Resource, "putOrganization", (org,), body=fields)

    async def get_organization(self, org: str) -> Organization:
        """Reads an organization, its limits and what it uses."""
        return await self._call(Organization, "getOrganization", (org,))

    async def delete_organization(self, org: str) -> None:
        """Deletes an organization and everything in it."""
        await self._run("deleteOrganization", (org,))

    def organizations(self) -> AsyncPages[Resource]:
        """The organizations, by id."""
        return AsyncPages(self, "listOrganizations", ())

    async def put_user(self, org: str, uid: str, **fields: Unpack[PutUserRequest]) -> User:
        """Creates or updates a user. What is left out stays; `name=None` clears the name.

        `blocked=True` closes the user's connections on all nodes, and refuses the user's tokens until `blocked=False`.
        """
        return await self._call(User, "putUser", (org, uid), body=fields)

    async def get_user(self, org: str, uid: str) -> User:
        """Reads a user."""
        return await self._call(User, "getUser", (org, uid))

    async def delete_user(self, org: str, uid: str, *, messages: Literal["erase"] | None = None) -> None:
        """Deletes a user, and with `messages="erase"` everything that the user wrote, which can take minutes.

        If it breaks off, call it again: it goes on.
        """
        await self._run("deleteUser", (org, uid), query={"messages": messages})

    def users(self, org: str, *, prefix: str | None = None) -> AsyncPages[User]:
        """The users of an organization, by id; with `prefix`, those whose id or name begins with it, ignoring case."""
        return AsyncPages(self, "listUsers", (org,), {"prefix": prefix})

    async def create_token(self, org: str, uid: str, **fields: Unpack[CreateTokenRequest]) -> CreateTokenResponse:
        """Issues a token for the user to connect with, for `ttl_seconds` (an hour unless it is said, at most 30 days)."""
        return await self._call(CreateTokenResponse, "createToken", (org, uid), body=fields)

    async def revoke_token(self, org: str, uid: str, jti: str) -> None:
        """Revokes one token by its `jti`: closes its connections, and refuses it from now on."""
        await self._run("revokeToken", (org, uid, jti))

    async def end_sessions(self, org: str, uid: str) -> None:
        """Closes the user's connections on all nodes, and refuses all tokens that were issued until now."""
        await self._run("deleteSessions", (org, uid))

    async def put_conversation(self, org: str, cid: str, **fields: Unpack[PutConversationRequest]) -> Resource:
        """Creates or updates a conversation. `participants` replaces the set; unknown users among them are created."""
        return await self._call(Resource, "putConversation", (org, cid), body=fields)

    async def get_conversation(self, org: str, cid: str) -> Resource:
        """Reads a conversation."""
        return await self._call(Resource, "getConversation", (org, cid))

    async def delete_conversation(self, org: str, cid: str) -> None:
        """Deletes a conversation with its messages."""
        await self._run("deleteConversation", (org, cid))

    def conversations(self, org: str, *, prefix: str | None = None) -> AsyncPages[Resource]:
        """The conversations of an organization, by id; with `prefix`, those whose id or name begins with it, ignoring case."""
        return AsyncPages(self, "listConversations", (org,), {"prefix": prefix})

    async def add_participant(self, org: str, cid: str, uid: str) -> Resource:
        """Lets a user take part in a conversation."""
        return await self._call(Resource, "putParticipant", (org, cid, uid))

    async def remove_participant(self, org: str, cid: str, uid: str) -> None:
        """Ends a user's part in a conversation."""
        await self._run("deleteParticipant", (org, cid, uid))

    def participants(self, org: str, cid: str) -> AsyncPages[Resource]:
        """The participants of a conversation, by id."""
        return AsyncPages(self, "listParticipants", (org, cid))

    def messages(
        self, org: str, cid: str, *, before: str | None = None, after: str | None = None
    ) -> AsyncPages[ListedMessage]:
        """The history of a conversation: newest first, or oldest first with `after`."""
        return AsyncPages(self, "listMessages", (org, cid), {"before": before, "after": after})
