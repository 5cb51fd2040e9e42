"""Min-max modular machine, figure 6: times of one machine after the other with the partition, and of all at once."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clusterkit_papers.axes import draw_curve, finish, plain_log
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.min_max.figures import COMPARED, PARTITIONERS, PLAIN, MinMaxFits, curves_of
from clusterkit_papers.min_max.problems import EVERY, PROBLEMS, MinMaxProblem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw", "times"]

CELLS = (
    Cell("sequential with partition (s)", "with_partition"),
    Cell("parallel without partition (s)", "parallel"),
)
"""The sum of the processor times of the modules and the partition; the longest module alone."""

SHARES = (
    Cell("less sequential time, with partition (% of K)", "sequential_share"),
    Cell("less parallel time (% of K)", "parallel_share"),
)
"""For how many K equal clustering is strictly ahead."""

STATEMENT = (
    "the paper says that equal clustering takes less sequential time even with the partition, and less parallel time "
    "if the partition is not counted"
)
"""Statement in the paper about the figure, which has no numbers for us."""

NAMES = ("Banana", "Letter")
"""The problems."""

QUICK_KS = (1, 5, 10)
"""Numbers of parts of a quick run."""


def times(plan: Plan, problems: Sequence[MinMaxProblem] | None = None) -> list[Job]:
    """K = 1 to 20 parts of each class by every partitioner; a quick run has two numbers of parts of Banana."""
    if problems is None:
        problems = [problem for problem in PROBLEMS if problem.name in (NAMES[:1] if plan.quick else NAMES)]
    ks = QUICK_KS if plan.quick else EVERY
    jobs = []
    for problem in problems:
        fits, seeds = MinMaxFits(problem), plan.seeds(problem.runs)
        jobs += [_job(fits, K, name, seeds) for K in ks for name in (PARTITIONERS if K > 1 else (PLAIN,))]
        jobs += [_claims(fits, ks[1:], other, seeds) for other in (*PARTITIONERS[:2], PLAIN)]
    return jobs


def _job(fits: MinMaxFits, K: int, partitioner: str, seeds: Sequence[int]) -> Job:
    row = f"{fits.problem.name}: K = {K}, {partitioner}"
    seeds = seeds if K > 1 else seeds[:1]
    ours = fits.problem.as_described and partitioner in COMPARED

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            runs.append(_timed(fits, partitioner, K, seed))
            step(f"{row}, seed {seed}")
        return Measurements(runs)

    return Job(fits.problem.paper_name, row, CELLS, run, len(seeds), note=fits.problem.words, as_described=ours)


def _timed(fits: MinMaxFits, partitioner: str, K: int, seed: int) -> Values:
    """The values of a fit; the plain machine, K = 1, has no partition."""
    values = fits.fit(partitioner, K, seed)
    partition = values["partition"] if K > 1 else 0.0
    return {**values, "with_partition": values["sequential"] + partition}


def _claims(fits: MinMaxFits, ks: Sequence[int], other: str, seeds: Sequence[int]) -> Job:
    """For how many numbers of parts equal clustering takes less time than another partition or the plain machine."""
    row = f"{fits.problem.name}: equal against {other}"

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            pairs = [
                (_timed(fits, "equal", K, seed), _timed(fits, other, 1 if other == PLAIN else K, seed)) for K in ks
            ]
            less = {
                name: 100.0 * statistics.fmean(ours[measure] < theirs[measure] for ours, theirs in pairs)
                for name, measure in (("sequential_share", "with_partition"), ("parallel_share", "parallel"))
            }
            runs.append({**less, "seconds": 0.0})
        step(row)
        means = [statistics.fmean(run[cell.measure] for run in runs) for cell in SHARES]
        answer = f"sequential time less for {means[0]:.0f} %, parallel time for {means[1]:.0f} % of the K"
        return Measurements(runs, f"{STATEMENT}: here against {other} {answer}")

    return Job(fits.problem.paper_name, row, SHARES, run, 1)


def draw(path: str | None = None, rows: Sequence[Mapping[str, object]] | None = None) -> Figure:
    """The curves of times; needs the extra ``plots``.

    Parameters
    ----------
    path : str, optional
        File for the picture; its ending decides the format. By default nothing is written.
    rows : sequence of mapping, optional
        The rows of ``papers.reproduce("m3-figure6")``, or of its ``--json``. By default the table is run, which
        takes minutes.

    Returns
    -------
    ndarray of shape (2, problems)
        The axes: sequential and parallel seconds against K; a column for each problem that has rows.
    """
    from clusterkit.errors import need
    from clusterkit.plots.figure import COLORS, FAINT, frame

    need("matplotlib", "a picture", "plots")
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    if rows is None:
        from clusterkit_papers import reproduce

        rows = reproduce("m3-figure6")
    names = [name for name in NAMES if curves_of(rows, name)] or list(NAMES)
    figure = Figure(figsize=(1 + 5 * len(names), 7), dpi=100, facecolor="white", layout="constrained")
    axes: Any = figure.subplots(2, len(names), sharex=True, squeeze=False)
    styles = dict(zip(PARTITIONERS, zip(COLORS[3:4] + COLORS[1:2] + COLORS[:1], "so^", strict=True), strict=True))
    for name, column in zip(names, axes.T, strict=True):
        curves = curves_of(rows, name)
        for cell, axis in zip(CELLS, column, strict=True):
            for partitioner, (color, marker) in styles.items():
                draw_curve(axis, curves.get((partitioner, cell.column), ()), partitioner, color, marker)
            plain = curves.get((PLAIN, cell.column), ())
            if plain:
                axis.axhline(plain[0][1], color=FAINT, linestyle="--", linewidth=1.1, label=f"{PLAIN} (K = 1)")
            plain_log(axis.yaxis)
            below = "K, parts of each class" if cell is CELLS[-1] else ""
            frame(axis, name if cell is CELLS[0] else "", (below, cell.column if name == names[0] else ""))
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.grid(color="#e6e6e6", linewidth=0.6)
    finish(figure, axes, path, loc="outside upper center", ncols=4, fontsize=9.5)
    return axes
