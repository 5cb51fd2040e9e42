"""A published algorithm as data: its driver, its stages with their parameters, and its source."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import attrs

__all__ = ["Recipe"]


def _read_only(parameters: Mapping[str, object]) -> Mapping[str, object]:
    """A copy that nobody can change: a recipe handed out is the one in the registry."""
    return MappingProxyType(copy.deepcopy(dict(parameters)))


def _all_read_only(members: Sequence[Mapping[str, object]]) -> tuple[Mapping[str, object], ...]:
    return tuple(map(_read_only, members))


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
        (``"n_maps": 5``). Copied, and read-only from then on.
    driver : str, default "single"
        Name of a registered driver (``clusterkit.stages("driver")``).
    clusters : {"given", "two", "found"}
        Whether the user gives the number of clusters, the number is always two, or the method finds it.
    use_when : str
        The kind of data and purpose that it suits.
    family : str
        What kind of method it is, for the recipe ``auto``: clusterings of one family do not confirm each other.
    pool : sequence of mapping
        Makes the recipe a candidate of ``auto``: changes to its parameters, one mapping for each member of the pool,
        such as ``({},)`` for the recipe as it is. Empty: it does not take part.
    pool_known : mapping
        Further changes to each member of the pool where the number of clusters is known, and one fit counts for more.
    """

    name: str
    title: str
    citation: str
    parameters: Mapping[str, object] = attrs.field(factory=dict, converter=_read_only)
    driver: str = "single"
    clusters: Literal["given", "two", "found"] = "given"
    use_when: str = ""
    family: str = ""
    pool: Sequence[Mapping[str, object]] = attrs.field(default=(), converter=_all_read_only)
    pool_known: Mapping[str, object] = attrs.field(factory=dict, converter=_read_only)

    def __reduce__(self) -> tuple[object, ...]:
        """By the constructor, because a read-only view does not pickle."""
        pool = tuple(map(dict, self.pool)), dict(self.pool_known)
        rest = (self.driver, self.clusters, self.use_when, self.family, *pool)
        return Recipe, (self.name, self.title, self.citation, dict(self.parameters), *rest)
