"""Sends, and what changes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from .._core.answers import sent_of
from .._core.calls import call_of
from .._core.operations import Operation
from .._core.pieces import BatchPiece, Slicer, send_with_id
from ..models import (
    BatchAnswer,
    DryRun,
    EditMessageRequest,
    MarkReadRequest,
    RecallMessagesRequest,
    RecallSystemMessagesRequest,
    Send,
    SendMessageRequest,
    SendSystemMessageRequest,
    UpdateReactionsRequest,
)
from ..results import SentMessage, SentSystemMessage
from .caller import AsyncCaller
from .io import Source, each

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncMessages(AsyncCaller):
    """The calls that send messages and system messages, edit them and take them back."""

    async def send_message(self, *, wait: int | None = None, **request: Unpack[SendMessageRequest]) -> SentMessage:
        """Sends a message to a conversation. Returns when it is stored, or when it is delivered.

        A message without an id gets a random one, so that retries send nothing twice; see `herald.ids`. With `wait`, it
        returns when everyone who is online has the message and every connection that acknowledges has acknowledged it, or
        after so many seconds (1 to 30).
        """
        return cast(SentMessage, await self._send("sendMessage", request, wait))

    async def send_system_message(
        self, *, wait: int | None = None, **request: Unpack[SendSystemMessageRequest]
    ) -> SentSystemMessage:
        """Sends a system message to listed users, to a conversation or to everyone.

        Users who are offline receive it only with `keep_days`. Ids and `wait` are as for `send_message`.
        """
        return cast(SentSystemMessage, await self._send("sendSystemMessage", request, wait))

    async def _send(self, operation: Operation, request: Any, wait: int | None) -> dict[str, Any]:
        return sent_of(await self._exchange(call_of(operation, body=send_with_id(request), wait=wait)))

    async def send_batch(
        self,
        sends: Source[Send | SendMessageRequest | SendSystemMessageRequest | str | bytes],
        *,
        rate: int | None = None,
        dry_run: bool = False,
        lines_per_request: int = 256,
    ) -> AsyncGenerator[BatchAnswer, None]:
        """Sends many messages and system messages, and yields the answer to each, in order and while it goes on.

        A send is a request of `send_message` or `send_system_message`, or a line of text with one. A refused send is an answer
        with a `problem`; the others are sent. `rate` is how many are sent a second, at most. Sends are taken no faster than
        the answers are read, `lines_per_request` at a time. If a request breaks off, those without an answer are sent again
        with the same ids; lines of text need ids of their own for that. Raises `HeraldError` once the retries are used up.
        """
        call = call_of("sendBatch", query={"rate": rate, "dry_run": dry_run})
        slicer = Slicer(lines_per_request)
        async with aclosing(each(sends)) as taken:
            async for send in taken:
                lines = slicer.add(send_with_id(cast("dict[str, Any] | str | bytes", send)))
                if lines:
                    async with aclosing(self._send_piece(call, BatchPiece(lines))) as answers:
                        async for answer in answers:
                            yield answer
        async with aclosing(self._send_piece(call, BatchPiece(slicer.rest()))) as answers:
            async for answer in answers:
                yield answer

    async def edit_message(self, **request: Unpack[EditMessageRequest]) -> None:
        """Changes the body of a message of the sender. The same edit again changes nothing."""
        await self._run("editMessage", body=request)

    async def react(self, **request: Unpack[UpdateReactionsRequest]) -> None:
        """Changes a participant's reactions to a message. What is there already, or is not, changes nothing."""
        await self._run("updateReactions", body=request)

    async def recall_messages(self, **request: Unpack[RecallMessagesRequest]) -> None:
        """Takes messages of a conversation back, all of them or none: nobody can read them any more.

        If the answer is lost, the call is repeated, and then fails with `message_not_found`: they are gone already.
        """
        await self._run("recallMessages", body=request)

    async def recall_system_messages(self, **request: Unpack[RecallSystemMessagesRequest]) -> None:
        """Takes system messages of the sender back, all of them or none. Whoever they were addressed to hears it.

        If the answer is lost, the call is repeated, and then fails with `message_not_found`: they are gone already.
        """
        await self._run("recallSystemMessages", body=request)

    async def mark_read(self, **request: Unpack[MarkReadRequest]) -> None:
        """Marks a conversation as read by a participant, up to the newest of `ids` or to its end. An earlier mark stays."""
        await self._run("markRead", body=request)

    async def try_message(self, **request: Unpack[SendMessageRequest]) -> DryRun:
        """Checks a message, and returns whom `send_message` would reach. Nothing is stored or sent."""
        return await self._try("sendMessage", request)

    async def try_system_message(self, **request: Unpack[SendSystemMessageRequest]) -> DryRun:
        """Checks a system message, and returns whom `send_system_message` would reach. Nothing is stored or sent."""
        return await self._try("sendSystemMessage", request)

    async def try_edit(self, **request: Unpack[EditMessageRequest]) -> DryRun:
        """Checks an edit, and returns who would hear it. Nothing is changed."""
        return await self._try("editMessage", request)

    async def try_reaction(self, **request: Unpack[UpdateReactionsRequest]) -> DryRun:
        """Checks a change of reactions, and returns who would hear it. Nothing is changed."""
        return await self._try("updateReactions", request)

    async def try_recall(self, **request: Unpack[RecallMessagesRequest]) -> DryRun:
        """Checks a recall, and returns who would hear it. Nothing is changed."""
        return await self._try("recallMessages", request)

    async def try_system_recall(self, **request: Unpack[RecallSystemMessagesRequest]) -> DryRun:
        """Checks a recall of system messages, and returns who would hear it. Nothing is changed."""
        return await self._try("recallSystemMessages", request)

    async def try_read(self, **request: Unpack[MarkReadRequest]) -> DryRun:
        """Checks a read, and returns how many authors would hear it. Nothing is marked."""
        return await self._try("markRead", request)

    async def _try(self, operation: Operation, request: object) -> DryRun:
        answer: Any = await self._call(dict, operation, query={"dry_run": True}, body=request)
        return cast(DryRun, answer["dry_run"])
