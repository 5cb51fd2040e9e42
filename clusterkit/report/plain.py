"""Texts of users made harmless and short before they are shown."""

from __future__ import annotations

import re

from clusterkit.core.control_characters import STEERING, escaped

__all__ = ["plain"]

CONTROL = re.compile(f"[{STEERING}\ufeff\ufffe\uffff]")
"""Characters that must not be shown, and those that have no place in a page."""


def plain(text: object, most: int = 80) -> str:
    r"""A text with control characters as escapes, cut off after `most` characters.

    Examples
    --------
    >>> plain("a\x1b[31m"), plain("long" * 9, 10)
    ('a\\x1b[31m', 'longlongl…')
    """
    harmless = escaped(str(text), CONTROL)
    return harmless if len(harmless) <= most else harmless[: most - 1] + "…"
