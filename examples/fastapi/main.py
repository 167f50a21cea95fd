"""A shop that sends a message when an order is placed: with FastAPI and the SDK.

    pip install herald-sdk fastapi uvicorn
    HERALD_URL=http://127.0.0.1:7070 HERALD_ADMIN_API_KEY=$(cat data/admin-api-key) uvicorn main:app --port 8080
    curl -i 127.0.0.1:8080/orders -H 'Content-Type: application/json' -d '{"user":"bob","order":"456"}'
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request
from herald import AsyncHerald, HeraldError
from pydantic import BaseModel, Field


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    url = os.environ.get("HERALD_URL", "http://127.0.0.1:7070")
    # One client for all requests, as it keeps its connections. A request that a customer waits for does not wait long.
    async with AsyncHerald(url, os.environ["HERALD_ADMIN_API_KEY"], deadline=5) as herald:
        app.state.herald = herald
        yield


app = FastAPI(lifespan=lifespan)


class Order(BaseModel):
    user: str = Field(pattern=r"^[\w-]{1,50}$")
    order: str = Field(pattern=r"^[\w-]{1,50}$")


class Placed(BaseModel):
    message: str
    replayed: bool


def herald_of(request: Request) -> AsyncHerald:
    herald: AsyncHerald = request.app.state.herald
    return herald


@app.post("/orders", status_code=201)
async def place_order(order: Order, herald: Annotated[AsyncHerald, Depends(herald_of)]) -> Placed:
    # … store the order here, and then tell of it.
    try:
        sent = await herald.send_message(
            organizationId="demo",
            senderId="alice",
            message={
                # What happened, to whom, and which order it was: however often it is submitted, also after a restart of the
                # shop, the message is sent once.
                "id": f"order-placed:{order.user}:{order.order}",
                "cid": "welcome",
                "body": f"Order {order.order} is placed.",
                "x": {"user": order.user, "order": order.order},
            },
        )
    except HeraldError as error:
        if error.is_unknown or error.status == 429:
            raise HTTPException(503, "try again") from error
        raise
    return Placed(message=sent["ask"]["server_mid"], replayed=sent.get("replayed", False))
