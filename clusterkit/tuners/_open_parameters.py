"""Shared by the tuners: which parameters are open, and the space of the rows they search on."""

from __future__ import annotations

from typing import Any, cast

import attrs

from clusterkit._typing import Array, Indices, Rng
from clusterkit.core.spaces import KernelSpace, Space
from clusterkit.core.stages import FeatureMap, Stage, Task
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["is_open", "search_space"]


def is_open(stage: Stage, name: str, *alternatives: str) -> bool:
    """Whether a tunable parameter is None and so are the alternatives that would decide it."""
    values = stage.parameters()
    return name in stage.tunable and all(values.get(key) is None for key in (name, *alternatives))


def search_space(featuremap: FeatureMap, X: Array, rows: Indices, open_gamma: bool, rng: Rng) -> Space:
    """The space of some rows of X; its bandwidth is 1 if it is open."""
    if open_gamma:
        featuremap = featuremap.with_parameters(gamma=1.0)
    space: Space = featuremap.space_of(X if len(rows) == len(X) else X[rows], Task(len(rows), None), rng)
    if isinstance(space, KernelSpace) and isinstance(space.points, SparseRows):
        # the same distances in few dense coordinates: hundreds of bandwidths pay for the conversion
        points = cast(Any, space.points).isometric()
        space = attrs.evolve(space, points=points, before=())
    return space
