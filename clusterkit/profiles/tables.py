"""Columns as a data frame of whichever library is installed, or as text."""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from clusterkit.core.control_characters import STEERING, escaped
from clusterkit.core.errors import InvalidParameter
from clusterkit.core.wording import shortened

__all__ = ["as_cell", "as_frame", "as_text"]

LIBRARIES = {"pandas": ("pandas", "DataFrame"), "polars": ("polars", "DataFrame"), "pyarrow": ("pyarrow", "table")}
"""Module and function that makes a table of a mapping of columns."""

CONTROL = re.compile(f"[{STEERING}]")
"""Characters that steer a terminal instead of being shown."""

WIDEST = 40
"""Characters of a cell of a table of texts."""


def as_frame(columns: Mapping[str, Sequence[object]], library: str | None) -> object:
    """A data frame of a library, or of the first of pandas, Polars and PyArrow that is installed.

    Raises
    ------
    ImportError
        If none is installed, or not this one.
    InvalidParameter
        If the library is not known.
    """
    if library is None:
        library = next((name for name in LIBRARIES if find_spec(name)), None)
        if library is None:
            raise ImportError("a data frame needs pandas, polars or pyarrow; install one of them")
    if library not in LIBRARIES:
        raise InvalidParameter(f"library must be one of {', '.join(map(repr, LIBRARIES))}, got {library!r}")
    module, function = LIBRARIES[library]
    make: Any = getattr(importlib.import_module(module), function)
    frame: object = make(dict(columns))
    return frame


def as_text(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table for people: the first column to the left, numbers to the right, decimals in two digits.

    Examples
    --------
    >>> print(as_text(("method", "score"), [("k-means", 0.8125), ("svc", float("nan")), ("emmc", 12)]))
    method   score
    k-means   0.81
    svc          –
    emmc        12
    """
    texts = [[as_cell(value) for value in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = (
        "  ".join(
            text.rjust(width) if j else text.ljust(width)
            for j, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in texts
    )
    return "\n".join(line.rstrip() for line in lines)


def as_cell(value: object, most: int = WIDEST) -> str:
    """A value for people: harmless, and of at most so many characters."""
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    return shortened(escaped(str(value), CONTROL), most)
