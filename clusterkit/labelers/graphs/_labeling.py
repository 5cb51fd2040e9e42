"""The part that the labelers which join samples by segments have in common."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from clusterkit._typing import Array
from clusterkit.core.deadline import deadline
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.outcomes import Domain
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeling
from clusterkit.labelers._outliers_and_prediction import domain_labeling
from clusterkit.level_sets.distinct import DistinctRows
from clusterkit.level_sets.segment_test import ComponentSearch, segment_test
from clusterkit.numerics.sparse_rows import as_rows

__all__ = ["graph_labeling"]


def graph_labeling(
    domain: Domain,
    space: Space,
    find_components: Callable[[ComponentSearch, Array], None],
    *,
    stage: str,
    n_segment_points: int,
    outliers: str,
    min_cluster_size: int | None,
    max_seconds: float | None = None,
) -> Labeling:
    """Labels from the components that `find_components` joins among the distinct samples inside the domain.

    Parameters
    ----------
    domain : Domain
    space : Space
    find_components : callable
        Called with a search and its points (u, d); joins points by calling the methods of the search.
    stage : str
        Name for progress reports.
    n_segment_points : int
        Points tested on a segment.
    outliers, min_cluster_size
        As in `domain_labeling`.
    max_seconds : float, optional
        Time limit, in seconds: the search ends at its first progress report after it, with a warning.

    Warns
    -----
    ClusterkitWarning
        If the time limit ended the search.
    """
    distinct = DistinctRows.of(space.points)
    test = segment_test(domain, n_segment_points)
    inside = test.inside(distinct.rows)
    if space.n == 1:
        inside[:] = True
    components, interrupted = np.full(len(inside), -1, dtype=np.intp), False
    if inside.any():
        points = as_rows(distinct.rows[inside], np.float64)
        search = test.search(points, stage)
        try:
            with deadline(max_seconds) as limit:
                find_components(search, points)
        except KeyboardInterrupt:
            interrupted = True
        if limit.passed:
            count = len(np.unique(search.members()))
            warnings.warn(
                f"labeler '{stage}': the search for components was ended after max_seconds={max_seconds:g}. Its "
                f"{count} components are used; some of them may belong together. Raise max_seconds or set it to None",
                ClusterkitWarning,
                stacklevel=3,
            )
        components[inside] = search.members()
    return domain_labeling(
        components,
        distinct,
        domain,
        space,
        n_segment_points=n_segment_points,
        outliers=outliers,
        min_cluster_size=min_cluster_size,
        interrupted=interrupted,
    )
