"""Import and export."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from .._core.calls import Call, call_of
from .._core.pieces import Conversations, ImportCounts, ImportPiece, Line, Slicer
from ..models import ExportLine, ImportLine, ImportReport
from .caller import AsyncCaller
from .io import Source, each


class AsyncTransfer(AsyncCaller):
    """The calls that move organizations in and out."""

    async def import_lines(
        self,
        org: str,
        lines: Source[ImportLine | ExportLine | str | bytes],
        *,
        dry_run: bool = False,
        lines_per_request: int = 1000,
    ) -> AsyncGenerator[ImportReport, None]:
        """Imports users, conversations, participants, messages of the past and inboxes, and yields a report while it goes on.

        That is how far it is after each request, with `lines` and `failed`; a line that was not imported, with a `problem`;
        and at last `done`. Lines may be text: an open file will do. If a request breaks off, it is sent again, as the same
        lines again change nothing. After a `HeraldError`, import all again. `dry_run` only checks.
        """
        call = call_of("importLines", (org,), query={"dry_run": dry_run})
        slicer = Slicer(lines_per_request)
        counts = ImportCounts()
        conversations = Conversations() if dry_run else None
        async with aclosing(each(lines)) as taken:
            async for line in taken:
                full = slicer.add(line)
                if full:
                    async with aclosing(self._import_piece(call, full, counts, conversations)) as reports:
                        async for report in reports:
                            yield report
        rest = slicer.rest()
        if rest:
            async with aclosing(self._import_piece(call, rest, counts, conversations)) as reports:
                async for report in reports:
                    yield report
        yield cast(ImportReport, counts.report(done=True))

    async def _import_piece(
        self, call: Call, lines: list[Line], counts: ImportCounts, conversations: Conversations | None
    ) -> AsyncGenerator[ImportReport, None]:
        declarations = [] if conversations is None else conversations.declare(lines)
        async with aclosing(self._send_piece(call, ImportPiece(lines, counts, declarations))) as reports:
            async for report in reports:
                yield report

    async def export_organization(self, org: str) -> AsyncGenerator[ExportLine, None]:
        """Yields the lines of an export of an organization, which an import takes. Raises `HeraldError` if it breaks off."""
        async with aclosing(self._lines(call_of("exportOrganization", (org,)))) as lines:
            async for line in lines:
                yield line

    async def export_user(self, org: str, uid: str) -> AsyncGenerator[ExportLine, None]:
        """Yields the lines of an export of what is stored of a user."""
        async with aclosing(self._lines(call_of("exportUser", (org, uid)))) as lines:
            async for line in lines:
                yield line
