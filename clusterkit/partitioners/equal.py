"""Parts of nearly equal size by equal clustering."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs

from clusterkit._typing import Labels, Rng
from clusterkit.core import params
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.stages import Partitioner, Task
from clusterkit.numerics.equal_size.drift import MOST_ITERATIONS, DriftRule
from clusterkit.partitioners._equal_parts import equal_parts

__all__ = ["EqualParts"]


@final
@attrs.frozen
class EqualParts(Partitioner[FeatureSpace]):
    """Parts of nearly equal size, each of the rows nearest to its centre, by the rule of the solver `equal`.

    Choose it for the modules of a min-max modular classifier, or as a start of methods with a balance. The cost is that
    of the solver. The update is in numerics/equal_size/drift_jit.py (`_coefficients`, `_move`).

    Parameters
    ----------
    step : float or None, default None
    max_ratio : float, default 3
    size_tol : int or None, default None
    max_iter : int, default 6000
    restarts : int, default 1
    fade : bool, default True
    repair : bool, default False
    strict : bool, default False
        All as in the solver `equal`; the paper calls the first three α, l and ε.

    Notes
    -----
    An empty part receives the row that is farthest from its centre, out of the parts with more than one row.

    References
    ----------
    Wen, Lu, Zhao (2005), Equal clustering makes min-max modular support vector machine more efficient, International
    Conference on Neural Information Processing.
    """

    name: ClassVar[str] = "equal"
    sees: ClassVar[Literal["input", "space"]] = "input"

    step: float | None = params.real(None, above=0.0, optional=True)
    max_ratio: float = params.real(3.0, at_least=1.0)
    size_tol: int | None = params.integer(None, at_least=0, optional=True)
    max_iter: int = params.integer(6000, at_least=1, at_most=MOST_ITERATIONS)
    restarts: int = params.integer(1, at_least=0, at_most=params.MOST_REPEATS)
    fade: bool = params.flag(True)
    repair: bool = params.flag(False)
    strict: bool = params.flag(False)

    def start(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels:
        """Labels of the rows."""
        rule = DriftRule(
            step=self.step,
            max_ratio=self.max_ratio,
            size_tol=self.size_tol,
            max_iter=self.max_iter,
            restarts=self.restarts,
            fade=self.fade,
            repair=self.repair,
            strict=self.strict,
        )
        return equal_parts(self, rule, samples.points, task.k, rng)
