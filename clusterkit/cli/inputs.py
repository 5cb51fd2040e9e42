"""The files that commands read: one clear line where there is none."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from clusterkit.cli.failures import BadInput
from clusterkit.core.errors import nearest_names

__all__ = ["check_file"]

MOST_NAMES = 10_000
"""Most names of a folder that are compared with one that is not there."""


def check_file(path: str, hint: str = "") -> None:
    """Raise `BadInput` for a file that is not there, with the nearest names in its folder, and for a folder.

    Parameters
    ----------
    path : str
    hint : str
        What else may be meant; follows the message.
    """
    place = Path(path)
    if place.is_dir():
        raise BadInput(f"{path} is a folder, not a file")
    if not place.exists():
        raise BadInput(f"{path}: no such file{hint or _near(place)}")


def _near(place: Path) -> str:
    """What is meant instead: a call that takes patterns, or a question with the nearest names of files."""
    if "*" in place.name:
        return f"; patterns are for Python: clusterkit.open({str(place)!r})"
    if not place.parent.is_dir():
        return f"; there is no folder {place.parent}"
    try:
        names = [entry.name for entry in islice(place.parent.iterdir(), MOST_NAMES) if entry.is_file()]
    except OSError:  # a folder that may not be listed
        return ""
    same_ending = [name for name in names if place.suffix and name.endswith(place.suffix)]
    offer = nearest_names(place.name, same_ending, only_near=True) or nearest_names(place.name, names, only_near=True)
    return f". {offer}" if offer else ""
