"""Parts of nearly equal size, by equal clustering (`equal`) or by the original rule of GeoClust (`geoclust`)."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import Partitioner, Task, params
from clusterkit.errors import InvalidData
from clusterkit.families.equal.drift import MOST_ITERATIONS, DriftRule, even_out, minus_distances
from clusterkit.families.equal.fade import find_even_parts
from clusterkit.samples import FeatureSpace
from clusterkit.samples.limits import Report, notify

__all__ = [
    "EqualParts",
    "GeoClustParts",
    "equal_parts",
]


def equal_parts(stage: Partitioner, rule: DriftRule, X: Array, k: int, rng: Rng) -> Labels:
    """Labels of rows (n, d), by a rule for moving centres.

    Every part gets a row if there are k rows. Raises `InvalidData` if there are fewer, and KeyboardInterrupt if the
    search was interrupted.
    """
    if len(X) < k:
        raise InvalidData(f"partitioner '{stage.name}': {len(X)} rows cannot make {k} parts")
    if k == 1:
        return np.zeros(len(X), dtype=np.intp)

    def report(iterations: int, imbalance: float) -> None:
        notify(Report(stage.name, iterations, rule.max_iter, imbalance))

    parts = find_even_parts(X, k, rule, rng, report)
    if parts.interrupted:
        raise KeyboardInterrupt
    scores = minus_distances(X, parts.centres, np.zeros(k))
    labels = np.argmax(even_out(scores)[0] if rule.repair else scores, axis=1)
    _fill_empty_parts(labels, scores, k)
    return labels


def _fill_empty_parts(labels: Labels, scores: Array, k: int) -> None:
    """Move one row to every empty part: the row farthest from its centre, out of a part with several rows."""
    sizes = np.bincount(labels, minlength=k)
    closeness = scores[np.arange(len(labels)), labels]
    for part in np.flatnonzero(sizes == 0):
        row = int(np.argmin(np.where(sizes[labels] > 1, closeness, np.inf)))
        sizes[labels[row]] -= 1
        sizes[part] = 1
        labels[row], closeness[row] = part, 0.0


@final
@attrs.frozen
class EqualParts(Partitioner[FeatureSpace]):
    """Parts of nearly equal size, each of the rows nearest to its centre, by the rule of the solver `equal`.

    Choose it for the modules of a min-max modular classifier, or as a start of methods with a balance. The cost is that
    of the solver. The update is in drift_jit.py (`_coefficients`, `_move`).

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
        Parameters of the solver `equal`; the paper calls the first three α, l and ε.

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
        rule = DriftRule.of(self.parameters())
        return equal_parts(self, rule, samples.points, task.k, rng)


@final
@attrs.frozen
class GeoClustParts(Partitioner[FeatureSpace]):
    """Parts of the rows, each of the rows nearest to its centre, by the rule of the solver `geoclust`.

    Choose it for comparisons with `equal`. The cost is that of the solver. The update is in
    drift_jit.py (`_coefficients` with ``original=True``, `_move`).

    Parameters
    ----------
    step : float or None, default None
    size_tol : int or None, default None
    max_iter : int, default 6000
    restarts : int, default 0
    repair : bool, default False
        Parameters of the solver `geoclust`; the paper calls the first two α and ε.

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
        rule = DriftRule.of(self.parameters(), original=True)
        return equal_parts(self, rule, samples.points, task.k, rng)
