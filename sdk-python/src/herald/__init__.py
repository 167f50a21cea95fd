"""Sends messages and system messages through a Herald server.

    from herald import Herald

    herald = Herald("https://herald.example.com", key="hk_…")
    herald.send_message(organizationId="acme", senderId="alice", message={"cid": "general", "body": "Hello"})

`AsyncHerald` has the same methods, to be awaited. Requests and answers are the JSON of the reference, typed in
`herald.models`.
"""

from ._async.caller import AsyncPages
from ._async.client import AsyncHerald
from ._sync.caller import Pages
from ._sync.client import Herald
from .errors import HeraldError
from .ids import new_id
from .results import DeliveryCounts, Page, PipedMessage, SentMessage, SentSystemMessage
from .tokens import TokenIssuer, UserToken

__all__ = [
    "AsyncHerald",
    "AsyncPages",
    "DeliveryCounts",
    "Herald",
    "HeraldError",
    "Page",
    "Pages",
    "PipedMessage",
    "SentMessage",
    "SentSystemMessage",
    "TokenIssuer",
    "UserToken",
    "new_id",
]
