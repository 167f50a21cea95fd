"""Sends that another key has to approve."""

from __future__ import annotations

from ..models import Proposal, ProposalState, Send, SendMessageRequest, SendSystemMessageRequest
from .caller import AsyncCaller, AsyncPages

_Request = Send | SendMessageRequest | SendSystemMessageRequest


class AsyncProposals(AsyncCaller):
    """The calls about proposals."""

    async def propose(self, org: str, id: str, *, request: _Request, reason: str | None = None) -> Proposal:
        """Proposes a send, which another key has to approve within a day.

        It is checked now. The same call again changes nothing; another one with the same `id` fails with `message_id_conflict`.
        """
        body = {"request": request} | ({} if reason is None else {"reason": reason})
        return await self._call(Proposal, "putProposal", (org, id), body=body)

    async def get_proposal(self, org: str, id: str) -> Proposal:
        """Reads a proposal, or what became of it."""
        return await self._call(Proposal, "getProposal", (org, id))

    def proposals(self, org: str, *, state: ProposalState | None = None) -> AsyncPages[Proposal]:
        """Proposals, the oldest first: those in one state, or all."""
        return AsyncPages(self, "listProposals", (org,), {"state": state})

    async def approve_proposal(self, org: str, id: str, *, reason: str | None = None) -> Proposal:
        """Approves a proposal, which sends it, once whoever else approves it. Look at its `state`: it may have `failed`.

        Fails with `own_proposal` for a key that proposed it, and with `already_sent` if it was rejected or has expired.
        """
        body = {} if reason is None else {"reason": reason}
        return await self._call(Proposal, "approveProposal", (org, id), body=body)

    async def reject_proposal(self, org: str, id: str, *, reason: str | None = None) -> Proposal:
        """Rejects a proposal, which then is never sent. Fails with `already_sent` if it was."""
        body = {} if reason is None else {"reason": reason}
        return await self._call(Proposal, "rejectProposal", (org, id), body=body)
