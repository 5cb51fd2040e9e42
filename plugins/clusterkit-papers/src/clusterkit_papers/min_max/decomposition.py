"""Min-max modular machine, figures 7 and 8: the Banana data, and their four subproblems with two parts of each class.

Figure 7 shows the training data, figure 8 the subproblems (a) to (d) of random parts and (e) to (h) of equal
clustering; GeoClust is added. A subproblem is part i of the one class and part j of the other. Parts are numbered from
left to right, by the mean of the first attribute, because the numbers that a partition gives are arbitrary.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from clusterkit_papers.fits import timed_fit
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.min_max.figures import COMPARED, PARTITIONERS, PRINTED
from clusterkit_papers.min_max.problems import PROBLEMS, MinMaxProblem, SplitRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from sklearn.svm import SVC

__all__ = ["Decomposition", "draw", "figures"]

CELLS = (
    Cell("positive rows", "positive"),
    Cell("negative rows", "negative"),
    Cell("rows nearest to the other class (%)", "mixed"),
    Cell("support vectors (% of rows)", "supports"),
    Cell("training errors (%)", "errors"),
    Cell("spread (% of that of the classes)", "spread"),
)
"""What the pictures show in numbers: the sizes; how much the classes mix, by each row's nearest neighbour; how hard the
machine finds them; and how local the parts are, by the mean squared distance from their means."""

SHARES = (
    Cell("fewer rows nearest to the other class (% of pairs)", "mixed"),
    Cell("fewer support vectors (% of pairs)", "supports"),
    Cell("fewer training errors (% of pairs)", "errors"),
)
"""For how many pairs of subproblems the one of equal clustering is strictly the more separable."""

STATEMENT = (
    "the paper says of figure 8 that equal clustering makes subproblems more separable than random parts, whose "
    "subproblems look like the whole problem"
)
"""Statement in the paper about the figures, which have no numbers for us."""

WHOLE = "whole"
"""The name in rows of the data that are not divided."""

PAIRS = tuple(itertools.product(range(2), repeat=2))
"""Positive and negative part of each subproblem."""


@attrs.define(eq=False)
class Decomposition:
    """The subproblems of a problem; the rows are loaded on first use, and each partition is made once.

    Parameters
    ----------
    problem : MinMaxProblem
    """

    problem: MinMaxProblem
    _rows: SplitRows | None = attrs.field(default=None, init=False)
    _parts: dict[tuple[str, int], np.ndarray] = attrs.field(factory=dict, init=False)
    _values: dict[tuple[str, int], list[Values]] = attrs.field(factory=dict, init=False)

    @property
    def rows(self) -> SplitRows:
        """The training and test rows."""
        if self._rows is None:
            self._rows = self.problem.load()
        return self._rows

    def parts(self, partitioner: str, seed: int) -> np.ndarray:
        """Part of each training row within its class, (n,): 0 is the left one, 1 the right one."""
        if (partitioner, seed) not in self._parts:
            from clusterkit_min_max import MinMaxModularSVC

            X, y = self.rows.X, self.rows.y
            model = MinMaxModularSVC(2, PRINTED[partitioner], random_state=seed, **self.problem.machine).fit(X, y)
            parts = np.array(model.parts_)
            for label in (0, 1):
                of_class = y == label
                left, right = (X[of_class & (parts == part), 0].mean() for part in (0, 1))
                if left > right:
                    parts[of_class] = 1 - parts[of_class]
            self._parts[partitioner, seed] = parts
        return self._parts[partitioner, seed]

    def subproblems(self, partitioner: str, seed: int) -> list[np.ndarray]:
        """Training rows of each subproblem as a mask (n,), in the order of `PAIRS`; of `WHOLE` all rows."""
        if partitioner == WHOLE:
            return [np.ones(len(self.rows.y), dtype=bool)]
        parts, y = self.parts(partitioner, seed), self.rows.y
        return [np.where(y == 1, parts == i, parts == j) for i, j in PAIRS]

    def values(self, partitioner: str, seed: int) -> list[Values]:
        """The measures of each subproblem."""
        if (partitioner, seed) not in self._values:
            self._values[partitioner, seed] = [self._measured(mask) for mask in self.subproblems(partitioner, seed)]
        return self._values[partitioner, seed]

    def machine(self, mask: np.ndarray) -> SVC:
        """The machine of a subproblem."""
        from sklearn.svm import SVC

        return SVC(**self.problem.machine).fit(self.rows.X[mask], self.rows.y[mask])

    def _measured(self, mask: np.ndarray) -> Values:
        from sklearn.neighbors import NearestNeighbors

        X, y = self.rows.X[mask], self.rows.y[mask]
        timed = timed_fit(lambda: self.machine(mask))
        nearest = NearestNeighbors(n_neighbors=1).fit(X).kneighbors(return_distance=False)[:, 0]
        spread = [_spread(X[y == label]) / _spread(self.rows.X[self.rows.y == label]) for label in (0, 1)]
        return {
            "positive": float((y == 1).sum()),
            "negative": float((y == 0).sum()),
            "mixed": 100.0 * float(np.mean(y[nearest] != y)),
            "supports": 100.0 * len(timed.fitted.support_) / len(y),
            "errors": 100.0 * float(np.mean(timed.fitted.predict(X) != y)),
            "spread": 100.0 * statistics.fmean(spread),
            "seconds": timed.seconds,
        }


def _spread(X: np.ndarray) -> float:
    """Mean squared distance of rows from their mean."""
    return float(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())


def figures(plan: Plan, problem: MinMaxProblem = PROBLEMS[0]) -> list[Job]:
    """The whole data and the four subproblems of each partition; a quick run has all of them, once."""
    decomposition, seeds = Decomposition(problem), plan.seeds(problem.runs)
    jobs = [_job(decomposition, WHOLE, 0, WHOLE, seeds[:1])]
    for partitioner in PARTITIONERS:
        for place, (i, j) in enumerate(PAIRS):
            what = f"{partitioner}, positive part {i + 1}, negative part {j + 1}"
            jobs.append(_job(decomposition, partitioner, place, what, seeds))
    return [*jobs, *(_claim(decomposition, other, seeds) for other in PARTITIONERS[:2])]


def _job(decomposition: Decomposition, partitioner: str, place: int, what: str, seeds: Sequence[int]) -> Job:
    row = f"{decomposition.problem.name}: {what}"

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            runs.append(decomposition.values(partitioner, seed)[place])
            step(f"{row}, seed {seed}")
        return Measurements(runs)

    problem = decomposition.problem
    ours = partitioner in COMPARED or partitioner == WHOLE  # points in a picture: how often each occurs is not seen
    return Job(problem.paper_name, row, CELLS, run, len(seeds), note=problem.words, as_described=ours)


def _claim(decomposition: Decomposition, other: str, seeds: Sequence[int]) -> Job:
    """For how many pairs of a subproblem of equal clustering and one of another partition the first is separable."""
    row = f"{decomposition.problem.name}: equal against {other}"

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            pairs = list(itertools.product(decomposition.values("equal", seed), decomposition.values(other, seed)))
            shares = {
                cell.measure: 100.0 * statistics.fmean(one[cell.measure] < two[cell.measure] for one, two in pairs)
                for cell in SHARES
            }
            runs.append({**shares, "seconds": 0.0})
        step(row)
        answers = [
            f"{cell.column.partition(' (')[0]} in {statistics.fmean(run[cell.measure] for run in runs):.0f} %"
            for cell in SHARES
        ]
        return Measurements(runs, f"{STATEMENT}: here against {other} {', '.join(answers)} of the pairs")

    return Job(decomposition.problem.paper_name, row, SHARES, run, 1)


def draw(path: str | None = None, seed: int = 0, problem: MinMaxProblem = PROBLEMS[0]) -> Figure:
    """The training data and the subproblems of each partition with the borders of their machines; needs ``plots``.

    Parameters
    ----------
    path : str, optional
        File for the picture; its ending decides the format. By default nothing is written.
    seed : int, default 0
        Seed of the partitions.
    problem : MinMaxProblem
        A problem with two attributes.

    Returns
    -------
    mapping of str to Axes
        "whole", and the four subproblems of each partition by its name and a digit.
    """
    from clusterkit.errors import need
    from clusterkit.plots.figure import COLORS, INK, frame

    need("matplotlib", "a picture", "plots")
    from matplotlib.figure import Figure

    decomposition = Decomposition(problem)
    X, y = decomposition.rows.X, decomposition.rows.y
    low, high = X.min(axis=0), X.max(axis=0)
    grid = np.stack(np.meshgrid(*(np.linspace(low[i], high[i], 150) for i in (0, 1))), axis=-1)  # (150, 150, 2)
    lines = [[f"{name} {place}" for place in range(len(PAIRS))] for name in PARTITIONERS]
    figure = Figure(figsize=(11, 11), dpi=90, facecolor="white", layout="constrained")
    axes: Mapping[str, Any] = figure.subplot_mosaic(
        [[".", WHOLE, WHOLE, "."], *lines], sharex=True, sharey=True, height_ratios=[1.5, 1, 1, 1]
    )
    masks = {WHOLE: decomposition.subproblems(WHOLE, seed)[0]}
    titles = {WHOLE: "the training data (figure 7)"}
    for names, partitioner in zip(lines, PARTITIONERS, strict=True):
        for name, mask, (i, j) in zip(names, decomposition.subproblems(partitioner, seed), PAIRS, strict=True):
            masks[name], titles[name] = mask, f"{partitioner}: {i + 1} and {j + 1}"
    for name, axis in axes.items():
        mask = masks[name]
        machine = decomposition.machine(mask)
        for label, marker, color in ((1, "+", COLORS[0]), (0, "o", COLORS[3])):
            points = X[mask & (y == label)]
            colors = {"color": color} if marker == "+" else {"facecolors": "none", "edgecolors": color}
            axis.scatter(*points.T, marker=marker, s=10, linewidths=0.5, **colors)
        heights = machine.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
        axis.contour(grid[..., 0], grid[..., 1], heights, levels=[0.0], colors=[INK], linewidths=1.3)
        share = 100.0 * len(machine.support_) / mask.sum()
        frame(axis, f"{titles[name]}\n{share:.0f} % of {mask.sum():,} rows are support vectors", ("", ""))
        axis.set_xticks([])
        axis.set_yticks([])
    if path is not None:
        figure.savefig(path)
    return axes
