"""Min-max modular machine, figure 3: height times iterations of equal clustering and of GeoClust.

The height h is the largest difference of the size of a part from the mean size. Both rules move the centres of the
parts iteration by iteration; equal clustering stops at the first iteration with ``h < n / 50 K``, GeoClust makes 6,000.
A small product of height and iterations says that parts are about equal, and soon.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from clusterkit_papers.axes import draw_curve, finish, plain_log
from clusterkit_papers.fits import timed_fit
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.min_max.problems import EVERY, PROBLEMS, MinMaxProblem, SplitRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["RULES", "HeightRuns", "draw", "figure3"]

RULES = ("equal", "geoclust", "geoclust, stopped alike")
"""Equal clustering and GeoClust as published, and GeoClust ended at the iteration where equal clustering would stop."""

CELLS = (
    Cell("h × iterations", "product"),
    Cell("h (rows)", "height"),
    Cell("iterations", "iterations"),
)
"""Means over the two classes."""

AHEAD = Cell("lower h × iterations (% of K)", "ahead")
"""For how many K equal clustering is strictly ahead."""

STATEMENT = "the paper says of figure 3 that the modified rule beats the original GeoClust in h × iterations"
"""Statement in the paper about the figure, which has no numbers for us."""

NAMES = ("Banana 40,000", "Letter")
"""The problems, with the numbers of training rows of the paper."""

RUNS = 3
"""Number of runs, each with its own seeds of the centres."""

QUICK_KS = (2, 5, 10, 20)
"""Numbers of parts of a quick run."""


@attrs.define(eq=False)
class HeightRuns:
    """The partitions of a problem, each made once: `RULES` and their comparison share them.

    Parameters
    ----------
    problem : MinMaxProblem
    """

    problem: MinMaxProblem
    _rows: SplitRows | None = attrs.field(default=None, init=False)
    _values: dict[tuple[str, int, int], Values] = attrs.field(factory=dict, init=False)

    def values(self, rule: str, K: int, seed: int) -> Values:
        """Height, iterations and their product, means over the two classes."""
        if (rule, K, seed) not in self._values:
            if self._rows is None:
                self._rows = self.problem.load()
            rows = self._rows
            of_classes = [self._of_class(rows.X[rows.y == label], K, (seed, label)) for label in (0, 1)]
            for name in RULES:
                measures = of_classes[0][name]
                self._values[name, K, seed] = {
                    measure: statistics.fmean(of_class[name][measure] for of_class in of_classes)
                    for measure in measures
                }
        return self._values[rule, K, seed]

    def _of_class(self, X: np.ndarray, K: int, seed: tuple[int, int]) -> dict[str, Values]:
        """Both rules from the same centres, a single start each."""
        from clusterkit.families.equal.drift import DriftRule, find_parts

        equal = DriftRule(restarts=0, strict=True)
        original = DriftRule(original=True, restarts=0, strict=True)
        tolerance = equal.tolerance_for(len(X), K)
        values = {}
        for name, rule in (("equal", equal), ("geoclust", original)):
            timed = timed_fit(partial(find_parts, X, K, rule, np.random.default_rng(seed)))
            heights = np.asarray(timed.fitted.imbalances)
            # centres that run away end a search early, and its parts stay as they are
            iterations = rule.max_iter if name == "geoclust" else len(heights)
            values[name] = _product(heights, iterations, timed.seconds)
            if name == "geoclust":
                low = np.flatnonzero(heights < tolerance)
                iterations = int(low[0]) + 1 if len(low) else rule.max_iter
                values[RULES[2]] = _product(heights, iterations, timed.seconds * min(1.0, iterations / len(heights)))
        return values


def _product(heights: np.ndarray, iterations: int, seconds: float) -> Values:
    """Values of a search that ended after so many iterations, with the height of its last iteration."""
    height = float(heights[min(iterations, len(heights)) - 1])
    return {"height": height, "iterations": float(iterations), "product": height * iterations, "seconds": seconds}


def figure3(plan: Plan, problems: Sequence[MinMaxProblem] | None = None) -> list[Job]:
    """K = 2 to 20 parts of each class; a quick run has four numbers of parts."""
    if problems is None:
        by_name = {problem.name: problem for problem in PROBLEMS}
        problems = [by_name[name] for name in NAMES]
    ks, seeds = QUICK_KS if plan.quick else EVERY[1:], plan.seeds(RUNS)
    jobs = []
    for problem in problems:
        runs = HeightRuns(problem)
        jobs += [_job(runs, rule, K, seeds) for K in ks for rule in RULES]
        jobs += [_claim(runs, rule, ks, seeds) for rule in RULES[1:]]
    return jobs


def _job(runs: HeightRuns, rule: str, K: int, seeds: Sequence[int]) -> Job:
    row = f"{runs.problem.name}: K = {K}, {rule}"

    def run(step: Step) -> Measurements:
        values = []
        for seed in seeds:
            values.append(runs.values(rule, K, seed))
            step(f"{row}, seed {seed}")
        return Measurements(values)

    return Job(runs.problem.paper_name, row, CELLS, run, len(seeds), as_described=rule in RULES[:2])


def _claim(runs: HeightRuns, rule: str, ks: Sequence[int], seeds: Sequence[int]) -> Job:
    """For how many numbers of parts equal clustering has the lower product."""
    row = f"{runs.problem.name}: equal against {rule}"

    def run(step: Step) -> Measurements:
        values = []
        for seed in seeds:
            lower = [runs.values("equal", K, seed)["product"] < runs.values(rule, K, seed)["product"] for K in ks]
            values.append({"ahead": 100.0 * statistics.fmean(lower), "seconds": 0.0})
        step(row)
        mean = statistics.fmean(value["ahead"] for value in values)
        answer = "holds" if mean == 100 else f"holds for {mean:.0f} % of the numbers of parts"
        return Measurements(values, f"{STATEMENT}: here it {answer}")

    return Job(runs.problem.paper_name, row, (AHEAD,), run, 1)


def draw(path: str | None = None, rows: Sequence[Mapping[str, object]] | None = None) -> Figure:
    """The curves of figure 3; needs the extra ``plots``.

    Parameters
    ----------
    path : str, optional
        File for the picture; its ending decides the format. By default nothing is written.
    rows : sequence of mapping, optional
        The rows of ``papers.reproduce("m3-figure3")``, or of its ``--json``. By default the table is run.

    Returns
    -------
    ndarray of shape (3, 2)
        The axes: product, height and iterations against K; a column for each problem. A product of 0 (sizes that are
        exactly equal) is a gap in its line, because the axes are logarithmic.
    """
    from clusterkit.errors import need
    from clusterkit.plots.figure import COLORS, frame

    need("matplotlib", "a picture", "plots")
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    from clusterkit_papers.min_max.figures import curves_of

    if rows is None:
        from clusterkit_papers import reproduce

        rows = reproduce("m3-figure3")
    figure = Figure(figsize=(11, 9), dpi=100, facecolor="white", layout="constrained")
    axes: Any = figure.subplots(3, 2, sharex=True, sharey="row")
    styles = dict(zip(RULES, ((COLORS[0], "^"), (COLORS[1], "o"), (COLORS[4], "v")), strict=True))
    for name, column in zip(NAMES, axes.T, strict=True):
        curves = curves_of(rows, name)
        for cell, axis in zip(CELLS, column, strict=True):
            for rule, (color, marker) in styles.items():
                points = [(K, value or np.nan) for K, value in curves.get((rule, cell.column), ())]
                draw_curve(axis, points, rule, color, marker)
            plain_log(axis.yaxis, decades=True)
            below = "K, parts of each class" if cell is CELLS[-1] else ""
            frame(axis, name if cell is CELLS[0] else "", (below, cell.column if name == NAMES[0] else ""))
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.grid(color="#e6e6e6", linewidth=0.6)
    finish(figure, axes, path, loc="outside upper center", ncols=3, fontsize=9.5)
    return axes
