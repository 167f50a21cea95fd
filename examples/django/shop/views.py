"""A shop that sends a message when an order is placed."""

import json
import re

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from herald import Herald, HeraldError

# One client for all requests and threads, as it keeps its connections. A request that a customer waits for does not wait long.
herald = Herald(settings.HERALD_URL, settings.HERALD_ADMIN_API_KEY, deadline=5)


@csrf_exempt  # for the example: it has no sessions
@require_POST
def place_order(request: HttpRequest) -> JsonResponse:
    try:
        placed = json.loads(request.body)
        user, order = placed["user"], placed["order"]
    except (ValueError, KeyError, TypeError):
        user = order = None
    if not all(isinstance(one, str) and re.fullmatch(r"[\w-]{1,50}", one) for one in (user, order)):
        return JsonResponse({"error": "an order has a user and an order: 1 to 50 letters and digits"}, status=400)
    # … store the order here, and then tell of it. In a transaction, do that with transaction.on_commit.
    try:
        sent = herald.send_message(
            organizationId="demo",
            senderId="alice",
            message={
                # What happened, to whom, and which order it was: however often it is submitted, also after a restart of the
                # shop, the message is sent once.
                "id": f"order-placed:{user}:{order}",
                "cid": "welcome",
                "body": f"Order {order} is placed.",
                "x": {"user": user, "order": order},
            },
        )
    except HeraldError as error:
        if error.is_unknown or error.status == 429:
            return JsonResponse({"error": "try again"}, status=503)
        raise
    return JsonResponse({"message": sent["ask"]["server_mid"], "replayed": sent.get("replayed", False)}, status=201)
