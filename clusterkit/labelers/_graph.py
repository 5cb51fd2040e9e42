"""What the labelers that join samples by lines have in common."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from clusterkit._typing import Array
from clusterkit.core.outcomes import Domain
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeling
from clusterkit.labelers._domain_labels import DistinctRows, domain_labeling
from clusterkit.labelers._segments_jit import Search, segment_test

__all__ = ["graph_labeling"]


def graph_labeling(
    domain: Domain,
    space: Space,
    find: Callable[[Search, Array], None],
    *,
    stage: str,
    m: int,
    outliers: str,
    min_cluster_size: int | None,
) -> Labeling:
    """Labels from the components that `find` joins among the distinct samples inside.

    Parameters
    ----------
    domain : Domain
    space : Space
    find : callable
        Gets a search and the points (u, d) it is about.
    stage : str
        Name for progress reports.
    m : int
        Samples a line.
    outliers, min_cluster_size
        As in `domain_labeling`.
    """
    distinct = DistinctRows.of(space.points)
    test = segment_test(domain, m)
    inside = test.inside(distinct.rows)
    if space.n == 1:
        inside[:] = True
    components, interrupted = np.full(len(inside), -1, dtype=np.intp), False
    if inside.any():
        points = np.ascontiguousarray(distinct.rows[inside])
        search = test.search(points, stage)
        try:
            find(search, points)
        except KeyboardInterrupt:
            interrupted = True
        components[inside] = search.members()
    return domain_labeling(
        components,
        distinct,
        domain,
        space,
        m=m,
        outliers=outliers,
        min_cluster_size=min_cluster_size,
        interrupted=interrupted,
    )
