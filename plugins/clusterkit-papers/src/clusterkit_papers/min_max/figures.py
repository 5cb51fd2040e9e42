"""Min-max modular machine, table II and the figures: accuracy, support vectors, times against the parts of a class."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from clusterkit.contracts import Task
from clusterkit.samples import identity_space
from clusterkit_papers.axes import draw_curve, finish, plain_log
from clusterkit_papers.fits import timed_fit
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.min_max.problems import PROBLEMS, MinMaxProblem, SplitRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COMPARED", "PARTITIONERS", "PLAIN", "MinMaxFits", "curves_of", "draw", "figures"]

PRINTED: Mapping[str, Mapping[str, object]] = {
    "random": {"name": "random", "leftover": "last"},
    "geoclust": {"name": "geoclust"},
    "equal": {"name": "equal", "strict": True},
}
"""The partitions as printed: leftover rows join the last random part, equal clustering ends by the printed rule."""

PARTITIONERS = tuple(PRINTED)
"""How each class is split into K parts."""

PLAIN = "plain machine"
"""The name in rows of the machine without parts, K = 1."""

COMPARED = ("random", "equal", PLAIN)
"""The machines that the paper compares; its GeoClust is in figure 3 alone, which has no machines."""

CELLS = (
    Cell("accuracy (%)", "accuracy"),
    Cell("support vectors", "supports"),
    Cell("distinct support vectors", "supports_distinct"),
    Cell("sequential (s)", "sequential"),
    Cell("parallel (s)", "parallel"),
    Cell("partition (s)", "partition"),
)
"""Columns measured in a fit."""

CLAIMS = (
    Cell("more accurate (% of K)", "accurate"),
    Cell("fewer support vectors (% of K)", "sparse"),
    Cell("less sequential time, with partition (% of K)", "sequential_share"),
    Cell("less parallel time (% of K)", "parallel_share"),
)
"""For how many K equal clustering is strictly ahead, for each claim of the paper."""

MEANING = "C and gamma as printed; sequential: sum of the processor times of the modules, parallel: the longest"
"""A note on the measures."""

CLAIMS_NOTE = (
    'the paper says of equal clustering: more accurate than random parts "in most of time", above the plain machine, '
    "fewer support vectors, less sequential time even with the partition, less parallel time without it"
)
"""Claims of the paper, for the notes of these rows."""


@attrs.define(eq=False)
class MinMaxFits:
    """The fits to a problem, which is loaded on first use; each fit and each partition is computed once.

    Parameters
    ----------
    problem : MinMaxProblem
    """

    problem: MinMaxProblem
    _rows: SplitRows | None = attrs.field(default=None, init=False)
    _fits: dict[tuple[str, int, int], Values] = attrs.field(factory=dict, init=False)
    _partitions: dict[tuple[str, int, int], float] = attrs.field(factory=dict, init=False)

    @property
    def rows(self) -> SplitRows:
        """The rows, loaded on first use; then all loops are compiled, so that no measured time contains that."""
        if self._rows is None:
            self._rows = self.problem.load()
            _warm_up(self._rows.X.shape[1])
        return self._rows

    def fit(self, partitioner: str, K: int, seed: int) -> Values:
        """The values of one fit with K parts of each class. The plain machine, K = 1, does not depend on the seed."""
        key = (partitioner, K, seed) if K > 1 else (PLAIN, 1, 0)
        if key not in self._fits:
            self._fits[key] = self._measured("random" if K == 1 else partitioner, K, seed)
        return self._fits[key]

    def _measured(self, partitioner: str, K: int, seed: int) -> Values:
        from clusterkit_min_max import MinMaxModularSVC

        rows = self.rows
        model = MinMaxModularSVC(K, PRINTED[partitioner], random_state=seed, **self.problem.machine)
        timed = timed_fit(lambda: model.fit(rows.X, rows.y))
        report: Any = model.fit_report_
        return {
            "accuracy": 100.0 * model.score(rows.X_test, rows.y_test),
            "supports": float(report["n_support"]),
            "supports_distinct": float(report["n_support_distinct"]),
            "sequential": report["sequential_seconds"],
            "parallel": report["parallel_seconds"],
            "partition": report["partition_seconds"],
            "seconds": timed.seconds,
        }

    def partition(self, partitioner: str, K: int, seed: int) -> float:
        """Seconds to split both classes: those of the fit if there is one, else of a partition alone."""
        if (partitioner, K, seed) in self._fits:
            return self._fits[partitioner, K, seed]["partition"]
        key = (partitioner, K, seed)
        if key not in self._partitions:
            from clusterkit.drivers import compose

            stage: Any = compose.resolve("init", PRINTED[partitioner])
            rows = self.rows
            classes = [rows.X[rows.y == label] for label in (0, 1)]

            def split() -> None:
                for label, X in enumerate(classes):
                    stage.start(identity_space(X), Task(len(X), K), np.random.default_rng((seed, label)))

            self._partitions[key] = timed_fit(split).seconds
        return self._partitions[key]


def _warm_up(d: int) -> None:
    """Import and compile what fits of d attributes need; the loops are compiled by the number of attributes."""
    from clusterkit_min_max import MinMaxModularSVC

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, d)), np.arange(200) % 2
    for K in (2, 3):
        for name in PARTITIONERS:
            stage = {**PRINTED[name], **({} if name == "random" else {"max_iter": 5})}
            MinMaxModularSVC(K, stage, random_state=0).fit(X, y).predict(X)


def figures(plan: Plan, problems: Sequence[MinMaxProblem] = PROBLEMS) -> list[Job]:
    """Every number of parts with every partitioner, how often the claims hold, and the mean time of a partition.

    A quick run has two numbers of parts of the main problems, and three for the time of a partition.
    """
    jobs: list[Job] = []
    for problem in problems:
        fits, seeds = MinMaxFits(problem), plan.seeds(problem.runs)
        ks = problem.quick if plan.quick else problem.ks
        jobs += [_fits(fits, K, name, seeds) for K in ks for name in (PARTITIONERS if K > 1 else (PLAIN,))]
        several = tuple(K for K in ks if K > 1)
        if 1 in ks and several:
            jobs += [_claims(fits, several, other, seeds) for other in (*PARTITIONERS[:2], PLAIN)]
        if problem.partitioned:
            averaged = problem.partitioned[::9] if plan.quick else problem.partitioned
            jobs += [_partitions(fits, averaged, name, seeds) for name in ("random", "equal")]
    return jobs


def _fits(fits: MinMaxFits, K: int, partitioner: str, seeds: Sequence[int]) -> Job:
    """A partitioner with K parts of each class."""
    problem = fits.problem
    row = f"{problem.name}: K = {K}, {partitioner}"
    seeds = seeds if K > 1 else seeds[:1]

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            runs.append(fits.fit(partitioner, K, seed))
            step(f"{row}, seed {seed}")
        return Measurements(runs)

    note, ours = f"{problem.words}; {MEANING}", problem.as_described and partitioner in COMPARED
    return Job(problem.paper_name, row, CELLS, run, len(seeds), note=note, as_described=ours)


def _claims(fits: MinMaxFits, ks: Sequence[int], other: str, seeds: Sequence[int]) -> Job:
    """For how many numbers of parts equal clustering is ahead of another partition, or of the plain machine."""
    problem = fits.problem
    row = f"{problem.name}: equal against {other}, {_words(ks)}"

    def run(step: Step) -> Measurements:
        begin = time.perf_counter()
        runs = []
        for seed in seeds:
            pairs = [(fits.fit("equal", K, seed), fits.fit(other, 1 if other == PLAIN else K, seed)) for K in ks]
            runs.append({name: 100.0 * statistics.fmean(values) for name, values in _ahead(pairs).items()})
        step(row)
        seconds = (time.perf_counter() - begin) / len(seeds)
        return Measurements([values | {"seconds": seconds} for values in runs])

    return Job(problem.paper_name, row, CLAIMS, run, 1, note=CLAIMS_NOTE)


def _ahead(pairs: Sequence[tuple[Values, Values]]) -> dict[str, list[bool]]:
    """Whether the first of each pair of fits is strictly ahead, for each claim."""

    def with_partition(values: Values) -> float:
        return values["sequential"] + values["partition"]

    return {
        "accurate": [ours["accuracy"] > theirs["accuracy"] for ours, theirs in pairs],
        "sparse": [ours["supports"] < theirs["supports"] for ours, theirs in pairs],
        "sequential_share": [with_partition(ours) < with_partition(theirs) for ours, theirs in pairs],
        "parallel_share": [ours["parallel"] < theirs["parallel"] for ours, theirs in pairs],
    }


def _partitions(fits: MinMaxFits, ks: Sequence[int], partitioner: str, seeds: Sequence[int]) -> Job:
    """The time of a partition, averaged over numbers of parts."""
    problem = fits.problem
    row = f"{problem.name}: {partitioner}, mean over {_words(ks)}"

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            seconds = statistics.fmean(fits.partition(partitioner, K, seed) for K in ks)
            runs.append({"partition": seconds, "seconds": seconds})
            step(f"{row}, seed {seed}")
        return Measurements(runs)

    comparable = tuple(ks) == problem.partitioned
    cells = (Cell(f"partition, {partitioner} (s)", "partition"),)
    note, ours = f"{problem.words}; both classes together", problem.as_described
    return Job(problem.paper_name, row, cells, run, len(seeds), note=note, comparable=comparable, as_described=ours)


def _words(ks: Sequence[int]) -> str:
    """Numbers of parts, for the names of rows."""
    whole = len(ks) > 2 and tuple(ks) == tuple(range(ks[0], ks[-1] + 1))
    return f"K = {ks[0]}..{ks[-1]}" if whole else f"K = {', '.join(map(str, ks))}"


def draw(path: str | None = None, rows: Sequence[Mapping[str, object]] | None = None, name: str = "Banana") -> Figure:
    """The curves of one problem; needs the extra ``plots``.

    Parameters
    ----------
    path : str, optional
        File for the picture; its ending decides the format. By default nothing is written.
    rows : sequence of mapping, optional
        The rows of ``papers.reproduce("m3-figures")``, or of its ``--json``. By default the table is run, which takes
        some minutes.
    name : str, default "Banana"
        The problem, as it is called in the rows: "Banana", "Banana raw", "Banana 40,000", "Letter", "Letter raw".

    Returns
    -------
    ndarray of shape (2, 3)
        The axes: accuracy, support vectors, distinct support vectors; sequential, parallel and partition time. All
        against K.

    Raises
    ------
    UnknownName
        If there is no such problem.
    """
    from clusterkit.errors import UnknownName, nearest_names, need
    from clusterkit.plots.figure import COLORS, FAINT, frame

    names = [problem.name for problem in PROBLEMS]
    if name not in names:
        raise UnknownName(f"no problem named {name!r}. {nearest_names(name, names)}")
    need("matplotlib", "a picture", "plots")
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    if rows is None:
        from clusterkit_papers import reproduce

        rows = reproduce("m3-figures")
    curves = curves_of(rows, name)
    figure = Figure(figsize=(11, 6.4), dpi=100, facecolor="white", layout="constrained")
    axes: Any = figure.subplots(2, 3, sharex=True)
    styles = dict(zip(PARTITIONERS, zip(COLORS[3:4] + COLORS[1:2] + COLORS[:1], "so^", strict=True), strict=True))
    for axis, cell in zip(axes.flat, CELLS, strict=True):
        for partitioner, (color, marker) in styles.items():
            draw_curve(axis, curves.get((partitioner, cell.column), ()), partitioner, color, marker)
        plain = curves.get((PLAIN, cell.column), ())
        if plain and cell.measure != "partition":
            axis.axhline(plain[0][1], color=FAINT, linestyle="--", linewidth=1.1, label=f"{PLAIN} (K = 1)")
        if cell.measure in ("supports", "parallel", "partition"):
            plain_log(axis.yaxis)
        elif cell.measure == "sequential":
            axis.set_ylim(bottom=0.0)
        frame(axis, cell.column, ("K, parts of each class" if axis in axes[1] else "", ""))
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.grid(color="#e6e6e6", linewidth=0.6)
    finish(figure, axes, path, loc="outside upper center", ncols=4, fontsize=9.5, title=name)
    return axes


def curves_of(rows: Sequence[Mapping[str, object]], name: str) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Points (K, ours) of a problem by partitioner and column."""
    curves: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row in rows:
        problem, _, rest = str(row["row"]).partition(": K = ")
        if problem == name and rest and row["ours"] is not None:
            K, _, partitioner = rest.partition(", ")
            curves.setdefault((partitioner, str(row["column"])), []).append((int(K), float(row["ours"])))
    return curves
