"""Shared by the tuners: which parameters are open, how to set them, and the space of the rows they search on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import attrs

from clusterkit._typing import Array, Indices, Rng
from clusterkit.core.chain import Chain
from clusterkit.core.spaces import KernelSpace, Space
from clusterkit.core.stages import FeatureMap, Stage, Task
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["is_open", "search_space", "with_parameters"]


def is_open(stage: Stage, name: str, *alternatives: str) -> bool:
    """Whether a tunable parameter is None and so are the alternatives that would decide it; of a chain its last map."""
    last = stage.maps[-1] if isinstance(stage, Chain) else stage
    values = last.parameters()
    return name in last.tunable and all(values.get(key) is None for key in (name, *alternatives))


def with_parameters(stage: Stage, values: Mapping[str, Any]) -> Stage:
    """A stage with some parameters set; in a chain they belong to the last map."""
    if not values:
        return stage
    if isinstance(stage, Chain):
        last: FeatureMap = stage.maps[-1].with_parameters(**values)
        return Chain((*stage.maps[:-1], last))
    return stage.with_parameters(**values)


def search_space(featuremap: FeatureMap, X: Array, rows: Indices, open_gamma: bool, rng: Rng) -> Space:
    """The space of some rows of X; its bandwidth is 1 if it is open.

    The first maps of a chain are fitted to all rows, as in the fit that follows.
    """
    if open_gamma:
        featuremap = cast(FeatureMap, with_parameters(featuremap, {"gamma": 1.0}))
    space: Space
    if len(rows) == len(X) or isinstance(featuremap, Chain):
        space = featuremap.fit(X, Task(len(X), None), rng)
        space = space if len(rows) == len(X) else space.take(rows)
    else:
        space = featuremap.fit(X[rows], Task(len(rows), None), rng)
    if isinstance(space, KernelSpace) and isinstance(space.points, SparseRows):
        # the same distances in few dense coordinates: hundreds of bandwidths pay for the conversion
        points = cast(Any, space.points).isometric()
        space = attrs.evolve(space, points=points, before=())
    return space
