"""Adapts generated cases to rules that the OpenAPI document cannot express, and to ids that exist, so that calls get further
than 404. Only cases that are meant to be valid are changed; invalid ones are sent as they are."""

import base64
import json
import time
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote

import schemathesis
from schemathesis.generation import GenerationMode

EXISTING = {"org": "demo", "uid": "alice", "cid": "welcome"}
LARGEST_EXACT = 2**53
# Bun itself answers 431, without Herald's headers, if the URL and the headers exceed 16 KiB.
LARGEST_ADDRESS = 12_000


def cursor(place):
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def place_of(path):
    if path.endswith("/messages"):
        return {"before": 5, "direction": "backward"}
    if path == "/admin/audit":
        return {"before": "01a1f90e-0c4d-7a52-b3c6-5d1f2e3a4b5c"}
    if path.endswith("/scheduled"):
        return {"sendAt": 0, "id": "a"}
    if path.endswith("/proposals"):
        return {"expiresAt": 0, "id": "a"}
    if path.endswith("/recipients"):
        return {"index": 0} if "/system-messages/" in path else {"uid": "a", "after": 0}
    if is_deliveries_of_user(path):
        return {"before": 5}
    return {"id": "a"}


def is_deliveries_of_user(path):
    return path.endswith("/users/{uid}/deliveries")


def id_of_now():
    """A UUIDv7 (RFC 9562, section 5.7)."""
    digits = f"{int(time.time() * 1000):012x}"
    return f"{digits[:8]}-{digits[8:]}-7000-8000-000000000000"


def storable(value):
    """Makes JSON that is delivered unchanged: no integer that a double cannot hold, no U+0000."""
    if isinstance(value, dict):
        return {storable(name): storable(member) for name, member in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    if isinstance(value, str):
        return value.replace("\x00", "")
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) >= LARGEST_EXACT:
        return 1
    return value


def in_days(days):
    return (datetime.now(timezone.utc) + timedelta(days=days)).isoformat(timespec="milliseconds")


def use_existing(case):
    if case.method == "DELETE":  # what exists stays, for the calls that follow
        return
    for name, known in EXISTING.items():
        if name in case.path_parameters:
            case.path_parameters[name] = known
    if isinstance(case.body, dict) and "organizationId" in case.body:
        case.body["organizationId"] = EXISTING["org"]
        if "senderId" in case.body:
            case.body["senderId"] = EXISTING["uid"]
        for part in ("message", "messageRead", "typing"):
            if isinstance(case.body.get(part), dict):
                case.body[part]["cid"] = EXISTING["cid"]


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    if len(str(case.path_parameters) + str(case.query)) % 2 == 0:
        use_existing(case)
    for name, value in case.path_parameters.items():
        if value in (".", ".."):  # every URL parser removes them (docs/explanation/decisions-where-the-contract-is-silent.md)
            case.path_parameters[name] = "dot"
    if case.query and "cursor" in case.query:  # opaque: only cursors issued by Herald are valid
        place = {"by": "id", "key": "a", "id": ""} if "prefix" in case.query else place_of(case.path)
        case.query["cursor"] = cursor(place)
    if case.query and "after" in case.query and case.path == "/admin/audit":  # the id of an entry that is not too old
        case.query["after"] = id_of_now()
    if case.query and "after" in case.query and is_deliveries_of_user(case.path):  # the cursor by another name
        case.query["after"] = cursor(place_of(case.path))
        case.query.pop("cursor", None)
    if isinstance(case.body, dict):
        if isinstance(case.body.get("request"), dict):  # a scheduled or proposed send is one of the organization in the path
            case.body["request"]["organizationId"] = unquote(case.path_parameters["org"])
        if isinstance(case.body.get("cidrs"), list):  # JSON Schema knows addresses, but not networks
            case.body["cidrs"] = ["192.0.2.0/24", "2001:db8::/32"]
        if isinstance(case.body.get("url"), str):  # an https URL, and not of a private network
            case.body["url"] = "https://hooks.invalid/herald"
        if isinstance(case.body.get("limits"), dict) and "stored_bytes" in case.body["limits"]:  # or nothing fits later
            case.body["limits"]["stored_bytes"] = None
        if isinstance(case.body.get("send_at"), str):  # must lie within a year
            case.body["send_at"] = in_days(1)
        if isinstance(case.body.get("expires_at"), str):  # must lie in the future
            case.body["expires_at"] = "2999-01-01T00:00:00Z"
        if case.path == "/admin/message/append" and "messageAppend" not in case.body:  # the first of its lines names the message
            piece = {"id": "none", "offset": 0, "text": "x"}
            case.body = {"organizationId": "demo", "senderId": "alice", "messageAppend": piece}
        send = case.body.get("request", case.body)  # that of a scheduled or proposed send, or the body itself
        for part in ("message", "messageSystem", "messageEdit"):
            content = send.get(part) if isinstance(send, dict) else None
            if not isinstance(content, dict):
                continue
            if "x" in content:
                content["x"] = storable(content["x"])
            if isinstance(content.get("expires_at"), str):  # must lie within a year, and after `send_at`
                content["expires_at"] = in_days(2)


@schemathesis.serializer("application/x-ndjson")
def one_line(context, value):
    return {"data": json.dumps(value).encode()}


def is_refused_line(case):
    """A bad line is no bad request: it is refused in a line of the answer, which is 200."""
    return case.path.endswith(("/import", "/batch")) and case.meta is not None and case.meta.generation.mode != GenerationMode.POSITIVE


@schemathesis.hook
def filter_case(context, case):
    return not is_refused_line(case) and len(case.formatted_path) + len(str(case.query)) < LARGEST_ADDRESS
