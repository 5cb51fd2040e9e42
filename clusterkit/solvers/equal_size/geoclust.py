"""GeoClust: centres move by quotients of cluster sizes; equal clustering bounds these quotients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs

from clusterkit._typing import Rng
from clusterkit.core import params
from clusterkit.core.coding import Coding
from clusterkit.core.outcomes import Scores
from clusterkit.core.spaces import FeatureSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.numerics.equal_size.drift import MOST_ITERATIONS, DriftRule
from clusterkit.solvers.equal_size._drifting_centres import PreparedDrift

__all__ = ["GeoClust"]


@final
@attrs.frozen
class GeoClust(Solver):
    """Move centres by ``c_i ← c_i + α Σ_j (W_j / W_i - 1) (c_j - c_i)``; scores are minus squared distances to them.

    Choose it for comparisons with `equal`. It is often quicker on benign data, but if a cluster is nearly empty the
    coefficients have no bound, and centres may run away. W are the sizes of the clusters, the rows nearest to each
    centre; an empty cluster counts 1. All `max_iter` iterations are made unless the centres stand still (all sizes
    equal) or run away. The centres of the iteration with the lowest imbalance are returned.

    The update is in numerics/equal_size/drift_jit.py (`_coefficients` with ``original=True``, `_move`).

    Parameters
    ----------
    step : float or None, default None
        Factor of every move, the paper's α; None: as in `equal`.
    size_tol : int or None, default None
        Tolerance in rows, the paper's ε, with the default of `equal`. The fit has converged if the imbalance is below
        it, but the iteration does not end there.
    max_iter : int, default 6000
        Number of iterations of a start.
    restarts : int, default 0
        Most new starts; one is made if the starts before have not converged.
    repair : bool, default False
        Move rows at the end until sizes differ by at most 1, as in `equal`.

    Warns
    -----
    ClusterkitWarning
        If there are fewer distinct samples than clusters.

    Notes
    -----
    The start, objective, repair, cost and memory are as described for `equal`.

    References
    ----------
    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing, which describes it as the rule that it modifies.
    """

    name: ClassVar[str] = "geoclust"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    has_objective: ClassVar[bool] = True

    step: float | None = params.real(None, above=0.0, optional=True)
    size_tol: int | None = params.integer(None, at_least=0, optional=True)
    max_iter: int = params.integer(6000, at_least=1, at_most=MOST_ITERATIONS)
    restarts: int = params.integer(0, at_least=0, at_most=params.MOST_REPEATS)
    repair: bool = params.flag(False)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The solver works on features."""
        return {FeatureSpace: Path(_prepare, Scores)}


def _prepare(spec: GeoClust, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Bind the rule to the space; the features are computed when a start begins."""
    rule = DriftRule(
        original=True,
        step=spec.step,
        size_tol=spec.size_tol,
        max_iter=spec.max_iter,
        restarts=spec.restarts,
        repair=spec.repair,
    )
    return PreparedDrift(spec.name, rule, space, task.k)
