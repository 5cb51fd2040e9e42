"""Texts of users, made harmless before they are shown."""

from __future__ import annotations

import re

__all__ = ["STEERING", "escaped"]

STEERING = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""Characters, as in the brackets of a pattern, that steer a terminal, turn the direction of text around, or cannot be
written: from a name in a file or a plugin they could colour, hide or forge what is shown."""


def escaped(text: str, characters: re.Pattern[str]) -> str:
    r"""The text with some characters as escapes.

    Examples
    --------
    >>> escaped("a\x1b[31m", re.compile(f"[{STEERING}]"))
    'a\\x1b[31m'
    """
    return characters.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
