"""Keys and other secrets that callers give: how they are read, and kept out of errors, logs and representations."""

from __future__ import annotations

import re
from typing import Final

# What a header can carry (RFC 9110, section 5.5), without spaces: the server accepts no other keys.
_FOREIGN: Final = re.compile(r"[^\x21-\x7e]")


class Secret:
    """A text that no representation shows: debuggers and reporters of errors show the variables of a call."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text. Keep it out of variables of a call that may fail."""
        return self._text

    def __repr__(self) -> str:
        return "<secret>"

    def __reduce__(self) -> tuple[type[Secret], tuple[str]]:
        return Secret, (self._text,)


def header_secret(what: str, text: str) -> Secret:
    """A secret that goes in a header, without the white space around it, such as the line break of the file that it is read from.

    Raises `ValueError` without the text if there is none, or if it has characters that it cannot have.
    """
    stripped = stripped_secret(what, text)
    foreign = _FOREIGN.search(stripped)
    if foreign is not None:
        place = f"character {foreign.start() + 1} of {len(stripped)}"
        raise ValueError(f"{what} must be visible ASCII characters, which {place} is not: check where it is read from")
    return Secret(stripped)


def stripped_secret(what: str, text: str) -> str:
    """A secret without the white space around it. Raises `ValueError` without the text if there is none."""
    stripped = text.strip() if isinstance(text, str) else ""
    if not stripped:
        raise ValueError(f"{what} is missing")
    return stripped
