"""Who received what, and who is there to receive it."""

from __future__ import annotations

from collections.abc import Sequence

from ..models import (
    DeliveryItem,
    InboxItem,
    MessageReport,
    OnlineCount,
    OnlineUser,
    OnlineUsers,
    Recipient,
    RecipientState,
    SystemMessageReport,
    UserConnectionList,
    UserView,
)
from .caller import AsyncCaller, AsyncPages


class AsyncReports(AsyncCaller):
    """The calls that show deliveries, and users who are online."""

    async def get_message(self, org: str, server_mid: str) -> MessageReport:
        """Reads a message and its delivery, by the `server_mid` of the send."""
        return await self._call(MessageReport, "getMessage", (org, server_mid))

    async def get_system_message(self, org: str, mid: str, *, sender_id: str | None = None) -> SystemMessageReport:
        """Reads a system message and its delivery, by the `mid` of the send. Name the sender if several used that id."""
        return await self._call(SystemMessageReport, "getSystemMessage", (org, mid), query={"senderId": sender_id})

    def inbox(self, org: str, uid: str, *, unread: bool = False) -> AsyncPages[InboxItem]:
        """A user's inbox, newest first: the system messages that are kept there, all or unread ones."""
        return AsyncPages(self, "listInbox", (org, uid), {"unread": unread})

    def deliveries(self, org: str, uid: str, *, state: RecipientState | None = None) -> AsyncPages[DeliveryItem]:
        """What was addressed to a user, newest first, and what the user has of it: in one state, or all."""
        return AsyncPages(self, "listDeliveries", (org, uid), {"state": state})

    def recipients(
        self, org: str, server_mid: str, *, state: RecipientState | None = None
    ) -> AsyncPages[Recipient]:
        """The recipients of a message, by id: those in one state, or all."""
        return AsyncPages(self, "listRecipients", (org, server_mid), {"state": state})

    def system_recipients(
        self, org: str, mid: str, *, state: RecipientState | None = None, sender_id: str | None = None
    ) -> AsyncPages[Recipient]:
        """The recipients of a system message, in the order of its `uids`."""
        return AsyncPages(self, "listSystemRecipients", (org, mid), {"state": state, "senderId": sender_id})

    def online(
        self, org: str, *, uids: Sequence[str] | None = None, devices: bool = False, last_seen: bool = False
    ) -> AsyncPages[OnlineUser]:
        """The users who are connected now, on all nodes, by id.

        With `uids`, exactly those users; `connections` is 0 for who is offline or unknown. `devices` adds the `device_id`s,
        `last_seen` when each was last seen.
        """
        return AsyncPages(self, "listOnline", (org,), {"uids": uids, "devices": devices, "last_seen": last_seen})

    async def count_online(self, org: str, *, uids: Sequence[str] | None = None) -> OnlineCount:
        """Counts the users who are connected now, on all nodes, or those of `uids`."""
        return await self._call(OnlineCount, "listOnline", (org,), query={"count": True, "uids": uids})

    async def online_users(self, org: str, *, limit: int = 10, offset: int = 0) -> list[UserView]:
        """Users who are connected now, on all nodes, by id, with their names. To read all, use `online`."""
        body = {"organizationId": org, "limit": limit, "offset": offset}
        return (await self._call(OnlineUsers, "listOnlineUsers", body=body))["users"]

    async def connections(self, org: str, uid: str) -> UserConnectionList:
        """Where a user is connected now, on all nodes (`items`, the oldest connection first).

        `last_ended` is how the last connection ended, `last_refused` which check refused the last token.
        """
        return await self._call(UserConnectionList, "listConnections", (org, uid))

    async def close_connection(self, org: str, uid: str, connection_id: str) -> None:
        """Closes one connection of a user. Its client reconnects, and receives what it missed."""
        await self._run("closeConnection", (org, uid, connection_id))
