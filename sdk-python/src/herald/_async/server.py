"""The server itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from .._core.calls import call_of
from .._core.secrets import header_secret
from ..models import Health, Node, NodeHistory, NodeList
from .caller import AsyncCaller


class AsyncServer(AsyncCaller):
    """The calls that show the nodes, how they are, and what they can do."""

    async def nodes(self) -> list[Node]:
        """The nodes, in the order in which they started."""
        return (await self._call(NodeList, "listNodes"))["items"]

    async def node_history(self) -> NodeHistory:
        """What all nodes did together in the last 30 minutes, as the node that answers has seen it since it started."""
        return (await self._call(NodeList, "listNodes", query={"history": True}))["history"]

    async def get_health(self) -> Health:
        """Whether the process of the node that answers is alive."""
        return await self._call(Health, "getHealth")

    async def get_readiness(self) -> Health:
        """Whether the node that answers accepts requests and, if it is `unavailable`, which check fails."""
        return cast(Health, (await self._exchange(replace(call_of("getReadiness"), also=503))).body)

    async def get_metrics(self, *, token: str | None = None) -> str:
        """The metrics of the node that answers, in the text format of Prometheus. `token` is its `HERALD_METRICS_TOKEN`."""
        call = replace(call_of("getMetrics"), headers={}, is_text=True)
        if token is not None:
            call = replace(call, bearer=header_secret("the token of the metrics", token))
        return cast(str, (await self._exchange(call)).body)

    async def get_openapi(self) -> dict[str, Any]:
        """The OpenAPI document of the server."""
        answer: dict[str, Any] = await self._call(dict, "getOpenApi")
        return answer

    async def get_asyncapi(self) -> dict[str, Any]:
        """The AsyncAPI document of the server, with the events and frames of the real-time API."""
        answer: dict[str, Any] = await self._call(dict, "getAsyncApi")
        return answer
