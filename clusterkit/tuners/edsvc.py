"""Chooses the width of a Gaussian kernel and the bound of the weights by agreement with an ensemble of partitions."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.core import memory, params
from clusterkit.core.chain import Chain
from clusterkit.core.errors import ClusterkitWarning, InvalidParameter
from clusterkit.core.labelings import cluster_limit
from clusterkit.core.spaces import KernelSpace, Space
from clusterkit.core.stages import Labeler, Solver, Stage, Task, Tuned, Tuner
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.numerics.threads import available
from clusterkit.tuners._agreement import TIE, Agreement
from clusterkit.tuners._candidates import Candidate, Curves, Runs
from clusterkit.tuners.svc_auto import _sample, _with

__all__ = ["EdSvc"]

Cell = tuple[float | None, Sequence[float]]
"""A width, None for that of the space, and bounds."""

SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99)
"""Of samples at the bound, in the search of the plane, up to the largest allowed; 0 is a bound of 1."""
PLANE_WIDTHS, LINE = 24, 100
"""Widths of the plane; widths, and bounds, of the search one after the other."""
SCAN = 16
BETWEEN = 4
"""Widths of the plane that follow in each of the two gaps beside the best one."""
MEMBERS, PLANE_MEMBERS = 10, 60
"""At least so many in the plane: with ten their random numbers of clusters alone may decide between good partitions."""
SHATTERED = 0.6
"""Clusters a sample beyond which the plane looks at no narrower kernel."""


@final
@attrs.frozen
class EdSvc(Tuner):
    """Keeps the partition that agrees best with an ensemble of k-means partitions: ensemble-driven clustering.

    For support vector clustering. It decides `gamma` of the kernel and `C` of the solver, each only if it was left
    open. With the defaults it is the published search: 100 widths at C = 1, then 100 bounds from 1 down to
    ``1 / (0.9 n)`` at the best width. Normalised mutual information also rewards shattered partitions; the plane
    search with its limit of √n clusters, and the adjusted measure, do not.

    Parameters
    ----------
    n_members : int or None, default None
        Partitions in the ensemble: k-means from one random start, in the coordinates before the kernel. None: 10, or
        with "plane" the least multiple of the possible numbers of clusters from 60 on.
    k_rule : {"cbrt", "sqrt"}, default "cbrt"
        Their numbers of clusters are from 2 to the cube or the square root of n: drawn, or with "plane" each as often
        as any other.
    search : {"coordinate", "plane"}, default "coordinate"
        Widths first and then bounds; or all pairs of 24 widths and 12 bounds, and of 8 more widths beside the best.
    score : {"nmi", "ami"}, default "nmi"
        Mean normalised mutual information with the members, or adjusted for chance; geometric mean of the entropies.
    clusters : {"auto", "any", "sqrt"}, default "auto"
        Whether any number of clusters may win, or 2 to √n only. "auto": any with "coordinate", √n with "plane".
    n_gamma : int or None, default None
        Widths; None: 100, or 24 in the plane.
    n_C : int or None, default None
        Bounds of the coordinate search; None: 100. The plane has fixed shares.
    largest_share : float, default 0.9
        The smallest bound is ``1 / (largest_share n)``: at most so many samples lie outside the contour. Beyond 0.9 the
        plane has 0.95, 0.97, 0.98 and 0.99: of many attributes only such cores may be apart.
    warm : bool, default True
        Start other bounds from the solution without one, and do not solve for those above its largest weight. The same
        minimum up to `tol` of the solver.
    n_jobs : int or None, default None
        Threads; None: the cores at hand. The result does not depend on it.
    max_rows : int, default 2000
        Larger data are judged by a random sample of so many rows.

    Raises
    ------
    InvalidParameter
        If the stages have nothing that this tuner decides.
    NeedsMemory
        If the distances of the rows do not fit under the memory cap.

    Notes
    -----
    Widths are geometric from 1 / (largest squared distance) to ``4 ln 2`` / (lower decile of the squared distances to
    the nearest neighbour), beyond which most samples are alone. Those of the plane go from 1/8 of the last width with
    one cluster at C = 1 to the first with more than 0.6 n clusters, found on a scan of 16; its shares p, with
    ``C = 1 / (p n)``, are 0, .02, .05, .1, .2, ..., .9. Then four widths in each gap beside the best one, with all
    shares: with many outliers a step of the plane may lead from a handful of clusters past √n. Ties within 1e-12 go to
    the smallest `gamma`, then the largest `C`. If no candidate qualifies, the widest kernel without outliers is used.

    The mean agreement estimates that with a member of a random number of clusters. Numbers that are spread evenly
    estimate the same with less scatter: between numbers the agreement differs more than between members of one.

    Samples outside the contour are scored as the labeler labels them; "nearest" makes partitions comparable with the
    members. ``resolved_["tuner"]`` has the score, the number of clusters, what every sample alone would score, and all
    `Curves`, which `clusterkit.plots.edsvc_curves` draws.

    A candidate is independent of all others, so neither order nor threads matter. Distances are computed once for
    all; equal partitions are scored once. O(n²) memory; about n² s operations a candidate for s support vectors.

    The interval of k and the widths are not those of a printed table: the publication gives their numbers only.

    References
    ----------
    Strehl, Ghosh (2002), Cluster ensembles, JMLR 3, eq. (5): the mean normalised mutual information.
    Ben-Hur, Horn, Siegelmann, Vapnik (2001), Support vector clustering, JMLR 2: the first width.
    Vinh, Epps, Bailey (2010), Information theoretic measures for clusterings comparison, JMLR 11: the adjusted measure.
    """

    name: ClassVar[str] = "edsvc"
    trial: ClassVar[Mapping[str, Any]] = {"n_members": 3, "n_gamma": 5, "n_C": 4}

    n_members: int | None = params.integer(None, at_least=1, optional=True)
    k_rule: str = params.choice("cbrt", ("cbrt", "sqrt"))
    search: str = params.choice("coordinate", ("coordinate", "plane"))
    score: str = params.choice("nmi", ("nmi", "ami"))
    clusters: str = params.choice("auto", ("auto", "any", "sqrt"))
    n_gamma: int | None = params.integer(None, at_least=1, optional=True)
    n_C: int | None = params.integer(None, at_least=1, optional=True)
    largest_share: float = params.real(0.9, above=0.0, at_most=1.0)
    warm: bool = params.flag(True)
    n_jobs: int | None = params.integer(None, at_least=1, optional=True)
    max_rows: int = params.integer(2000, at_least=2)

    def tune(self, stages: Mapping[str, Stage], X: Array, rng: Rng) -> Tuned:
        """The stages with the width and the bound filled in where they were open."""
        begin = time.monotonic()
        open_gamma, open_C = _open(stages)
        if not (open_gamma or open_C):
            raise InvalidParameter(
                "tuner 'edsvc' decides gamma of the feature map and C of the solver; here each of them is given or "
                "absent. Leave one at None, or use tuner=None."
            )
        rows = _sample(len(X), self.max_rows, rng)
        space = _space(stages["featuremap"], X, rows, open_gamma, rng)
        found = _Search(self, stages, space, open_gamma, open_C, rng).run()
        if found["C"] < 1.0:
            found["C"] *= len(rows) / len(X)  # the same share of outliers
        tuned = dict(stages)
        if open_gamma:
            tuned["featuremap"] = _with(stages["featuremap"], {"gamma": found["gamma"]})
        if open_C:
            tuned["solver"] = stages["solver"].with_parameters(C=found["C"])
        facts = {name: value for name, value in found.items() if name not in ("gamma", "C")}
        facts.update(rows=len(rows), seconds=round(time.monotonic() - begin, 3))
        return Tuned(tuned, facts)


def _open(stages: Mapping[str, Stage]) -> tuple[bool, bool]:
    """Whether the width and the bound are to be decided; an alternative that is given decides them already."""

    def free(stage: Stage, name: str, *others: str) -> bool:
        values = stage.parameters()
        return name in stage.tunable and all(values.get(each) is None for each in (name, *others))

    featuremap = stages["featuremap"]
    last: Stage = featuremap.maps[-1] if isinstance(featuremap, Chain) else featuremap
    return free(last, "gamma", "sigma", "sigma_fraction"), free(stages["solver"], "C", "nu")


def _space(featuremap: Any, X: Array, rows: Array, open_gamma: bool, rng: Rng) -> Space:
    """The space of some rows; the first maps of a chain see all of them, as they will in the fit."""
    if open_gamma:
        featuremap = _with(featuremap, {"gamma": 1.0})
    space: Space
    if len(rows) == len(X) or isinstance(featuremap, Chain):
        space = featuremap.fit(X, Task(len(X), None), rng)
        space = space if len(rows) == len(X) else space.take(rows)
    else:
        space = featuremap.fit(X[rows], Task(len(rows), None), rng)
    if isinstance(space, KernelSpace) and isinstance(space.points, SparseRows):
        # the same distances in few coordinates: many widths pay for that
        points = cast(Any, space.points).isometric()
        space = attrs.evolve(space, points=points, before=())
    return space


def _members(space: Space, M: int | None, k_rule: str, even: bool, rng: Rng) -> Array:
    """The ensemble, (M, n): numbers of clusters drawn, or `even`, each as often as any other up to one."""
    # by its public name: the layer of tuners knows no estimators
    from clusterkit import ensemble

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)  # equal samples, empty clusters
        if not even:
            return ensemble(space.points, M or MEMBERS, k_rule=k_rule, random_state=rng)
        ks = rng.permutation(np.arange(2, cluster_limit(space.n, k_rule) + 1))
        wanted = np.resize(ks, M or -(-PLANE_MEMBERS // len(ks)) * len(ks))
        parts: list[Array] = []
        for k, number in zip(*np.unique(wanted, return_counts=True), strict=True):
            parts.append(ensemble(space.points, int(number), k_rule=int(k), random_state=rng))
            if len(parts[-1]) < number:
                break  # Ctrl-C
        return np.concatenate(parts)


@final
@attrs.define(eq=False)
class _Search:
    """The search on the rows it is judged by."""

    tuner: EdSvc
    stages: Mapping[str, Stage]
    space: Space
    open_gamma: bool
    open_C: bool
    rng: Rng

    def run(self) -> dict[str, Any]:
        """The values, and how they were found."""
        n = self.space.n
        ends = self._ends() if self.open_gamma else (math.nan, math.nan)
        if n < 2 or (self.open_gamma and not ends[0] < math.inf):
            return {"gamma": 1.0, "C": 1.0, "rule": "rows without a scale: one cluster", "candidates": 0}
        plane = self.tuner.search == "plane"
        members = _members(self.space, self.tuner.n_members, self.tuner.k_rule, plane, self.rng)
        agreement = Agreement(members, self.tuner.score)
        workers = available() if self.tuner.n_jobs is None else self.tuner.n_jobs
        solver, labeler = self.stages["solver"], self.stages["labeler"]
        assert isinstance(solver, Solver)
        assert isinstance(labeler, Labeler)
        seed = int(self.rng.integers(2**63))
        runs = Runs.of(self.space, solver, labeler, workers, self.tuner.warm and self.open_C, seed)
        trail = _Trail(agreement, self._most(n))
        first = 1.0 if self.open_C else math.nan
        ended = "all candidates tried"
        try:
            if plane:
                cells: list[Cell] = self._plane(runs, ends, first, n)
                trail.add(2, runs.over(cells, self.tuner.name))
                trail.add(2, runs.over(_beside(trail, cells), self.tuner.name))
            else:
                gamma: float | None = None
                if self.open_gamma:
                    cells = [(float(each), [first]) for each in self._line(*ends)]
                    trail.add(0, runs.over(cells, self.tuner.name))
                    gamma = trail.candidates[trail.best(every=True)].gamma
                if self.open_C:
                    bounds = _bounds(n, self.tuner.largest_share, self.tuner.n_C or LINE)
                    trail.add(1, runs.over(_shared(gamma, bounds, workers), self.tuner.name))
        except KeyboardInterrupt:
            ended = "interrupted"
            if not trail.candidates:
                raise
        found = trail.facts(self.tuner.score, ends[0], first)
        ks = tuple(int(member.max()) + 1 for member in members)
        return {**found, "ended": ended, "members": ks}

    def _most(self, n: int) -> tuple[int, float]:
        """Fewest and most clusters that may win."""
        limit = self.tuner.clusters
        if limit == "auto":
            limit = "any" if self.tuner.search == "coordinate" else "sqrt"
        return (0, math.inf) if limit == "any" else (2, max(2.0, math.sqrt(n)))

    def _ends(self) -> tuple[float, float]:
        """Widest and narrowest kernel; infinite where the rows have no scale."""
        n = self.space.n
        memory.require(3 * 8 * n * n, f"the {n} x {n} distances of tuner 'edsvc'", "Lower its max_rows, or give gamma.")
        points = self.space.points.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):  # the fit refuses such values with a reason
            D = squared_distances(points, points)
        np.fill_diagonal(D, 0.0)
        largest = float(D.max())
        if not 0.0 < largest < math.inf:
            return math.inf, math.inf
        # equal rows, and what rounding left between them, say nothing about the scale
        nearest = np.where(1e-13 * largest >= D, math.inf, D).min(axis=1)
        distinct = np.unique(points, axis=0, return_index=True)[1]
        low, high = 1.0 / largest, 4.0 * math.log(2.0) / float(np.quantile(nearest[distinct], 0.1))
        if not math.isfinite(low) or not math.isfinite(high):
            return math.inf, math.inf
        return low, high if high > low else 100.0 * low

    def _line(self, low: float, high: float) -> Array:
        return np.geomspace(low, high, self.tuner.n_gamma or LINE)

    def _plane(self, runs: Runs, ends: tuple[float, float], first: float, n: int) -> list[Cell]:
        """Cells of the plane: widths where something happens, each with all bounds."""
        bounds: Sequence[float] = [first]
        if self.open_C:
            shares = [p for p in SHARES if p <= self.tuner.largest_share]
            bounds = sorted({min(1.0, 1.0 / (p * n)) if p > 0.0 else 1.0 for p in shares}, reverse=True)
        if not self.open_gamma:
            return [(None, bounds)]
        scan = np.geomspace(ends[0], 2.0 * ends[1], SCAN)
        cells: list[Cell] = [(float(gamma), (first,)) for gamma in scan]
        counts = np.array([found[0].n_clusters for found in runs.over(cells, self.tuner.name)])
        whole, broken = np.flatnonzero(counts <= 1), np.flatnonzero(counts > SHATTERED * n)
        low = max(0.3 * ends[0], float(scan[whole[-1]] if len(whole) else ends[0]) / 8.0)
        high = float(scan[broken[0]] if len(broken) else scan[-1])
        widths = np.geomspace(low, max(high, 2.0 * low), self.tuner.n_gamma or PLANE_WIDTHS)
        return [(float(gamma), bounds) for gamma in widths]


@final
@attrs.define(eq=False)
class _Trail:
    """Candidates so far, and their scores."""

    agreement: Agreement
    limits: tuple[float, float]
    candidates: list[Candidate] = attrs.field(factory=list)
    scores: list[float] = attrs.field(factory=list)
    steps: list[int] = attrs.field(factory=list)

    def add(self, step: int, cells: Any) -> None:
        """Score the candidates of some cells as they come; only their labels' number of clusters is kept."""
        for cell in cells:
            for each in cell:
                self.scores.append(self.agreement.score(each.labels))
                self.candidates.append(attrs.evolve(each, labels=each.labels.max(keepdims=True)))
                self.steps.append(step)

    @property
    def qualified(self) -> Array:
        """Which of them may win, (t,)."""
        k = np.array([each.n_clusters for each in self.candidates])
        return (k >= self.limits[0]) & (k <= self.limits[1])

    def best(self, every: bool = False) -> int:
        """Index of the winner among those of the last step; -1 if none qualifies, unless `every` one may win then."""
        last = np.array(self.steps) == self.steps[-1]
        qualified = self.qualified & last
        if not qualified.any():
            if not every:
                return -1
            qualified = last
        scores = np.where(qualified, self.scores, -math.inf)
        tied = np.flatnonzero(scores >= scores.max() - TIE)
        return int(min(tied, key=lambda i: (self.candidates[i].gamma, -self.candidates[i].C)))

    def facts(self, measure: str, widest: float, first: float) -> dict[str, Any]:
        """The values decided and what led to them."""
        chosen = self.best()
        if chosen >= 0:
            winner = self.candidates[chosen]
            found: dict[str, Any] = {"gamma": winner.gamma, "C": winner.C, "rule": f"largest mean {measure}"}
            found.update(score=round(self.scores[chosen], 12), clusters=winner.n_clusters)
        else:
            rule = "no candidate has an allowed number of clusters: the widest kernel without outliers"
            found = {"gamma": widest, "C": first, "rule": rule}
        singletons = self.agreement.singletons()
        curves = Curves(
            np.array(self.steps),
            np.array([each.gamma for each in self.candidates]),
            np.array([each.C for each in self.candidates]),
            np.array(self.scores),
            np.array([each.n_clusters for each in self.candidates]),
            np.array([each.n_bounded for each in self.candidates]),
            self.qualified,
            chosen,
            singletons,
            measure,
        )
        return {
            **found,
            "singletons": round(singletons, 12),
            "candidates": len(self.candidates),
            "partitions": len(self.agreement) - 1,
            "curves": curves,
        }


def _bounds(n: int, share: float, number: int) -> Array:
    """Bounds from 1 down to 1 / (share n), geometric."""
    lowest = 1.0 / (share * n)
    return np.geomspace(1.0, lowest, number) if lowest < 1.0 and number > 1 else np.ones(1)


def _beside(trail: _Trail, cells: Sequence[Cell]) -> list[Cell]:
    """Cells for widths beside that of the best candidate, up to the next ones or a step beyond the last."""
    chosen = trail.best()
    widths = np.array([gamma for gamma, _ in cells if gamma is not None])
    if chosen < 0 or len(widths) < 2:
        return []
    steps = np.log(widths)
    steps = np.concatenate([[2 * steps[0] - steps[1]], steps, [2 * steps[-1] - steps[-2]]])
    at = 1 + int(np.argmin(np.abs(widths - trail.candidates[chosen].gamma)))
    gaps = [np.linspace(steps[i], steps[i + 1], BETWEEN + 2)[1:-1] for i in (at - 1, at)]
    return [(float(gamma), cells[0][1]) for gamma in np.exp(np.concatenate(gaps))]


def _shared(gamma: float | None, bounds: Array, workers: int) -> list[Cell]:
    """One width with its bounds dealt out to the workers in runs; what a bound gives does not depend on its run."""
    parts = np.array_split(bounds, 1 if workers == 1 else min(4 * workers, len(bounds)))
    return [(gamma, part.tolist()) for part in parts]
