"""A published algorithm as data: its driver, its stages with their parameters, and its source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import attrs

__all__ = ["Recipe"]


@attrs.frozen
class Recipe:
    """A composition of stages with its parameters, the driver that runs it, and its source.

    Parameters
    ----------
    name : str
        kebab-case.
    title : str
        One line that says what it is.
    citation : str
        Author (year), title, where.
    parameters : mapping
        What differs from the defaults of `clusterkit.Pipeline` and of the driver: whole slots (``"solver": "ridge"``),
        parameters of stages (``"solver__C": 1.0``), and parameters of the driver by their plain names
        (``"n_maps": 5``).
    driver : str, default "single"
        Name of a registered driver (``clusterkit.stages("driver")``).
    clusters : {"given", "two", "found"}
        Whether the user gives the number of clusters, the number is always two, or the method finds it.
    use_when : str
        The kind of data and purpose that it suits.
    """

    name: str
    title: str
    citation: str
    parameters: Mapping[str, object] = attrs.field(factory=dict)
    driver: str = "single"
    clusters: Literal["given", "two", "found"] = "given"
    use_when: str = ""
