"""Every error clusterkit raises on purpose; each message names the value, the reason and the nearest valid choices.

Also the helper functions that format text for messages, summaries and plots: they write numbers for use in a sentence,
and strip control characters from text supplied by the user.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Iterable, Sequence
from types import ModuleType

__all__ = [
    "STEERING",
    "BrokenPlugin",
    "BrokenStage",
    "ClusterkitWarning",
    "IncompatibleStages",
    "Infeasible",
    "InvalidData",
    "InvalidModelFile",
    "InvalidParameter",
    "MissingLibrary",
    "NeedsClusters",
    "NeedsMemory",
    "NeedsSpace",
    "NotNumeric",
    "NotSavable",
    "SolverFailed",
    "TableError",
    "TableWarning",
    "UnitsWarning",
    "UnknownName",
    "counted",
    "escaped",
    "first_names",
    "nearest_names",
    "need",
    "percent",
    "shortened",
    "with_title",
]


LONGEST_NAME = 60
"""Largest number of characters of a name in a message."""


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A number with its noun.

    Parameters
    ----------
    number : int
    thing : str
        The noun in the singular.
    things : str, optional
        Plural of `thing`; default: with an s.

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


class InvalidParameter(ValueError):
    """A stage was given a value outside the range of a parameter."""


class NeedsClusters(InvalidParameter):
    """The number of clusters was left out, and no stage finds it."""


class InvalidData(ValueError):
    """The data do not suit a stage, for example negative entries for NMF."""


class MissingLibrary(ImportError, ValueError):
    """A library that clusterkit does not bring by itself is not installed; the message says which extra does."""


def need(library: str, what: str, extra: str) -> ModuleType:
    """Import a library that only an extra brings.

    Parameters
    ----------
    library : str
        The module.
    what : str
        What needs it, as the subject of the message.
    extra : str
        The extra of clusterkit that brings it.

    Raises
    ------
    MissingLibrary
        If it is not installed.
    """
    try:
        return importlib.import_module(library)
    except ImportError as error:
        package = library.partition(".")[0]
        raise MissingLibrary(
            f"{what} needs {package}: install it, or clusterkit-toolkit with the extra {extra!r}"
        ) from error


class UnknownName(ValueError):
    """No stage, recipe or parameter has this name."""


class IncompatibleStages(ValueError):
    """Stages that cannot work together were composed."""


class Infeasible(ValueError):
    """No labelling satisfies the requested cluster sizes."""


class BrokenPlugin(ValueError):
    """A third-party plugin cannot be used: it fails to import, is too new, or answers wrongly."""


class BrokenStage(BrokenPlugin):
    """A stage returned what its contract forbids, for example features that are not finite; names the distribution."""


class NeedsMemory(ValueError, MemoryError):
    """An array would exceed the memory cap; raised before it is allocated, with the number of bytes."""


class NeedsSpace(ValueError):
    """A file would not fit on its disk; raised before it is written where that can be known, with the bytes."""


class NotSavable(ValueError):
    """A model holds an object that no file of a model can hold; names the object's place and class."""


class SolverFailed(RuntimeError):
    """A numerical solver outside this library returned no solution; names the solver and how it ended."""


class InvalidModelFile(ValueError):
    """A file is no saved model, is damaged, or needs a plugin that is missing; names the file and what is wrong.

    Parameters
    ----------
    path : str
    reason : str
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class ClusterkitWarning(UserWarning):
    """Something the caller should know about a result that is still the documented answer."""


class UnitsWarning(ClusterkitWarning):
    """Columns are in units that cannot be compared, and the method does not scale them."""


LINE_ENDS = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Characters of a name that would break a message into lines."""


def first_names(names: Sequence[str], most: int) -> str:
    r"""The first names of a list, for messages; long ones without their middle, and line ends as escapes.

    Examples
    --------
    >>> first_names(["a", "b"], 2), first_names(["a", "b", "c"], 2), first_names(["a\nb"], 2)
    ('a, b', 'a, b, ...', 'a\\nb')
    """
    shown = [escaped(shortened(name), LINE_ENDS) for name in names[:most]]
    return ", ".join(shown) + (", ..." if len(names) > most else "")


def nearest_names(name: str, known: Iterable[str], *, only_near: bool = False) -> str:
    """Sentence that offers the names closest to `name`, then all of them unless `only_near`.

    Examples
    --------
    >>> nearest_names("treshold", ["argmax", "threshold"])
    "Did you mean 'threshold'? Available: argmax, threshold."
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    offer = f"Did you mean {' or '.join(repr(c) for c in close)}? " if close else ""
    return offer.rstrip() if only_near else f"{offer}Available: {', '.join(names) or 'none'}."


class TableError(InvalidData):
    """A file is no table, or a table does not suit what is done with it; names the table, the column and the row."""


class NotNumeric(TableError):
    """Columns contain cells that are missing or not numbers; `columns` has the names of these columns."""

    def __init__(self, message: str, columns: Sequence[str]) -> None:
        super().__init__(message)
        self.columns = tuple(columns)


class TableWarning(ClusterkitWarning):
    """Cells of new rows are not as those of the fit, and were read as gaps."""
