"""The part that the labelers which join samples by segments have in common."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.contracts import Labeling
from clusterkit.contracts.outcomes import Domain
from clusterkit.errors import ClusterkitWarning
from clusterkit.labelers._outliers import domain_labeling
from clusterkit.level_sets.neighbours import DistinctRows
from clusterkit.level_sets.segment_test import ComponentSearch, segment_test
from clusterkit.numerics.sparse_rows import as_rows
from clusterkit.samples import Space
from clusterkit.samples.limits import deadline, metered

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
    max_work: int | None = None,
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
    max_work : int, optional
        Most kernel evaluations of the search for components, which ends with a warning where it needs more.
    max_seconds : float, optional
        Time limit, in seconds: the search ends at its first progress report after it, with a warning.

    Returns
    -------
    Labeling
        Its facts say which limit ended the search, if one did.

    Warns
    -----
    ClusterkitWarning
        If a limit ended the search.
    """
    distinct = DistinctRows.of(space.points)
    test = segment_test(domain, n_segment_points)
    inside = test.inside(distinct.rows)
    if space.n == 1:
        inside[:] = True
    components, interrupted = np.full(len(inside), -1, dtype=np.intp), False
    facts: Mapping[str, Any] = {}
    if inside.any():
        points = as_rows(distinct.rows[inside], np.float64)
        search = test.search(points, stage)
        try:
            with deadline(max_seconds) as limit, metered(max_work) as meter:
                find_components(search, points)
        except KeyboardInterrupt:
            interrupted = True
        if limit.passed or meter.passed:
            name, value = ("max_work", max_work) if meter.passed else ("max_seconds", max_seconds)
            facts = {"ended": name, "components": len(np.unique(search.members()))}
            warnings.warn(
                f"labeler '{stage}': the search for components was ended after {name}={value:g}. Its "
                f"{facts['components']} components are used; some of them may belong together. Raise {name} or set it "
                "to None",
                ClusterkitWarning,
                stacklevel=3,
            )
        components[inside] = search.members()
    labeling = domain_labeling(
        components,
        distinct,
        domain,
        space,
        n_segment_points=n_segment_points,
        outliers=outliers,
        min_cluster_size=min_cluster_size,
        interrupted=interrupted,
    )
    return attrs.evolve(labeling, facts=facts)
