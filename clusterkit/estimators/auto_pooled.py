"""Several random maps, one verdict, with complexity, width and start chosen without labels."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.compat import Composition
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter
from clusterkit.core.progress import Report, tell
from clusterkit.core.run import BoundComposition, FitResult, bind, first_least, run
from clusterkit.core.seeds import Seeds
from clusterkit.estimators import slots
from clusterkit.estimators._gap import NODES, Gaps, changed, decided, excess, finished, parameter
from clusterkit.estimators.pipeline import Pipeline, _count
from clusterkit.estimators.pooled import Pooled, _agreement

__all__ = ["AutoPooled"]

REAL = 2
"""Maps of the data that a gap is the mean of."""


class AutoPooled(Pooled):
    """`Pooled` that chooses complexity, width and start itself, by comparison with data without clusters.

    1. **The safe answer**: one fit from `start` with the complexity and width that the base has, as a `Pipeline` with
       the same seed gives it.
    2. **Complexity**, where `df` and `C` of the solver are None: that with the largest gap between the lowest objective
       found on Gaussian samples of the same covariance and that found on the data; then, if `widths` are given, the
       **width** with the largest gap at this complexity.
    3. **The search**: under each map the best of `n_init` starts of the base and one from `start`; the winner is what
       has the lowest objective summed over all maps, the safe answer included.
    4. **The check**: winner and safe answer are fitted in random halves of the attributes. If the winner's objective is
       more than `limit` times that of the safe answer in one of them, it rests on few attributes, and the
       **start** is the safe one: its answer is returned.

    Parameters
    ----------
    base : Pipeline, optional
        As in `Pooled`; best with ``init="random"``.
    n_maps : int, default 5
    degrees : sequence of float, default (20, 25, 30)
        Complexities to choose from.
    widths : sequence of float or None, default None
        Widths to choose from; None, or a map without this parameter, keeps that of the base.
    n_references : int, default 3
        Gaussian samples.
    n_trials : int, default 15
        Starts of each fit that measures a gap. Fewer than the `n_init` of the search: a complexity then wins only where
        the search still finds good labels with few starts.
    n_halvings : int, default 4
        Times that the attributes are halved at random; both halves are looked at.
    limit : float, default 3
        How many times higher than the safe answer the winner may be in a half; infinity accepts it always.
    start : str, dict or Partitioner, default "kmeans"
        The start of the safe answer.
    n_clusters, random_state, verbose
        As in `Pooled`.

    Attributes
    ----------
    gaps_ : dict
        The gap of each pair (df, width) tried; None stands for what the base has.
    halves_ : ndarray of shape (2 n_halvings,)
        Objective of the winner over that of the safe answer in each half; empty if they are the same or there is one
        attribute only.
    chosen_ : str
        "winner", "safe" (the winner failed in a half, or the search was interrupted), or "same".
    pooled_ : ndarray of shape (n_maps + 1,)
        Summed objective, each without its factor C, of each map's winner and of the safe answer.
    winner_ : int
        Index of the lowest of `pooled_`.
    agreement_, labels_, resolved_, ...
        As in `Pooled`; ``resolved_["tuner"]`` says what was chosen, and by which scores.

    Notes
    -----
    The gap is measured on at most 1000 rows and 300 nodes, with two maps of the data: ``n_references + 2`` fits of
    `n_trials` starts for each complexity and each further width.

    Gaps of neighbouring complexities differ by little more than their noise, and a wrong one costs more than the choice
    gains: long lists are less safe than the default.

    The check knows the axes: it is not invariant to rotations of the data.

    References
    ----------
    Tibshirani, Walther, Hastie (2001), Estimating the number of clusters in a data set via the gap statistic, Journal
    of the Royal Statistical Society B 63: the log of the objective against reference data. There it compares numbers of
    clusters.

    Examples
    --------
    >>> from clusterkit import recipe
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs([30, 30], random_state=0, cluster_std=0.5)
    >>> model = recipe("emmc-auto", n_clusters=2, n_init=5, n_maps=2, random_state=0).fit(X)
    >>> model.chosen_
    'same'
    """

    gaps_: dict[tuple[float | None, float | None], float]
    halves_: Array
    chosen_: str

    def __init__(
        self,
        base: Pipeline | None = None,
        n_maps: int = 5,
        degrees: Sequence[float] = (20.0, 25.0, 30.0),
        widths: Sequence[float] | None = None,
        n_references: int = 3,
        n_trials: int = 15,
        n_halvings: int = 4,
        limit: float = 3.0,
        start: Any = "kmeans",
        n_clusters: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(base, n_maps, n_clusters, random_state, verbose)
        self.degrees = degrees
        self.widths = widths
        self.n_references = n_references
        self.n_trials = n_trials
        self.n_halvings = n_halvings
        self.limit = limit
        self.start = start

    def fit(self, X: Any, y: Any = None) -> AutoPooled:
        """Cluster the rows of X (n, d); `y` is ignored."""
        for name in ("n_references", "n_trials", "n_halvings"):
            _count(name, getattr(self, name))
        self._values("degrees", self.degrees)
        if self.widths is not None:
            self._values("widths", self.widths)
        if not isinstance(self.limit, numbers.Real) or not self.limit > 0:
            raise InvalidParameter(f"limit must be a number > 0, got {self.limit!r}")
        self.gaps_ = {}
        self.halves_, self.chosen_ = np.empty(0), "same"
        super().fit(X)
        return self

    def _values(self, name: str, values: Any) -> list[float]:
        try:
            found = [float(value) for value in values]
        except (TypeError, ValueError):
            found = []
        if not found or not all(0 < value < math.inf for value in found):
            raise InvalidParameter(f"{name} must be a non-empty list of numbers > 0, got {values!r}")
        return found

    def _search(self, composition: Composition, X: Array, seeds: Seeds, n_maps: int) -> FitResult:
        init: Any = slots.resolve("init", self.start)
        if init is None:
            raise InvalidParameter("start must name a partitioner or a recipe, got None")
        careful = attrs.evolve(composition, init=init, n_init=1)
        safe = run(bind(careful, X, seeds))  # the streams of a pipeline: what it would give by itself
        self.agreement_, self.pooled_, self.winner_ = math.nan, np.array([math.nan]), 0
        if safe.interrupted:
            self.chosen_ = "safe"
            return safe
        if not np.ptp(X, axis=0).any():
            return safe
        df = width = None
        try:
            with warnings.catch_warnings():
                # about references, which are not the data
                warnings.simplefilter("ignore", ClusterkitWarning)
                df, width = self._complexity(composition, X, seeds.child("gap"))
            found = self._pooled(decided(composition, df, width), init, safe, X, seeds, n_maps)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ClusterkitWarning)
                if _agreement([found.labels, safe.labels]) < 1.0:
                    self.chosen_ = "winner"
                    self.halves_ = self._halves(decided(composition, df, width), X, found.labels, safe.labels, seeds)
        except KeyboardInterrupt:
            self.chosen_ = "safe"
            reason = f"interrupted: the labels from init '{init.name}' are kept"
            found = attrs.evolve(safe, converged=False, reason=reason, interrupted=True)
        else:
            if not np.all(self.halves_ <= self.limit):
                self.chosen_, found = "safe", safe
        facts = {
            "name": "gap",
            "chosen": self.chosen_,
            "df": df,
            "width": width,
            "gaps": dict(self.gaps_),
            "pooled": tuple(self.pooled_.tolist()),
            "worst_half": float(self.halves_.max(initial=1.0)),
        }
        resolved: dict[str, Any] = {**found.resolved, "tuner": facts}
        if found.labels is not safe.labels:  # its map and its solver have what was chosen
            for slot, name, value in (("solver", "df", df), ("featuremap", "width", width)):
                if value is not None:
                    resolved[slot] = {name: value, **resolved.get(slot, {})}
        return attrs.evolve(found, resolved=resolved)

    def _complexity(self, c: Composition, X: Array, seeds: Seeds) -> tuple[float | None, float | None]:
        """The df and the width with the largest gap; None where there is nothing to choose."""
        known = c.solver.parameters()
        open_df = "df" in known and known["df"] is None and known.get("C") is None
        degrees: list[float | None] = [*self._values("degrees", self.degrees)] if open_df else [None]
        own = parameter(c.featuremap, "width")
        widths = [] if own is None or self.widths is None else self._values("widths", self.widths)
        if len(degrees) == 1 and len(widths) < 2:
            return degrees[0], widths[0] if widths else None
        # the width of the base first: among the widths only the nearest to it stands for it
        first = min(widths, key=lambda value: abs(math.log(value / own))) if widths else None
        others = [value for value in widths if value != first]
        measured = Gaps.of(c, X, REAL, self.n_references, self.n_trials, seeds)
        total, fits = (len(degrees) + len(others)) * len(measured.samples), iter(range(1, 10**9))

        def done() -> None:
            tell(Report("gaps", next(fits), total))

        self.gaps_.update(measured.over([(df, first) for df in degrees], done))
        df = max(degrees, key=lambda value: self.gaps_[value, first])
        self.gaps_.update(measured.over([(df, width) for width in others], done))
        return df, max([first, *others], key=lambda value: self.gaps_[df, value])

    def _pooled(self, c: Composition, init: Any, safe: FitResult, X: Array, seeds: Seeds, n_maps: int) -> FitResult:
        """The labels with the lowest objective over all maps."""
        bounds: list[BoundComposition] = []
        runs: list[FitResult] = []
        for index in range(n_maps):
            bound = bind(c, X, seeds.child("map", index))
            started = attrs.evolve(bound, composition=attrs.evolve(c, init=init, n_init=1))
            both = [finished(run(each)) for each in (bound, started)]
            runs.append(both[first_least([found.objective for found in both])])
            bounds.append(bound)
            tell(Report("maps", index + 1, n_maps, runs[-1].objective))
        self.agreement_ = _agreement([found.labels for found in runs])
        runs.append(safe)
        self.pooled_ = np.array([math.fsum(excess(b, b.objective(found.labels)) for b in bounds) for found in runs])
        self.winner_ = first_least(self.pooled_.tolist())
        return runs[self.winner_]

    def _halves(self, c: Composition, X: Array, winner: Labels, safe: Labels, seeds: Seeds) -> Array:
        """Objective of the winner over that of the safe answer, in halves of the attributes that vary."""
        c = attrs.evolve(c, featuremap=changed(c.featuremap, n_hidden=self._nodes(c, len(X))))
        parts = _halvings(np.flatnonzero(np.ptp(X, axis=0) > 0), self.n_halvings, seeds.stream("halves"))
        ratios = []
        for i, part in enumerate(parts):
            bound = bind(c, np.ascontiguousarray(X[:, part]), seeds.child("half", i))
            ratios.append(bound.objective(winner) / max(bound.objective(safe), np.finfo(np.float64).tiny))
            tell(Report("halves", i + 1, len(parts)))
        return np.array(ratios)

    def _nodes(self, c: Composition, n: int) -> int:
        return min(parameter(c.featuremap, "n_hidden") or n, NODES, n)


def _halvings(attributes: Array, times: int, rng: Rng) -> list[Array]:
    """Random halves, each followed by its complement; none for a single attribute."""
    if len(attributes) < 2:
        return []
    parts: list[Array] = []
    for _ in range(times):
        shuffled = rng.permutation(attributes)
        parts += [np.sort(part) for part in np.array_split(shuffled, 2)]
    return parts
