"""The data sets the papers use: sizes and origins, also of those that are not at hand."""

from __future__ import annotations

import csv
import functools
from importlib import resources

import attrs

from clusterkit.datasets.manifest import describe_source


@attrs.frozen
class Known:
    """What is known about a data set without having it.

    Attributes
    ----------
    name : str
        Name of the data set.
    n, d, classes : int
        Its size.
    source : str
        Repository, path and version of the original.
    licence : str
        Terms of the original.
    """

    name: str
    n: int
    d: int
    classes: int
    source: str
    licence: str


@functools.cache
def known() -> dict[str, Known]:
    """The built-in table.

    Returns
    -------
    dict
        Data sets by name.

    Examples
    --------
    >>> known()["letter"].n, known()["letter"].source.split(",")[0]
    (20000, 'github.com/davidgasquez/letter-recognition')
    """
    text = resources.files("clusterkit.datasets").joinpath("sources.csv").read_text(encoding="utf-8")
    return {
        row["name"]: Known(
            name=row["name"],
            n=int(row["n"]),
            d=int(row["d"]),
            classes=int(row["classes"]),
            source=describe_source(row),
            licence=row["licence"],
        )
        for row in csv.DictReader(text.splitlines())
    }
