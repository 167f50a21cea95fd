"""The address of the server."""

from __future__ import annotations

import httpx

from ..errors import HeraldError

_EXAMPLE = "such as http://127.0.0.1:7070"


def read_address(url: str) -> str:
    """The address of the server without the white space around it, its query and a slash at the end.

    Raises `ValueError` that says what to write. It shows the address only if that can hold no password and no key.
    """
    text = url.strip() if isinstance(url, str) else ""
    if not text:
        raise ValueError(f"the address of the server is missing: write one {_EXAMPLE}")
    try:
        address = httpx.URL(text)
    except httpx.InvalidURL:
        raise ValueError(f"the address of the server{_shown(text)} is not a URL: write one {_EXAMPLE}") from None
    if address.scheme not in ("http", "https") or not address.host:
        instead = f"http://{text}" if "://" not in text and _shown(text) else f"one {_EXAMPLE}"
        message = f"the address of the server{_shown(text)} must begin with http:// or https://: write {instead}"
        raise ValueError(message)
    if address.userinfo:
        raise ValueError("the address of the server must not contain a user name or a password: leave out what is before @")
    return str(address.copy_with(query=None, fragment=None)).rstrip("/")


def read_location(root: str, location: str) -> tuple[str, httpx.URL]:
    """The address that a redirect of the server names, and its origin, which can be told: what follows may be a signature."""
    try:
        url = httpx.URL(root).join(location)
    except httpx.InvalidURL:
        url = None
    if url is None or url.scheme not in ("http", "https") or not url.host:
        raise no_address()
    return f"{url.scheme}://{url.netloc.decode()}", url


def no_address() -> HeraldError:
    """The error of a redirect that leads nowhere."""
    return HeraldError(302, "not_herald", "the answer with the status 302 is not from a Herald server: it names no address")


def _shown(text: str) -> str:
    """An address with a space before it, or nothing if it may hold a password, or is a key in the wrong place."""
    return "" if "@" in text or "hk_" in text else f" {text!r}"
