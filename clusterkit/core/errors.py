"""Every error clusterkit raises on purpose; each message names the value, the reason and what would do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from clusterkit.core.control_characters import escaped
from clusterkit.core.wording import shortened

__all__ = [
    "BrokenPlugin",
    "BrokenStage",
    "ClusterkitWarning",
    "IncompatibleStages",
    "Infeasible",
    "InvalidData",
    "InvalidModelFile",
    "InvalidParameter",
    "NeedsClusters",
    "NeedsMemory",
    "NeedsSpace",
    "NotExportable",
    "NotSavable",
    "SolverFailed",
    "UnitsWarning",
    "UnknownName",
    "first_names",
    "nearest_names",
]


class InvalidParameter(ValueError):
    """A stage was given a value outside the range of a parameter."""


class NeedsClusters(InvalidParameter):
    """The number of clusters was left out, and no stage finds it."""


class InvalidData(ValueError):
    """The data do not suit a stage, for example negative entries for NMF."""


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


class NotExportable(ValueError):
    """A model has no ONNX form, because a part of it has none; names the stage and the part."""


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
