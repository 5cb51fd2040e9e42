"""Equal clustering and GeoClust: clusters of nearly equal size, each of the rows nearest to its centre.

GeoClust moves centres by quotients of cluster sizes; equal clustering bounds these quotients.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs

from clusterkit._typing import Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Scores
from clusterkit.families.equal._drifting_centres import PreparedDrift
from clusterkit.families.equal.drift import MOST_ITERATIONS, DriftRule
from clusterkit.samples import FeatureSpace, Space
from clusterkit.samples.coding import Coding

__all__ = [
    "Equal",
    "GeoClust",
]


@final
@attrs.frozen
class Equal(Solver):
    """Move centres until their clusters are of nearly equal size; scores are minus squared distances to the centres.

    Choose it for parts that should be compact and even: modules of a classifier, batches, territories. It does not look
    for gaps between clusters. In every iteration all centres move at once. With the sizes W of the clusters, the rows
    nearest to each centre::

        c_i ← c_i + α Σ_j r_ij (c_j - c_i),   r_ij = (l - 1) (W_j - W_i) / (W_j + (l - 1) W_i)

    So a centre moves towards the centres of larger clusters, and the centres of larger clusters move away from it. The
    iteration ends once every size differs from ``n // k`` by less than ε.

    The update is in drift_jit.py (`_coefficients`, `_move`), the fading of weights in
    fade.py, the repair in drift.py (`even_out`).

    Parameters
    ----------
    step : float or None, default None
        Factor of every move, the paper's α. None: 0.01 for up to 10 clusters, 0.001 for up to 20, and so on; beyond 40
        clusters this default hardly moves the centres.
    max_ratio : float, default 3
        Bound of the quotient of two sizes in the coefficients, the paper's l: ``r_ij + 1`` grows with ``W_j / W_i``,
        and is 0 for an empty cluster j, 1 for equal sizes and `max_ratio` for an empty cluster i. With 1 the centres
        stay where they are.
    size_tol : int or None, default None
        Tolerance in rows, the paper's ε. None: ``n // (50 k)``. It is raised to the least value that sizes can fall
        below: 1, or 2 if k does not divide n.
    max_iter : int, default 6000
        Most iterations of a start.
    restarts : int, default 1
        Most new starts; one is made if the starts before have not reached the tolerance. A start that may be followed
        by another ends once two centres are closer than 5 % of the smallest distance between two seeds.
    fade : bool, default True
        Where no start reaches the tolerance, go on from cells with weights, which make the sizes equal, and let the
        weights fade to zero while the centres follow. It ends where it is without progress; the better centres count.
    repair : bool, default False
        Move the rows that cost least at the end, until sizes differ by at most 1.
    strict : bool, default False
        The rule as printed: ε is never raised, there is one start, nothing fades, and the last iteration is returned
        instead of the best. A `repair` comes after it all the same.

    Warns
    -----
    ClusterkitWarning
        If there are fewer distinct samples than clusters.

    Notes
    -----
    The seeds are k random samples, distinct in value if there are k distinct samples. The imbalance, the largest
    difference of a size from ``n // k``, need not fall from one iteration to the next: the centres of the iteration
    with the lowest imbalance are returned. The imbalance is the objective, and `history_` has its value in every
    iteration; fading adds one entry if it is better than all iterations before. Balance is impossible if more than
    ``n / k + ε`` samples are equal; without `repair` these stay together.

    A repair is the cheapest assignment of rows to clusters of equal sizes (±1). It adds an offset for each cluster to
    the squared distances, so that `predict` follows the same borders. If a border runs through equal samples, no offset
    separates them, and ``exact_on_training_`` is False.

    An iteration costs O(n k L + k² L), in single precision; for two clusters or one attribute O(k log n + k²), after
    sorting. Sizes are those of distances in double precision in every iteration, up to ties.
    Memory: the features in float64 and the (n, k) scores; features are not streamed. The solver works on features only.

    References
    ----------
    Aurenhammer, Hoffmann, Aronov (1998), Minkowski-type theorems and least-squares clustering, Algorithmica: weights
    with which cells have given sizes.

    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing: the rule and the values of α, l and ε.
    """

    name: ClassVar[str] = "equal"
    linked_balancer: ClassVar[str] = "transport"
    synonyms: ClassVar[tuple[str, ...]] = ("equal_clustering", "m3_svm")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    has_objective: ClassVar[bool] = True

    step: float | None = params.real(None, above=0.0, optional=True)
    max_ratio: float = params.real(3.0, at_least=1.0)
    size_tol: int | None = params.integer(None, at_least=0, optional=True)
    max_iter: int = params.integer(6000, at_least=1, at_most=MOST_ITERATIONS)
    restarts: int = params.integer(1, at_least=0, at_most=params.MOST_REPEATS)
    fade: bool = params.flag(True)
    repair: bool = params.flag(False)
    strict: bool = params.flag(False)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The solver works on features."""
        return {FeatureSpace: Path(_prepare, Scores)}


def _prepare(spec: Equal, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Bind the rule to the space; the features are computed when a start begins."""
    rule = DriftRule.of(spec.parameters())
    return PreparedDrift(spec.name, rule, space, task.k)


@final
@attrs.frozen
class GeoClust(Solver):
    """Move centres by ``c_i ← c_i + α Σ_j (W_j / W_i - 1) (c_j - c_i)``; scores are minus squared distances to them.

    Choose it for comparisons with `equal`. It is often quicker on benign data, but if a cluster is nearly empty the
    coefficients have no bound, and centres may run away. W are the sizes of the clusters, the rows nearest to each
    centre; an empty cluster counts 1. All `max_iter` iterations are made unless the centres stand still (all sizes
    equal) or run away. The centres of the iteration with the lowest imbalance are returned.

    The update is in drift_jit.py (`_coefficients` with ``original=True``, `_move`).

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
    linked_balancer: ClassVar[str] = "transport"
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
        return {FeatureSpace: Path(_prepare_geoclust, Scores)}


def _prepare_geoclust(spec: GeoClust, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Bind the rule to the space; the features are computed when a start begins."""
    rule = DriftRule.of(spec.parameters(), original=True)
    return PreparedDrift(spec.name, rule, space, task.k)
