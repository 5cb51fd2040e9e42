"""Parts of nearly equal size by the original rule of GeoClust."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs

from clusterkit._typing import Labels, Rng
from clusterkit.core import params
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.stages import Partitioner, Task
from clusterkit.numerics.equal_size.drift import MOST_ITERATIONS, DriftRule
from clusterkit.partitioners._equal_parts import equal_parts

__all__ = ["GeoClustParts"]


@final
@attrs.frozen
class GeoClustParts(Partitioner[FeatureSpace]):
    """Parts of the rows, each of the rows nearest to its centre, by the rule of the solver `geoclust`.

    Choose it for comparisons with `equal`. The cost is that of the solver. The update is in
    numerics/equal_size/drift_jit.py (`_coefficients` with ``original=True``, `_move`).

    Parameters
    ----------
    step : float or None, default None
    size_tol : int or None, default None
    max_iter : int, default 6000
    restarts : int, default 0
    repair : bool, default False
        All as in the solver `geoclust`; the paper calls the first two α and ε.

    Notes
    -----
    An empty part receives the row that is farthest from its centre, out of the parts with more than one row.

    References
    ----------
    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing.
    """

    name: ClassVar[str] = "geoclust"
    sees: ClassVar[Literal["input", "space"]] = "input"

    step: float | None = params.real(None, above=0.0, optional=True)
    size_tol: int | None = params.integer(None, at_least=0, optional=True)
    max_iter: int = params.integer(6000, at_least=1, at_most=MOST_ITERATIONS)
    restarts: int = params.integer(0, at_least=0, at_most=params.MOST_REPEATS)
    repair: bool = params.flag(False)

    def start(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels:
        """Labels of the rows."""
        rule = DriftRule(
            original=True,
            step=self.step,
            size_tol=self.size_tol,
            max_iter=self.max_iter,
            restarts=self.restarts,
            repair=self.repair,
        )
        return equal_parts(self, rule, samples.points, task.k, rng)
