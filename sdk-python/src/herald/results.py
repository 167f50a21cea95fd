"""What calls return that is not in the models: what headers tell, and pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypedDict, TypeVar

from .models import SendMessageResponse, SendSystemMessageResponse

T = TypeVar("T")


class DeliveryCounts(TypedDict):
    """How many users a send was for, how many of them were online, and how many of those have it, and have acknowledged it."""

    recipients: int
    online: int
    delivered: int
    acknowledged: int


class SentMessage(SendMessageResponse, total=False):
    """A message that is stored. `replayed`: the id was used before, and this is the first answer. `delivery` is there if the
    send waited for it, unless too many callers were waiting."""

    replayed: bool
    delivery: DeliveryCounts


class SentSystemMessage(SendSystemMessageResponse, total=False):
    """A system message that is stored, with the same members as `SentMessage`."""

    replayed: bool
    delivery: DeliveryCounts


@dataclass(frozen=True)
class PipedMessage:
    """A message that has grown until it was complete: the server's id of it, and the length of its text in code points."""

    id: str
    length: int


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list. It may hold fewer items than asked for, even none: the list ends only when `cursor` is `None`."""

    items: list[T]
    cursor: str | None
