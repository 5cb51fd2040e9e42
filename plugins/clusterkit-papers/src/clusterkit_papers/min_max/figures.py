"""Min-max modular machine, table II and the figures: accuracy, support vectors and times against parts of a class."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from clusterkit.core.stages import Task
from clusterkit_papers.jobs import Cell, Findings, Job, Plan, Step, Values
from clusterkit_papers.min_max.sets import SETTINGS, Problem, Setting

__all__ = ["PARTITIONERS", "Bench", "draw", "figures"]

PARTITIONERS = ("random", "geoclust", "equal")
PLAIN = "plain machine"
CELLS = (
    Cell("accuracy (%)", "accuracy"),
    Cell("support vectors", "supports"),
    Cell("distinct support vectors", "supports_distinct"),
    Cell("sequential (s)", "sequential"),
    Cell("parallel (s)", "parallel"),
    Cell("partition (s)", "partition"),
)
CLAIMS = (
    Cell("more accurate (% of K)", "accurate"),
    Cell("fewer support vectors (% of K)", "sparse"),
    Cell("less sequential time, with partition (% of K)", "sequential_share"),
    Cell("less parallel time (% of K)", "parallel_share"),
)
MEANING = "C and gamma as printed; sequential: sum of the processor times of the modules, parallel: the longest"
SAID = (
    'the paper says of equal clustering: more accurate than random parts "most of the time", above the plain machine, '
    "fewer support vectors, less sequential time even with the partition, less parallel time without it"
)


@attrs.define(eq=False)
class Bench:
    """A problem, and what was measured on it so far."""

    setting: Setting
    _problem: Problem | None = attrs.field(default=None, init=False)
    _fits: dict[tuple[str, int, int], Values] = attrs.field(factory=dict, init=False)
    _partitions: dict[tuple[str, int, int], float] = attrs.field(factory=dict, init=False)

    @property
    def problem(self) -> Problem:
        """The rows, loaded and all loops compiled on first use, so that no time measured is one of that."""
        if self._problem is None:
            self._problem = self.setting.load()
            _warm(self._problem.X.shape[1])
        return self._problem

    def fit(self, partitioner: str, K: int, seed: int) -> Values:
        """What one fit measures; known fits are not made again. The plain machine has no seed."""
        key = (partitioner, K, seed) if K > 1 else (PLAIN, 1, 0)
        if key not in self._fits:
            self._fits[key] = self._fitted("random" if K == 1 else partitioner, K, seed)
        return self._fits[key]

    def _fitted(self, partitioner: str, K: int, seed: int) -> Values:
        from clusterkit import MinMaxModularSVC

        rows = self.problem
        begin = time.perf_counter()
        model = MinMaxModularSVC(K, partitioner, random_state=seed, **self.setting.machine).fit(rows.X, rows.y)
        seconds = time.perf_counter() - begin
        report = model.fit_report_
        return {
            "accuracy": 100.0 * model.score(rows.X_test, rows.y_test),
            "supports": float(report["n_support"]),
            "supports_distinct": float(report["n_support_distinct"]),
            "sequential": report["sequential_seconds"],
            "parallel": report["parallel_seconds"],
            "partition": report["partition_seconds"],
            "seconds": seconds,
        }

    def partition(self, partitioner: str, K: int, seed: int) -> float:
        """Seconds to split both classes, without machines where there is no fit yet."""
        if (partitioner, K, seed) in self._fits:
            return self._fits[partitioner, K, seed]["partition"]
        key = (partitioner, K, seed)
        if key not in self._partitions:
            from clusterkit.drivers import compose

            stage: Any = compose.resolve("init", partitioner)
            rows = self.problem
            classes = [rows.X[rows.y == each] for each in (0, 1)]
            begin = time.perf_counter()
            for each, X in enumerate(classes):
                stage.partition(X, Task(len(X), K), np.random.default_rng((seed, each)))
            self._partitions[key] = time.perf_counter() - begin
        return self._partitions[key]


def _warm(d: int) -> None:
    """Import and compile what fits of d attributes need."""
    from clusterkit import MinMaxModularSVC

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, d)), np.arange(200) % 2
    for K in (2, 3):
        for name in PARTITIONERS:
            stage = {"name": name} if name == "random" else {"name": name, "max_iter": 5}
            MinMaxModularSVC(K, stage, random_state=0).fit(X, y).predict(X)


def figures(plan: Plan, settings: Sequence[Setting] = SETTINGS) -> list[Job]:
    """Every number of parts with every partitioner, how often the claims hold, and the mean time of a partition.

    Quick takes two numbers of parts of the main problems, and three for the time of a partition.
    """
    jobs: list[Job] = []
    for setting in settings:
        bench, seeds = Bench(setting), plan.seeds(setting.runs)
        ks = setting.quick if plan.quick else setting.ks
        jobs += [_fits(bench, K, name, seeds) for K in ks for name in (PARTITIONERS if K > 1 else (PLAIN,))]
        several = tuple(K for K in ks if K > 1)
        if 1 in ks and several:
            jobs += [_claims(bench, several, other, seeds) for other in (*PARTITIONERS[:2], PLAIN)]
        if setting.partitioned:
            averaged = setting.partitioned[::9] if plan.quick else setting.partitioned
            jobs += [_partitions(bench, averaged, name, seeds) for name in ("random", "equal")]
    return jobs


def _fits(bench: Bench, K: int, partitioner: str, seeds: Sequence[int]) -> Job:
    setting = bench.setting
    row = f"{setting.name}: K = {K}, {partitioner}"
    seeds = seeds if K > 1 else seeds[:1]

    def run(step: Step) -> Findings:
        found = []
        for seed in seeds:
            found.append(bench.fit(partitioner, K, seed))
            step(f"{row}, seed {seed}")
        return Findings(found)

    return Job(setting.of, row, CELLS, run, len(seeds), note=f"{setting.words}; {MEANING}")


def _claims(bench: Bench, ks: Sequence[int], other: str, seeds: Sequence[int]) -> Job:
    """How many of the numbers of parts have equal clustering ahead of another partition, or of no partition."""
    setting = bench.setting
    row = f"{setting.name}: equal against {other}, {_words(ks)}"

    def run(step: Step) -> Findings:
        begin = time.perf_counter()
        found = []
        for seed in seeds:
            pairs = [(bench.fit("equal", K, seed), bench.fit(other, 1 if other == PLAIN else K, seed)) for K in ks]
            found.append({name: 100.0 * statistics.fmean(values) for name, values in _ahead(pairs).items()})
        step(row)
        seconds = (time.perf_counter() - begin) / len(seeds)
        return Findings([values | {"seconds": seconds} for values in found])

    return Job(setting.of, row, CLAIMS, run, 1, note=SAID)


def _ahead(pairs: Sequence[tuple[Values, Values]]) -> dict[str, list[bool]]:
    def whole(values: Values) -> float:
        return values["sequential"] + values["partition"]

    return {
        "accurate": [ours["accuracy"] > theirs["accuracy"] for ours, theirs in pairs],
        "sparse": [ours["supports"] < theirs["supports"] for ours, theirs in pairs],
        "sequential_share": [whole(ours) < whole(theirs) for ours, theirs in pairs],
        "parallel_share": [ours["parallel"] < theirs["parallel"] for ours, theirs in pairs],
    }


def _partitions(bench: Bench, ks: Sequence[int], partitioner: str, seeds: Sequence[int]) -> Job:
    setting = bench.setting
    row = f"{setting.name}: {partitioner}, mean over {_words(ks)}"

    def run(step: Step) -> Findings:
        found = []
        for seed in seeds:
            seconds = statistics.fmean(bench.partition(partitioner, K, seed) for K in ks)
            found.append({"partition": seconds, "seconds": seconds})
            step(f"{row}, seed {seed}")
        return Findings(found)

    comparable = tuple(ks) == setting.partitioned
    cells = (Cell(f"partition, {partitioner} (s)", "partition"),)
    note = f"{setting.words}; both classes together"
    return Job(setting.of, row, cells, run, len(seeds), note=note, comparable=comparable)


def _words(ks: Sequence[int]) -> str:
    whole = len(ks) > 2 and tuple(ks) == tuple(range(ks[0], ks[-1] + 1))
    return f"K = {ks[0]}..{ks[-1]}" if whole else f"K = {', '.join(map(str, ks))}"


def draw(path: str | None = None, rows: Sequence[Mapping[str, Any]] | None = None, name: str = "Banana") -> Any:
    """The curves of one problem; needs the extra ``plots``.

    Parameters
    ----------
    path : str, optional
        Where to save the picture; the ending decides the format.
    rows : sequence of mapping, optional
        What ``papers.reproduce("m3-figures")`` gave, or its ``--json``. Default: run it, which takes some minutes.
    name : str, default "Banana"
        Of the problem as rows have it: "Banana", "Banana raw", "Banana 40,000", "Letter", "Letter raw".

    Returns
    -------
    ndarray of shape (2, 3)
        The axes: accuracy, support vectors, distinct ones; sequential, parallel and partition time. All against K.

    Raises
    ------
    UnknownName
        If there is no such problem.
    """
    from clusterkit.core.errors import UnknownName, nearest_names
    from clusterkit.plots._figure import COLORS, FAINT, frame, matplotlib_or_raise

    known = [setting.name for setting in SETTINGS]
    if name not in known:
        raise UnknownName(f"no problem named {name!r}. {nearest_names(name, known)}")
    matplotlib_or_raise()
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

    if rows is None:
        from clusterkit_papers import reproduce

        rows = reproduce("m3-figures")
    curves = _curves(rows, name)
    figure = Figure(figsize=(11, 6.4), dpi=100, facecolor="white", layout="constrained")
    axes: Any = figure.subplots(2, 3, sharex=True)
    styles = dict(zip(PARTITIONERS, zip(COLORS[3:4] + COLORS[1:2] + COLORS[:1], "so^", strict=True), strict=True))
    for axis, cell in zip(axes.flat, CELLS, strict=True):
        for partitioner, (color, marker) in styles.items():
            values = sorted(curves.get((partitioner, cell.column), ()))
            if values:
                x, y = np.array(values).T
                axis.plot(x, y, "-", color=color, marker=marker, markersize=4, linewidth=1.2, label=partitioner)
        plain = curves.get((PLAIN, cell.column), ())
        if plain and cell.measure != "partition":
            axis.axhline(plain[0][1], color=FAINT, linestyle="--", linewidth=1.1, label=f"{PLAIN} (K = 1)")
        if cell.measure in ("supports", "parallel", "partition"):
            axis.set_yscale("log")
            axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
            axis.yaxis.set_minor_formatter(NullFormatter())
        elif cell.measure == "sequential":
            axis.set_ylim(bottom=0.0)
        frame(axis, cell.column, ("K, parts of each class" if axis in axes[1] else "", ""))
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.grid(color="#e6e6e6", linewidth=0.6)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, fontsize=9.5, title=name)
    if path is not None:
        figure.savefig(path)
    return axes


def _curves(rows: Sequence[Mapping[str, Any]], name: str) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Points (K, ours) of a problem by partitioner and column."""
    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row in rows:
        problem, _, rest = str(row["row"]).partition(": K = ")
        if problem == name and rest and row["ours"] is not None:
            K, _, partitioner = rest.partition(", ")
            found.setdefault((partitioner, str(row["column"])), []).append((int(K), float(row["ours"])))
    return found
