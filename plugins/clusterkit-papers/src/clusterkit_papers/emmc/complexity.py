"""EMMC at many values of C on one random map: one decomposition and one start serve all values.

The paper chooses C of each data set from ``2^-10, ..., 2^10``. A fit for each value would compute map, Gram matrix and
starting labels each time; here the eigenvectors V of the Gram matrix ``H'H = V diag(w) V'`` give the coefficients
``V diag(1 / (w + 1/C)) V'H'T`` of every C, and an iteration costs as much as in the solver `ridge`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import Partitioner, Prepared, Task, labels_by_blocks
from clusterkit.contracts.outcomes import LinearRows, Outcome, Scores
from clusterkit.samples import FeatureSpace
from clusterkit.samples.coding import Coded
from clusterkit_papers.emmc.data_sets import PRINTED_C
from clusterkit_papers.fits import judge, timed_fit

if TYPE_CHECKING:
    from clusterkit.fitting.fit import BoundComposition

__all__ = ["CHOSEN_ON", "Complexity", "accuracies", "best_complexity", "bound_at_start", "by_labels", "first_runs"]

CHOSEN_ON = 3
"""Number of runs on which known classes choose a complexity; all runs are then made with it."""

Complexity = Literal["C", "df"]
"""Parameter that is varied: C itself, or the effective degrees of freedom that determine it."""


@final
@attrs.frozen(eq=False)
class DecomposedRidge(Prepared):
    """Ridge regression by the eigenvectors of the Gram matrix of the features.

    Parameters
    ----------
    space : FeatureSpace
    vectors : ndarray of shape (L, L)
    inverses : ndarray of shape (L,)
        ``1 / (w + 1/C)`` for the eigenvalues w.
    C : float
    """

    space: FeatureSpace
    vectors: Array
    inverses: Array
    C: float

    @property
    def resolved(self) -> Mapping[str, object]:
        """C."""
        return {"C": self.C}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        """The scores H B."""
        assert targets is not None
        B = self.vectors @ (self.inverses[:, None] * (self.vectors.T @ self.space.adjoint(targets)))
        return Scores(self.space.apply(B), LinearRows(self.space.transform, B), starts=targets.starts)

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array:
        """``(C/2) Σ t (t - f)`` of the only start, the ridge objective at its minimum."""
        assert targets is not None
        assert isinstance(outcome, Scores)
        T = targets.targets()
        return np.array([0.5 * self.C * float(np.einsum("ij,ij->", T, T - outcome.rows))])


@final
@attrs.frozen(eq=False)
class RepeatedStart(Partitioner[FeatureSpace]):
    """A start that gives the same labels for every complexity."""

    name: ClassVar[str] = "repeated"
    sees: ClassVar[Literal["input", "space"]] = "input"
    varies: ClassVar[bool] = False
    labels: Labels

    def start(self, samples: FeatureSpace, task: Task, rng: Rng) -> Labels:
        """The labels."""
        return self.labels


def accuracies(
    X: np.ndarray, y: np.ndarray, name: str, seed: int, kind: Complexity, values: Sequence[float], **parameters: object
) -> list[float]:
    """Accuracy (%) of an EMMC recipe at each complexity, with the map and the start that a fit with this seed has.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Known classes, which judge the labels.
    name : str
        A recipe with the solver `ridge` on an ELM map and one start.
    seed : int
    kind : {"C", "df"}
    values : sequence of float
        The complexities.
    **parameters
        Parameters of the recipe, without the complexity.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended a fit.
    """
    from clusterkit.numerics.threads import limited_threads

    with limited_threads(len(X) * parameters.get("featuremap__n_hidden", len(X))):
        bound, V, w = bound_at_start(X, y, name, seed, **parameters)
        return [_accuracy(bound, y, V, w, value if kind == "C" else _trade_off(w, value)) for value in values]


def bound_at_start(
    X: np.ndarray, y: np.ndarray, name: str, seed: int, **parameters: object
) -> tuple[BoundComposition, Array, Array]:
    """An EMMC recipe bound to rows, whose init stage repeats the start that a fit with this seed has.

    Parameters
    ----------
    X, y, name, seed, **parameters
        As for `accuracies`.

    Returns
    -------
    bound : BoundComposition
    vectors : ndarray of shape (L, L)
        Eigenvectors of the Gram matrix of the features.
    eigenvalues : ndarray of shape (L,)
    """
    from clusterkit import recipe
    from clusterkit.contracts.seeds import Seeds
    from clusterkit.fitting.fit import bind

    composition = recipe(name, n_clusters=len(np.unique(y)), **parameters).composition()
    rows = np.ascontiguousarray(X, dtype=np.float64)
    bound = timed_fit(lambda: bind(composition, rows, Seeds.of(seed))).fitted
    init = composition.init
    assert init is not None
    samples = bound.seen_by(init)
    labels = labels_by_blocks(init.start(samples, bound.task, bound.seeds.stream("init")), samples)
    bound = attrs.evolve(bound, composition=attrs.evolve(composition, init=RepeatedStart(labels)))
    assert isinstance(bound.space, FeatureSpace)
    eigenvalues, vectors = np.linalg.eigh(bound.space.gram())
    return bound, vectors, np.maximum(eigenvalues, 0.0)


def _accuracy(bound: BoundComposition, y: np.ndarray, vectors: Array, eigenvalues: Array, C: float) -> float:
    """Accuracy (%) with one value of C."""
    from clusterkit.fitting.fit import run

    assert isinstance(bound.space, FeatureSpace)
    prepared = DecomposedRidge(bound.space, vectors, 1.0 / (eigenvalues + 1.0 / C), C)
    return judge(y, timed_fit(lambda: run(attrs.evolve(bound, prepared=prepared))).fitted.labels)["accuracy"]


def best_complexity(values: Sequence[float], seeds: Sequence[int], measured: Callable[[int], Sequence[float]]) -> float:
    """The complexity of highest mean accuracy over the first runs, a choice that only known classes can make.

    Parameters
    ----------
    values : sequence of float
        The complexities.
    seeds : sequence of int
        Seeds of all runs; the first `CHOSEN_ON` count.
    measured : callable
        Takes a seed; returns the accuracy of each complexity.
    """
    runs = [measured(seed) for seed in seeds[:CHOSEN_ON]]
    means = [statistics.fmean(column) for column in zip(*runs, strict=True)]
    return values[means.index(max(means))]


def by_labels(kind: Complexity, values: Sequence[float], n_runs: int) -> str:
    """How the complexity was chosen, for the notes of rows."""
    among = ", ".join(f"{value:g}" for value in values)
    if tuple(values) == PRINTED_C:
        among = "the 21 printed values 2^-10 to 2^10"
    elif tuple(values) == PRINTED_C[::5]:
        among = "every fifth of the printed values, 2^-10, 2^-5, 1, 2^5, 2^10"
    return f"by labels from {among}, on {first_runs(n_runs)}"


def first_runs(n_runs: int) -> str:
    """On how many of the runs classes choose, for the notes of rows.

    Examples
    --------
    >>> first_runs(20), first_runs(1)
    ('3 runs', '1 run')
    """
    chosen_on = min(n_runs, CHOSEN_ON)
    return f"{chosen_on} run" + ("s" if chosen_on > 1 else "")


def _trade_off(eigenvalues: Array, df: float) -> float:
    """C that gives so many effective degrees of freedom, at most half the rank, as the solver `ridge` has it."""
    from scipy.optimize import brentq

    w = eigenvalues[eigenvalues > len(eigenvalues) * np.finfo(np.float64).eps * eigenvalues.max()]
    least, most = math.log(1e-3 * df / w.sum()), math.log(1e12 / w.min())
    wanted = min(df, len(w) / 2)
    return math.exp(brentq(lambda log_C: float(np.sum(w / (w + math.exp(-log_C)))) - wanted, least, most))
