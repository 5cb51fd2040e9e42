"""What drivers do with samples, in memory or where a device computes them: bind, run, and look at some of them."""

from __future__ import annotations

from typing import TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices
from clusterkit.core.compat import Composition
from clusterkit.core.device_engine import ArrayRows, DeviceEngine
from clusterkit.core.namespaces import to_host
from clusterkit.core.rows import Rows, RowsOfColumns, read_whole
from clusterkit.core.rows_fit import BoundRows, bind_rows, fit_rows, run_rows
from clusterkit.core.run import BoundComposition, FitResult, bind, fit, run
from clusterkit.core.seeds import Seeds
from clusterkit.core.spaces.rows_space import RowsSpace
from clusterkit.core.survey import extremes
from clusterkit.core.transform import IdentityMap

__all__ = [
    "AnySamples",
    "Bound",
    "RowsThere",
    "bound_to",
    "columns_of",
    "factor_of",
    "fitted_to",
    "on_the_host",
    "ran",
    "spreads",
]


@final
@attrs.frozen(eq=False)
class RowsThere:
    """Samples whose passes a device computes.

    Parameters
    ----------
    rows : Rows
    engine : DeviceEngine
    """

    rows: Rows
    engine: DeviceEngine

    def __len__(self) -> int:
        """Number of samples."""
        return self.rows.n


AnySamples: TypeAlias = Array | RowsThere
"""An array (n, d) in memory, or samples of a device."""

Bound: TypeAlias = BoundComposition | BoundRows
"""A composition that is bound to samples; both have `objective`."""


def bound_to(c: Composition, X: AnySamples, seeds: Seeds) -> Bound:
    """A composition bound to samples: the feature map is fitted, and the solver prepared."""
    return bind_rows(c, X.rows, X.engine, seeds) if isinstance(X, RowsThere) else bind(c, X, seeds)


def ran(bound: Bound) -> FitResult:
    """The fit of a bound composition, with its labels on the host, where drivers compare them."""
    return _labels_here(run_rows(bound)) if isinstance(bound, BoundRows) else run(bound)


def fitted_to(c: Composition, X: AnySamples, seeds: Seeds) -> FitResult:
    """The fit of a composition to samples, with its labels on the host."""
    return _labels_here(fit_rows(c, X.rows, X.engine, seeds)) if isinstance(X, RowsThere) else fit(c, X, seeds)


def factor_of(bound: Bound) -> float:
    """The factor of the objective that does not depend on the labels (`Prepared.objective_factor`)."""
    return bound.objective_factor if isinstance(bound, BoundRows) else bound.prepared.objective_factor


def spreads(X: AnySamples) -> Array:
    """Largest minus smallest value of each attribute, (d,)."""
    if not isinstance(X, RowsThere):
        return np.ptp(X, axis=0)
    ends = extremes(RowsSpace.of(X.rows, X.engine, IdentityMap(X.rows.d)))
    return ends.high - ends.low


def columns_of(X: AnySamples, index: Indices) -> AnySamples:
    """The samples with some of their attributes."""
    if not isinstance(X, RowsThere):
        return np.ascontiguousarray(X[:, index])
    rows = X.rows.columns(index) if isinstance(X.rows, ArrayRows) else RowsOfColumns(X.rows, index)
    return attrs.evolve(X, rows=rows)


def on_the_host(X: AnySamples, index: Indices | None = None) -> Array:
    """Some samples, (m, d), or all of them, as an array in memory."""
    if not isinstance(X, RowsThere):
        return X if index is None else X[index]
    if index is not None:
        return X.rows.gather(index)
    return read_whole(
        X.rows,
        f"the {len(X):,} samples that this comparison needs on the host",
        "Give the bounds on the sizes of clusters as shares, which hold for a part of the samples too.",
    )


def _labels_here(fit: FitResult) -> FitResult:
    return attrs.evolve(fit, labels=to_host(fit.labels))
