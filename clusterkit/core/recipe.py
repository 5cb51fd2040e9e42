"""A published algorithm as data: which driver, which stages with which parameters, and whom to cite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs

__all__ = ["Recipe"]


@attrs.frozen
class Recipe:
    """A named composition.

    Parameters
    ----------
    name : str
        kebab-case.
    title : str
        One line that says what it is.
    citation : str
        Author (year), title, where.
    parameters : mapping
        Keyword arguments of the driver; nested ones as ``slot__parameter``.
    driver : {"Pipeline", "Pooled", "AutoPooled"}
        The estimator that runs it.
    clusters : {"given", "two", "found"}
        Whether the user gives the number of clusters, it is always two, or the method finds it.
    use_when : str
        When to choose it.
    """

    name: str
    title: str
    citation: str
    parameters: Mapping[str, Any] = attrs.field(factory=dict)
    driver: Literal["Pipeline", "Pooled", "AutoPooled"] = "Pipeline"
    clusters: Literal["given", "two", "found"] = "given"
    use_when: str = ""
