"""Sends, and what changes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, cast

from .._core.answers import sent_of
from .._core.calls import call_of
from .._core.operations import Operation
from .._core.pieces import BatchPiece, Slicer, send_with_id
from ..errors import HeraldError
from ..models import (
    AppendAnswer,
    AppendRequest,
    AppendRequestMessageAppend,
    BatchAnswer,
    DryRun,
    EditMessageRequest,
    MarkReadRequest,
    RecallMessagesRequest,
    RecallSystemMessagesRequest,
    Send,
    SendMessageRequest,
    SendSystemMessageRequest,
    TellTypingRequest,
    UpdateReactionsRequest,
)
from ..results import PipedMessage, SentMessage, SentSystemMessage
from .caller import AsyncCaller
from .io import AsyncCondition, Source, beside, can_run_ahead, each

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MOST_WAITING = 16_384  # characters


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

    async def append(self, **request: Unpack[AppendRequest]) -> int:
        """Appends text to a message that was sent with `open`, or completes it with `done`. Returns the length of its text, in
        code points, which is the `offset` of the next piece.

        The same piece again changes nothing. A piece at another offset raises `HeraldError` with the code `append_conflict`
        and the `length` to go on from.
        """
        answer = await self._call(AppendAnswer, "appendToMessage", body=request)
        return answer["length"]

    async def pipe(
        self, pieces: Source[str], *, resume: bool = False, **request: Unpack[SendMessageRequest]
    ) -> PipedMessage:
        """Sends a message whose text comes in pieces, such as a model's answer. Returns when it is complete.

        A piece is appended as soon as it comes, with the retries of any call. What comes meanwhile waits, up to 16,384
        characters, and goes into the next call as one piece; `httpx` reads no answer before it has sent the whole request, so
        one request for all pieces could not tell what is stored. If the client awaits and `pieces` does not, each piece is
        stored before the next one is taken. If `pieces` raises an exception, the message is completed as it is.

        With `resume`, it goes on with a message that an earlier attempt, such as a process that has died, began with the same
        `id` and content. `pieces` yields the text again from its beginning: as much as is stored is left out, by its length
        alone.
        """
        message = request["message"]
        if resume and not message.get("id"):
            raise ValueError("resume needs the id of the first attempt")
        opened: SendMessageRequest = {**request, "message": {**message, "open": True}}
        id = (await self.send_message(**opened))["ask"]["server_mid"]
        most_waiting = _MOST_WAITING if can_run_ahead(pieces) else 0
        growing = AsyncGrowing(self, opened, id, most_waiting=most_waiting, resume=resume)
        async with beside(growing.store):
            try:
                async with aclosing(each(pieces)) as taken:
                    async for piece in taken:
                        await growing.write(piece)
            except HeraldError:
                await growing.leave()
                raise
            except Exception:
                with suppress(Exception):  # the one from `pieces` is the reason
                    await growing.done()
                raise
            except BaseException:
                await growing.leave()
                raise
            await growing.done()
        return PipedMessage(growing.id, growing.length)

    async def react(self, **request: Unpack[UpdateReactionsRequest]) -> None:
        """Changes a participant's reactions to a message. What is there already, or is not, changes nothing."""
        await self._run("updateReactions", body=request)

    async def recall_messages(self, **request: Unpack[RecallMessagesRequest]) -> None:
        """Takes messages of a conversation back, all of them or none: nobody can read them any more.

        With the type `myself`, it hides them from the lists of the sender instead.
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

    async def tell_typing(self, **request: Unpack[TellTypingRequest]) -> None:
        """Tells the other participants who are connected that a user is typing, or has stopped.

        It holds until the next message of the user, or for 10 seconds. Nothing is stored, and it may be lost.
        """
        await self._run("tellTyping", body=request)

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


class AsyncGrowing:
    """An open message, and how long it is, in code points. One writes to it while another stores what was written."""

    def __init__(
        self, messages: AsyncMessages, sent: SendMessageRequest, id: str, *, most_waiting: int, resume: bool
    ) -> None:
        self._messages = messages
        self._sent = sent
        self.id = id
        self.length = len(sent["message"].get("body", ""))
        self._most_waiting = most_waiting
        self._resume = resume
        self._to_leave_out = 0  # what is stored and still has to be written again
        self._changed = AsyncCondition()
        self._rest = ""  # what is not known to be stored
        self._is_ending = False
        self._is_left = False
        self._is_over = False
        self._failure: Exception | None = None

    async def write(self, text: str) -> None:
        """Adds text. Returns as soon as there is room for more. Raises what has ended the storing early."""
        async with self._changed:
            self._rest += text
            self._leave_out()
            self._changed.notify_all()
            await self._changed.wait_for(lambda: self._is_over or len(self._rest) <= self._most_waiting)
        if self._failure is not None:
            raise self._failure

    async def done(self) -> None:
        """Completes the message. Raises what has ended the storing early."""
        async with self._changed:
            self._is_ending = True
            self._changed.notify_all()
            await self._changed.wait_for(lambda: self._is_over)
        if self._failure is not None:
            raise self._failure

    async def leave(self) -> None:
        """Ends the storing, and leaves the message open."""
        async with self._changed:
            self._is_left = True
            self._changed.notify_all()

    async def store(self) -> None:
        """Appends what is written, until the message is done or left."""
        try:
            while not self._is_over:
                await self._store_some()
        except Exception as failure:
            self._failure = failure
        async with self._changed:
            self._is_over = True
            self._changed.notify_all()

    async def _store_some(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._rest != "" or self._is_ending or self._is_left)
            text, done = self._rest, self._is_ending
        if self._is_left:
            self._is_over = True
            return
        try:
            length = await self._append(text, done)
        except HeraldError as error:
            await self._note_conflict(error, text)
            return
        async with self._changed:
            self.length = length
            self._rest = self._rest[len(text) :]
            self._is_over = done
            self._changed.notify_all()

    async def _note_conflict(self, error: HeraldError, text: str) -> None:
        """Goes on where the text ends that an earlier attempt has stored. Raises the error if there is none."""
        length = error.length
        if error.code != "append_conflict" or length is None:
            raise error
        async with self._changed:
            if length == self.length and text == "":
                self._is_over = True  # all of it is there, and nothing fits any more: an earlier attempt has completed it
            elif self._resume and length > self.length:
                self._to_leave_out += length - self.length
                self.length = length
                self._leave_out()
            else:
                raise error
            self._changed.notify_all()

    def _leave_out(self) -> None:
        """Leaves out what is written again of the text that is stored."""
        left = self._rest[self._to_leave_out :]
        self._to_leave_out -= len(self._rest) - len(left)
        self._rest = left

    async def _append(self, text: str, done: bool) -> int:
        piece: AppendRequestMessageAppend = {"id": self.id, "offset": self.length, "text": text}
        if done:
            piece["done"] = True
        return await self._messages.append(
            organizationId=self._sent["organizationId"], senderId=self._sent["senderId"], messageAppend=piece
        )
