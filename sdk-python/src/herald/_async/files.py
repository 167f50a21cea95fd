"""The files of messages."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import partial

import httpx

from .._core.addresses import read_location
from .._core.answers import failure_of, read_answer
from .._core.calls import Call, call_of
from ..models import File
from .caller import AsyncCaller
from .io import Source, each, within

_ANY = "application/octet-stream"


class AsyncFiles(AsyncCaller):
    """The calls about files."""

    async def upload(
        self, org: str, name: str, content: bytes | Source[bytes], *, content_type: str = _ANY
    ) -> File:
        """Uploads a file, and returns its `file_id` for an attachment of a message.

        A file that no message has named within 24 hours is removed. Nothing is repeated: an upload that breaks off leaves
        nothing.
        """
        return await self._upload(call_of("createFile", (org,), query={"name": name}), content, content_type)

    async def put_file(
        self, org: str, file_id: str, content: bytes | Source[bytes], *, content_type: str = _ANY
    ) -> File:
        """Uploads the bytes of a file that a send has announced: one of its attachments had no `file_id`."""
        return await self._upload(call_of("putFile", (org, file_id)), content, content_type)

    async def _upload(self, call: Call, content: bytes | Source[bytes], content_type: str) -> File:
        sent = content if isinstance(content, bytes) else each(content)
        request = self._request(call, sent, {"Content-Type": content_type}, httpx.Timeout(self._policy.timeout, read=None))
        try:
            response = await within(self._policy.deadline, lambda: self._send_request(request))
        except httpx.RequestError as cause:
            failure = cause
        else:
            answer: File = read_answer(call, response.status_code, response.headers, response.content).body
            return answer
        raise await self._failure(failure, self._policy.deadline)

    async def get_file(self, org: str, file_id: str) -> File:
        """Reads what is known of a file."""
        return await self._call(File, "getFile", (org, file_id))

    async def delete_file(self, org: str, file_id: str) -> None:
        """Removes a file. Messages that name it stay as they are."""
        await self._run("deleteFile", (org, file_id))

    def file_url(self, file_id: str) -> str:
        """The address of a file.

        It takes the key or, as `Authorization: Bearer`, the token of a user who may have the file. For an image or a link in a
        page, use `fileUrl` of the client in the page, whose addresses need neither.
        """
        return self._root + call_of("downloadFile", (file_id,)).target

    async def download(self, file_id: str, *, organization: str | None = None) -> AsyncGenerator[bytes, None]:
        """Yields the bytes of a file, as fast as they are taken.

        A key that is bound to no organization names that of the file, `organization`, if several have a file of that id.
        """
        call = call_of("downloadFile", (file_id,), query={"organization": organization})
        limit = httpx.Timeout(self._policy.timeout)
        request = self._request(call, None, {}, limit)
        origin = self._root
        may_follow = True
        try:
            while True:
                response = await within(self._policy.timeout, partial(self._send_request, request, stream=True))
                try:
                    if may_follow and response.has_redirect_location:  # to the store of the bytes, which the key is not for
                        origin, location = read_location(self._root, response.headers["Location"])
                        request = self._connections.client().build_request("GET", location, timeout=limit)
                        may_follow = False
                        continue
                    if response.status_code != httpx.codes.OK:
                        content = await within(self._policy.timeout, response.aread)
                        raise failure_of(response.status_code, response.headers, content)
                    async for piece in response.aiter_bytes():
                        yield piece
                    return
                finally:
                    await response.aclose()
        except httpx.RequestError as cause:
            failure = cause
        raise await self._failure(failure, None, origin)
