"""Fits to rows outside memory by a sample of them: methods that read clusters from a domain."""

from __future__ import annotations

import warnings
from typing import cast

import attrs

from clusterkit.core.compat import Composition
from clusterkit.core.engines import Engine
from clusterkit.core.errors import ClusterkitWarning
from clusterkit.core.outcomes import Domain
from clusterkit.core.rows import Rows
from clusterkit.core.run import FitResult, check_range
from clusterkit.core.seeds import Seeds
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.stages import Tuner
from clusterkit.core.survey import extremes
from clusterkit.core.transform import IdentityMap
from clusterkit.drivers import compose
from clusterkit.drivers.on_sample import fit_rows_on_sample
from clusterkit.numerics.row_samples import sample_rows

__all__ = ["domain_of_sample", "fit_by_sample", "sample_size"]

SAMPLE = 2000
"""Rows of the sample where no tuner says how many it looks at: as the tuner `svc_auto`."""


def domain_of_sample(c: Composition) -> bool:
    """Whether a sample can stand for all rows: clusters are read from a domain, which has a value at every row."""
    return c.path is not None and issubclass(c.path.gives, Domain) and issubclass(c.labeler.consumes, Domain)


def sample_size(tuner: Tuner | None) -> int:
    """Rows of the sample: as many as the tuner looks at."""
    return cast("int", (tuner.parameters() if tuner is not None else {}).get("max_rows", SAMPLE))


def fit_by_sample(
    c: Composition, tuner: Tuner | None, rows: Rows, engine: Engine, seeds: Seeds
) -> tuple[compose.Tuning, FitResult]:
    """Tune and fit a sample of the rows, and label all of them; `max_rows` of the tuner is the size of the sample.

    Raises
    ------
    InvalidData
        If a value is no finite number (column and row are named).
    """
    ends = extremes(RowsSpace.of(rows, engine, IdentityMap(rows.d)))
    ends.check(rows.names)
    check_range(ends.low, ends.high, rows.dtype)
    index = sample_rows(rows.n, sample_size(tuner), seeds.stream("sample", "rows"))
    warnings.warn(
        f"the model is the fit of {len(index)} of the {rows.n} rows, which are read block by block; the others get the "
        "label of the nearest of these. tuner__max_rows sets how many are fitted",
        ClusterkitWarning,
        stacklevel=4,
    )
    tuning = compose.tuned(c, tuner, rows.gather(index), seeds)
    c, decided = attrs.evolve(tuning.composition, rows=None), dict(tuning.decided)
    least = decided.get("labeler", {}).get("min_cluster_size")
    if isinstance(least, int):  # of the sample, as the tuner saw it
        least = round(least * rows.n / len(index))
        c = attrs.evolve(c, labeler=c.labeler.with_parameters(min_cluster_size=least))
        decided["labeler"] = {**decided["labeler"], "min_cluster_size": least}
    return attrs.evolve(tuning, composition=c, decided=decided), fit_rows_on_sample(c, index, rows, engine, seeds)
