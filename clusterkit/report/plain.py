"""Texts of users made harmless and short before they are shown."""

from __future__ import annotations

import re

__all__ = ["plain"]

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")
"""Characters that steer a terminal, turn the direction of text around, or have no place in a page."""


def plain(text: object, most: int = 80) -> str:
    r"""A text with control characters as escapes, cut off after `most` characters.

    Examples
    --------
    >>> plain("a\x1b[31m"), plain("long" * 9, 10)
    ('a\\x1b[31m', 'longlongl…')
    """
    harmless = CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), str(text))
    return harmless if len(harmless) <= most else harmless[: most - 1] + "…"
