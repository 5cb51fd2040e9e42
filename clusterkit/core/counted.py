"""A number with its noun, in the singular where it is one."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A number with its noun.

    Parameters
    ----------
    number : int
    thing : str
        The noun in the singular.
    things : str, optional
        In the plural; default: with an s.

    Examples
    --------
    >>> counted(1, "cluster"), counted(1200, "row"), counted(2, "category", "categories")
    ('1 cluster', '1,200 rows', '2 categories')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
