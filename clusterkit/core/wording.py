"""Numbers in sentences, as all messages, summaries and pictures write them."""

from __future__ import annotations

__all__ = ["counted", "percent", "shortened", "with_title"]

LONGEST_NAME = 60
"""Most characters of a name in a message."""


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


def shortened(name: str, most: int = LONGEST_NAME) -> str:
    """A name, without its middle where it is long: what tells names apart is often at one of the ends.

    Examples
    --------
    >>> shortened("price"), shortened("a" * 50 + "b" * 50, 9)
    ('price', 'aaaa…bbbb')
    """
    if len(name) <= most:
        return name
    end = (most - 1) // 2
    return f"{name[: most - 1 - end]}…{name[len(name) - end :]}"


def percent(share: float) -> str:
    """A share in percent, not rounded to nothing or to everything.

    Examples
    --------
    >>> percent(0.25), percent(0.999), percent(0.001), percent(1.0)
    ('25 %', 'above 99 %', 'below 1 %', '100 %')
    """
    if 0 < share < 0.005:
        return "below 1 %"
    return "above 99 %" if 0.995 < share < 1 else f"{share:.0%}".replace("%", " %")


def with_title(name: str, title: str) -> str:
    """The name of a recipe before its title, which may begin with it.

    Examples
    --------
    >>> with_title("kmeans", "k-means"), with_title("genie", "Genie: single linkage that avoids uneven sizes")
    ('kmeans: k-means', 'genie: single linkage that avoids uneven sizes')
    """
    first, colon, rest = title.partition(": ")
    return f"{name}: {rest if colon and first.lower() == name.lower() else title}"
