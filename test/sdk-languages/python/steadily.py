"""Sends 3,000 messages in one batch, however often the server is killed meanwhile, and counts what is stored."""

import os
from collections.abc import Iterator

from herald import Herald
from herald.models import Send

COUNT = 3000


def sends() -> Iterator[Send]:
    for number in range(COUNT):
        yield {"organizationId": "o", "senderId": "alice", "message": {"cid": "c", "body": str(number)}}


with Herald(os.environ["HERALD_TEST_URL"], os.environ["HERALD_TEST_KEY"], retries=50) as herald:
    herald.put_organization("o")
    herald.put_conversation("o", "c", participants=["alice"])
    for answer in herald.send_batch(sends()):
        if "problem" in answer:
            print(answer["problem"])
        if answer["line"] % 100 == 0:
            print("answered", answer["line"])
    bodies = [message["body"] for message in herald.messages("o", "c")][::-1]
    print(sum(body == str(number) for number, body in enumerate(bodies)), "of", len(bodies))
