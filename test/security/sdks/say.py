"""Prints all that the SDK says of clients and of calls that fail. CASES has the addresses and keys."""

import asyncio
import json
import os
import traceback

from herald import AsyncHerald, Herald


def say(*things: object) -> None:
    for thing in things:
        print("case", repr(thing), str(thing), getattr(thing, "__dict__", "") if isinstance(thing, Exception) else "")


def fail(error: Exception) -> None:
    say(error, error.__cause__, error.__context__)
    print("".join(traceback.format_exception(error)))


async def ask(url: str, key: str, organization: str) -> None:
    client = AsyncHerald(url, key, retries=0)
    say(client)
    await client.get_organization(organization)


for url, key, organization in json.loads(os.environ["CASES"]):
    try:
        client = Herald(url, key, retries=0)
        say(client)
        client.get_organization(organization)
    except Exception as error:
        fail(error)
    try:
        asyncio.run(ask(url, key, organization))
    except Exception as error:
        fail(error)
