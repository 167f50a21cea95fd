"""A client that is used by processes that were forked, by threads, and by several event loops."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading

import pytest
from listener import echoing

from herald import AsyncHerald, Herald

FORKS = """
import os, sys
from herald import Herald

herald = Herald(sys.argv[1], "k", retries=0)

def ask(name):
    for number in range(50):
        uid = f"{name}-{number}"
        assert herald.get_user("o", uid)["id"] == uid, uid

ask("before")
children = []
for child in range(3):
    process = os.fork()
    if process == 0:
        ask(f"child-{child}")
        os._exit(0)
    children.append(process)
ask("parent")
sys.exit(sum(os.waitpid(child, 0)[1] != 0 for child in children))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_processes_that_were_forked_do_not_share_connections() -> None:
    with echoing() as url:
        environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run([sys.executable, "-c", FORKS, url], capture_output=True, text=True, env=environment, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


# Connections of a loop that has ended cannot be closed any more: Python does it, and warns.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_client_works_in_one_event_loop_after_the_other() -> None:
    async def ask(client: AsyncHerald, uid: str) -> str:
        return (await client.get_user("o", uid))["id"]

    with echoing() as url:
        client = AsyncHerald(url, "k", retries=0)
        for number in range(4):
            assert asyncio.run(ask(client, str(number))) == str(number)
        assert len(client._connections._made) == 1  # those of loops that have ended are forgotten
        del client
        gc.collect()


def test_one_client_works_in_several_event_loops_at_once() -> None:
    with echoing() as url:
        client = AsyncHerald(url, "k", retries=0)
        heard: list[str] = []
        barrier = threading.Barrier(4)

        async def ask(name: str) -> None:
            barrier.wait()
            for number in range(20):
                heard.append((await client.get_user("o", f"{name}-{number}"))["id"])
            await client.aclose()

        threads = [threading.Thread(target=lambda name=str(name): asyncio.run(ask(name))) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(heard) == sorted(f"{name}-{number}" for name in range(4) for number in range(20))


def test_a_client_that_was_closed_connects_again() -> None:
    async def ask(client: AsyncHerald) -> None:
        async with client:
            await client.get_user("o", "u")

    with echoing() as url:
        blocking = Herald(url, "k")
        awaiting = AsyncHerald(url, "k")
        for _ in range(2):
            with blocking:
                blocking.get_user("o", "u")
            asyncio.run(ask(awaiting))


def test_connections_are_kept_between_calls() -> None:
    with echoing() as url, Herald(url, "k") as client:
        ports = {str(client.get_user("o", "u").get("port")) for _ in range(3)}
        assert len(ports) == 1


