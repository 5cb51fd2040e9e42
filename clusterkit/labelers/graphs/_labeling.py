"""What the labelers that join samples by lines have in common."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial

import numpy as np

from clusterkit._typing import Array
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.outcomes import Domain
from clusterkit.core.progress import Report, listening
from clusterkit.core.spaces import Space
from clusterkit.core.stages import Labeling
from clusterkit.labelers._outliers_and_prediction import DistinctRows, domain_labeling
from clusterkit.level_sets.segment_test import Search, segment_test
from clusterkit.numerics.sparse_rows import as_rows

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
    max_seconds: float | None = None,
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
    max_seconds : float, optional
        Ends the search at its next report after so long, with a warning.
    """
    distinct = DistinctRows.of(space.points)
    test = segment_test(domain, m)
    inside = test.inside(distinct.rows)
    if space.n == 1:
        inside[:] = True
    components, interrupted = np.full(len(inside), -1, dtype=np.intp), False
    if inside.any():
        points = as_rows(distinct.rows[inside], np.float64)
        search = test.search(points, stage)
        limit = nullcontext() if max_seconds is None else listening(partial(_stop, time.monotonic() + max_seconds))
        try:
            with limit:
                find(search, points)
        except KeyboardInterrupt:
            interrupted = True
        except _OutOfTime:
            found = len(np.unique(search.members()))
            warnings.warn(
                f"labeler '{stage}': after max_seconds={max_seconds:g} the {found} components found are used as they "
                "are; that no further line joins two of them is not proved. Raise max_seconds or set it to None",
                ClusterkitWarning,
                stacklevel=3,
            )
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


class _OutOfTime(Exception):
    """Ends a search from inside one of its reports."""


def _stop(deadline: float, report: Report) -> None:
    if time.monotonic() > deadline:
        raise _OutOfTime
