"""Sizes and origins of the data sets the papers use, whether they are available or not."""

from __future__ import annotations

import csv
import functools
from importlib import resources

import attrs

from clusterkit.datasets.manifest import describe_source


@attrs.frozen
class KnownDataset:
    """Size and origin of a data set, known without its file.

    Attributes
    ----------
    name : str
        Name of the data set.
    n, d, classes : int
        Numbers of rows, attributes and classes.
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
def known() -> dict[str, KnownDataset]:
    """The built-in table of data sets.

    Returns
    -------
    dict
        Data sets by name, in the order of the table.

    Examples
    --------
    >>> known()["letter"].n, known()["letter"].source.split(",")[0]
    (20000, 'github.com/davidgasquez/letter-recognition')
    """
    text = resources.files("clusterkit.datasets").joinpath("sources.csv").read_text(encoding="utf-8")
    return {
        row["name"]: KnownDataset(
            name=row["name"],
            n=int(row["n"]),
            d=int(row["d"]),
            classes=int(row["classes"]),
            source=describe_source(row),
            licence=row["licence"],
        )
        for row in csv.DictReader(text.splitlines())
    }
