"""GeoClust: centres that drift by quotients of cell sizes, the rule that equal clustering bounds."""

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
from clusterkit.numerics.equal_size.drift import Rule
from clusterkit.solvers.equal_size._prepared import PreparedParts

__all__ = ["GeoClust"]


@final
@attrs.frozen
class GeoClust(Solver):
    """Moves centres by ``c_i ← c_i + α Σ_j (W_j / W_i - 1) (c_j - c_i)``; scores are minus squared distances.

    For comparisons with `equal`: often quicker on benign data, and without a bound on the coefficients where a cell is
    nearly empty, so that centres may run away. W are the sizes of the nearest-centre cells, an empty one counts 1. All
    `max_iter` iterations are made unless the centres stand still (sizes exactly equal) or run away; the centres of the
    iteration of lowest imbalance are returned.

    Parameters
    ----------
    alpha : float or None, default None
        Step α; None: as of `equal`.
    eps : int or None, default None
        Whether the result counts as converged: as of `equal`, but it does not end the iteration.
    max_iter : int, default 6000
    restarts : int, default 0
        New starts, as long as none has converged.
    repair : bool, default False
        Move rows in the end, as in `equal`.

    Warns
    -----
    ClusterkitWarning
        If there are fewer distinct samples than clusters.

    Notes
    -----
    Start, objective, repair, cost and memory are those of `equal`.

    References
    ----------
    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing, where it is the rule before the modification.
    """

    name: ClassVar[str] = "geoclust"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    has_objective: ClassVar[bool] = True

    alpha: float | None = params.real(None, above=0.0, optional=True)
    eps: int | None = params.integer(None, at_least=0, optional=True)
    max_iter: int = params.integer(6000, at_least=1)
    restarts: int = params.integer(0, at_least=0)
    repair: bool = params.flag(False)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features."""
        return {FeatureSpace: Path(_prepare, Scores)}


def _prepare(spec: GeoClust, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Nothing: the features are asked for when it starts."""
    rule = Rule(True, spec.alpha, 3.0, spec.eps, spec.max_iter, spec.restarts, spec.repair)
    return PreparedParts(spec.name, rule, space, task.k)
