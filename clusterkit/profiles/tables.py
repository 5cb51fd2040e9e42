"""Columns as a data frame of whichever library is installed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from clusterkit.core.errors import InvalidParameter

__all__ = ["as_frame"]

LIBRARIES = {"pandas": ("pandas", "DataFrame"), "polars": ("polars", "DataFrame"), "pyarrow": ("pyarrow", "table")}
"""Module and function that makes a table of a mapping of columns."""


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
