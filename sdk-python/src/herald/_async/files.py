"""The files of messages."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import httpx

from .._core.answers import failure_of, read_answer, unreachable
from .._core.calls import Call, call_of
from ..models import File
from .caller import AsyncCaller
from .io import Source, each

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
        try:
            response = await self._http.request(
                call.method,
                self._root + call.target,
                content=content if isinstance(content, bytes) else each(content),
                headers={**self._headers(call), "Content-Type": content_type},
                timeout=httpx.Timeout(self._policy.timeout, read=None),
                follow_redirects=False,  # the key would follow, too
            )
        except httpx.RequestError as cause:
            raise unreachable(self._root, cause) from cause
        answer: File = read_answer(call, response.status_code, response.headers, response.content).body
        return answer

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

    async def download(self, file_id: str) -> AsyncGenerator[bytes, None]:
        """Yields the bytes of a file, as fast as they are taken."""
        call = call_of("downloadFile", (file_id,))
        url, headers = self._root + call.target, self._headers(call)
        try:
            while True:
                async with self._http.stream(
                    call.method, url, headers=headers, timeout=self._policy.timeout, follow_redirects=False
                ) as response:
                    if headers and response.has_redirect_location:  # to the store of the bytes, which the key is not for
                        url, headers = response.headers["Location"], {}
                        continue
                    if response.status_code != httpx.codes.OK:
                        raise failure_of(response.status_code, response.headers, await response.aread())
                    async for piece in response.aiter_bytes():
                        yield piece
                    return
        except httpx.RequestError as cause:
            raise unreachable(self._root, cause) from cause
