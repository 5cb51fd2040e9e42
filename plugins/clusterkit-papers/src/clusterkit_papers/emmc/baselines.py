"""EMMC, tables 7 to 10: the methods that EMMC is compared with, on the same data."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import attrs
import numpy as np

from clusterkit.errors import InvalidData, NeedsMemory, UnknownName
from clusterkit_papers.emmc.complexity import CHOSEN_ON, first_runs
from clusterkit_papers.emmc.data_sets import EmmcDataSet
from clusterkit_papers.fits import best_by_labels, judged_fit, mean_accuracy
from clusterkit_papers.jobs import Cell, Job, Measurements, NotRun, Plan, Step, Values

__all__ = ["WIDTHS", "Baseline", "baseline_job", "graphs", "margins", "times"]

WIDTHS = (0.1, 0.2, 0.3, 0.5, 1.0)
"""Widths of the kernel, as fractions of the largest distance: a part of the paper's 0.1, 0.2, ..., 1.0."""

WIDTH = "featuremap__sigma_fraction"
"""The parameter of the recipes that holds such a width."""

KERNEL_CUT: Mapping[str, object] = {"featuremap": "rbf", WIDTH: 0.2, "solver__normalize": False}
"""The normalised cut of the papers, of a Gaussian affinity of all pairs; 0.2 is the middle of their widths."""

SUBSET = 80
"""Number of random rows on which MMC runs too: the three printed accuracies of table 7 are 63, 55 and 77 of 80, and no
whole number of 351, 361 or 354 rows gives them. The program for many clusters is too large for the whole sets."""

GAUSSIAN = ({"name": "rbf", "sigma_fraction": 0.3},)
"""The feature map of CPMMC with a kernel; 0.3 is the middle of `WIDTHS`."""

CHOICE_ROWS = 3000
"""Random rows on which known classes compare parameters, on sets with slow fits; the other sets have up to 3,096."""

TIMED = ("gmmc", "itersvr", "cpmmc, rbf", "cpm3c")
"""The rows of the times that are the paper's own: the printed kernel, at one width, since a time needs no choice."""

FINALISTS = 3
"""The best parameters on these rows are compared once more, on all rows and the first run."""

LAMBDAS = (0.01, 0.1, 1.0, 10.0)
"""Weights of the graph in LapGMM that known classes may choose from."""

Grid = Mapping[str, Sequence[float]]
"""Values to try by parameter name."""


@attrs.frozen
class Baseline:
    """A recipe in the place of a printed method that EMMC is compared with.

    Parameters
    ----------
    column : str
        The printed name of the method, which begins its columns.
    recipe : str
    what : str
        The name of the row.
    balance : {"sizes", "outputs", "none"}, default "none"
        Quantity that the printed l bounds. "sizes": the difference of the cluster sizes, which caps the accuracy.
        "outputs": the sum of the outputs; the labels are their signs (or the largest output), whatever sizes that
        gives.
    changes : mapping
        Parameters of the recipe that differ from its defaults.
    grid : mapping
        Parameters that the known classes choose; all combinations are tried.
    note : str
    as_described : bool
        Whether the paper describes the method so.
    """

    column: str
    recipe: str
    what: str
    balance: Literal["sizes", "outputs", "none"] = "none"
    changes: Mapping[str, object] = attrs.field(factory=dict)
    grid: Grid = attrs.field(factory=dict)
    note: str = ""
    as_described: bool = False

    def fit(self, data_set: EmmcDataSet, X: np.ndarray, y: np.ndarray, seed: int, **chosen: object) -> Values:
        """One run of the method; `chosen` are the values of its grid."""
        parameters: dict[str, Any] = {**self.changes, **chosen}
        if self.balance != "none":
            parameters["balancer"] = {"name": "band", "slack": data_set.slack}
        if self.balance == "outputs":
            parameters["labels_of"] = _by_outputs
        return judged_fit(X, y, self.recipe, seed, **parameters)


def margins(plan: Plan, data_set: EmmcDataSet, tag: str = "") -> list[Job]:
    """MMC, GMMC, IterSVR and CPMMC on a data set: accuracy and Rand index."""
    two = data_set.classes == 2
    jobs = _relaxed(plan, data_set) if not tag else []
    if not tag and not plan.quick and data_set.small:
        jobs += _relaxed(plan, data_set, grid={WIDTH: WIDTHS}) if two else []
        # the program for many clusters takes minutes at the narrowest width, the others 7 to 46 s
        widths = WIDTHS if two else WIDTHS[1:]
        jobs += [_of_a_part(plan, data_set), _of_a_part(plan, data_set, grid={WIDTH: widths})]
    methods = [*(_two(data_set) if two else _more(data_set))]
    if tag:  # the same data in other units
        methods = [method for method in methods if method.column in ("IterSVR", "CPMMC")]
    return jobs + [
        baseline_job(plan, data_set, method, tag=tag) for method in methods if not (plan.quick and method.grid)
    ]


def times(plan: Plan, data_set: EmmcDataSet) -> list[Job]:
    """CPU seconds of the same methods, without the rows whose parameters the known classes choose."""
    two = data_set.classes == 2
    methods = [method for method in (_two(data_set) if two else _more(data_set)) if not method.grid]
    cells = {method: (Cell(f"{method} CPU (s)", "cpu"),) for method in ("MMC", "GMMC", "IterSVR", "CPMMC")}
    return [
        *_relaxed(plan, data_set, cells["MMC"]),
        *(
            attrs.evolve(
                baseline_job(plan, data_set, method, cells[method.column], untimed_first=True),
                as_described=method.what in TIMED,
            )
            for method in methods
        ),
    ]


def graphs(plan: Plan, data_set: EmmcDataSet) -> list[Job]:
    """Normalised cut and the Gaussian mixture that is smooth over a graph: accuracy and Rand index."""
    once = data_set.slow_runs is not None and data_set.classes > 2
    methods = [
        Baseline("NC", "ncut", "ncut", changes=KERNEL_CUT, as_described=True),
        Baseline("NC", "ncut", "ncut, width by labels", changes=KERNEL_CUT, grid={WIDTH: WIDTHS}),
        Baseline(
            "LapGMM", "lapgmm", "lapgmm", changes={"n_init": 1}, note="one start instead of five", as_described=True
        )
        if once
        else Baseline("LapGMM", "lapgmm", "lapgmm", as_described=True),
    ]
    grid = {"solver__smoothness": LAMBDAS}
    methods.append(attrs.evolve(methods[-1], what="lapgmm, lambda by labels", grid=grid, as_described=False))
    return [baseline_job(plan, data_set, method) for method in methods if not (plan.quick and method.grid)]


def baseline_job(
    plan: Plan,
    data_set: EmmcDataSet,
    method: Baseline,
    cells: tuple[Cell, ...] = (),
    *,
    tag: str = "",
    untimed_first: bool = False,
    uses_labels: bool = False,
) -> Job:
    """A job that runs a method on a data set.

    Parameters
    ----------
    plan : Plan
    data_set : EmmcDataSet
    method : Baseline
    cells : tuple of Cell
        By default accuracy and Rand index of the method.
    tag : str
        Appended to the name of the row.
    untimed_first : bool
        Whether a fit to about a hundred rows comes first, so that compiling is not measured.
    uses_labels : bool
        Whether the caller chose something by known classes.
    """
    seeds, row = plan.seeds(data_set.slow_runs or data_set.runs), f"{data_set.name}: {method.what}{tag}"
    chosen_on, large = seeds[:CHOSEN_ON], data_set.slow_runs is not None
    choices = [dict(zip(method.grid, values, strict=True)) for values in itertools.product(*method.grid.values())]

    def run(step: Step) -> Measurements:
        X, y = data_set.load()
        if untimed_first:
            few = slice(None, None, max(1, len(X) // 100))
            method.fit(data_set, X[few], y[few], seeds[0])

        def fits(X: np.ndarray, y: np.ndarray, seeds: Sequence[int], chosen: Mapping[str, float]) -> list[Values]:
            runs = []
            for seed in seeds:
                runs.append(method.fit(data_set, X, y, seed, **chosen))
                step(f"{row}, {_in_words(chosen)}seed {seed}")
            return runs

        chosen: Mapping[str, float] = {}
        if method.grid and large:
            some = np.random.default_rng(0).permutation(len(X))[:CHOICE_ROWS]
            tried = [(mean_accuracy(fits(X[some], y[some], chosen_on, values)), values) for values in choices]
            finalists = [values for _, values in sorted(tried, key=lambda pair: -pair[0])[:FINALISTS]]
            chosen, _ = best_by_labels(finalists, lambda values: fits(X, y, seeds[:1], values))
        elif method.grid:
            chosen, _ = best_by_labels(choices, lambda values: fits(X, y, chosen_on, values))
        runs = fits(X, y, seeds, chosen)
        cap = data_set.cap(y) if method.balance == "sizes" else None
        capped = cap is not None and cap < 100 and any(cell.measure == "accuracy" for cell in cells or _cells(method))
        where = f" on {CHOICE_ROWS:,} random rows" if large else ""
        how = f"by labels of {_values_in_words(method.grid)}{where}, {first_runs(len(seeds))}"
        notes = [f"{_in_words(chosen)}{how}" if chosen else ""]
        notes.append(f"balance caps accuracy at {cap:.1f}" if capped else "")
        return Measurements(runs, "; ".join(note for note in notes if note), cap)

    finals = min(FINALISTS, len(choices)) if large else 0
    units = len(seeds) + (len(chosen_on) * len(choices) + finals if method.grid else 0)
    notes = "; ".join(note for note in (method.note, data_set.remark) if note)
    return Job(
        data_set.name,
        row,
        cells or _cells(method),
        run,
        units,
        uses_labels or bool(method.grid),
        notes,
        as_described=method.as_described and not tag,
    )


def _two(data_set: EmmcDataSet) -> list[Baseline]:
    """Methods for two clusters, each with the recipe's defaults and with the parameters that the paper chooses."""
    methods = []
    if data_set.small:
        methods.append(Baseline("GMMC", "gmmc", "gmmc"))
        methods.append(Baseline("GMMC", "gmmc", "gmmc, width by labels", grid={WIDTH: WIDTHS}, as_described=True))
    methods.append(Baseline("IterSVR", "itersvr", "itersvr", "sizes", note="C = 1: the paper gives none"))
    methods.append(
        Baseline("IterSVR", "itersvr", "itersvr, width by labels", "sizes", grid={WIDTH: WIDTHS}, as_described=True)
    )
    rbf: dict[str, Any] = {"featuremap": list(GAUSSIAN), "solver__C": 10.0}
    kernel, linear = "width 0.3, C = 10", "a plane; the paper has a kernel"
    return [
        *methods,
        Baseline("CPMMC", "cpmmc", "cpmmc", "outputs", note=linear),
        Baseline("CPMMC", "cpmmc", "cpmmc, rbf", "outputs", rbf, note=kernel),
        Baseline(
            "CPMMC",
            "cpmmc",
            "cpmmc, rbf, width and C by labels",
            "outputs",
            {"featuremap": list(GAUSSIAN)},
            {WIDTH: WIDTHS, "solver__C": (1.0, 10.0, 100.0)},
            as_described=True,
        ),
    ]


def _more(data_set: EmmcDataSet) -> list[Baseline]:
    """CPMMC for more clusters; the paper prints it under the same name."""
    many = data_set.slow_runs is not None
    weights = (1.0, 10.0, 100.0) if data_set.small else (1.0, 10.0)  # C = 100 takes a minute a fit
    grid: Grid = {WIDTH: (0.1, 0.3, 0.5)} if many else {WIDTH: WIDTHS, "solver__C": weights}
    chosen = "width by labels" if many else "width and C by labels"
    return [
        Baseline("CPMMC", "cpm3c", "cpm3c", "outputs"),
        Baseline("CPMMC", "cpm3c", f"cpm3c, {chosen}", "outputs", grid=grid, as_described=True),
    ]


def _relaxed(plan: Plan, data_set: EmmcDataSet, cells: tuple[Cell, ...] = (), grid: Grid | None = None) -> list[Job]:
    """MMC on the whole data set, once since nothing in it is random; where there are too many rows, why it refuses.

    A quick run leaves out the sets that it would solve.
    """
    if plan.quick and data_set.small:
        return []
    method = attrs.evolve(_mmc(data_set, grid or {}), as_described=True)
    solved = data_set.small and data_set.classes == 2
    if solved:  # the paper searches for the width; a time needs none
        method = attrs.evolve(method, as_described=bool(grid or cells))
    once = attrs.evolve(data_set, runs=1, slow_runs=None)
    job = baseline_job(plan, once, method, cells or _cells(method), untimed_first=solved and bool(cells))
    return [attrs.evolve(job, run=lambda step: _refusable(method.recipe, lambda: job.run(step)))]


def _of_a_part(plan: Plan, data_set: EmmcDataSet, grid: Grid | None = None) -> Job:
    """MMC on random rows, drawn anew for each seed; `grid` has the widths that the known classes choose from."""
    method, part = _mmc(data_set, grid or {}), f"{SUBSET} random rows"
    choices = [{WIDTH: width} for width in method.grid.get(WIDTH, ())]
    what = f"{method.recipe}, {part}{', width by labels' if choices else ''}"
    seeds, row = plan.seeds(), f"{data_set.name}: {what}"

    def run(step: Step) -> Measurements:
        X, y = data_set.load()

        def fits(chosen: Mapping[str, float]) -> list[Values]:
            runs = []
            for seed in seeds:
                rows = np.random.default_rng(seed).choice(len(X), SUBSET, replace=False)
                runs.append(method.fit(data_set, X[rows], y[rows], seed, **chosen))
                step(f"{row}, {_in_words(chosen)}seed {seed}")
            return runs

        if not choices:
            return Measurements(fits({}))
        chosen, runs = best_by_labels(choices, fits)
        return Measurements(runs, f"{_in_words(chosen)}by labels of {_values_in_words(method.grid)}")

    return Job(
        data_set.name,
        row,
        _cells(method),
        lambda step: _refusable(method.recipe, lambda: run(step)),
        len(seeds) * max(1, len(choices)),
        uses_labels=bool(choices),
        comparable=False,
        part=part,
    )


def _mmc(data_set: EmmcDataSet, grid: Grid) -> Baseline:
    """The semidefinite program for as many clusters as the data set has classes."""
    name = "mmc" if data_set.classes == 2 else "mmc-multi"
    return Baseline("MMC", name, f"{name}, width by labels" if grid else name, "sizes", grid=grid)


def _refusable(recipe: str, run: Callable[[], Measurements]) -> Measurements:
    """Call `run`, which fits a recipe; if that refuses (no plugin, too many rows, too much memory) the row says why."""
    try:
        return run()
    except UnknownName:
        raise NotRun(f"recipe '{recipe}' comes with the plugin clusterkit-sdp, which is not installed") from None
    except (InvalidData, NeedsMemory) as error:
        raise NotRun(str(error).split(": ")[0]) from None  # the rest is what it would take


def _by_outputs(model: Any) -> np.ndarray:
    """The labels that the outputs give, before the balancer moves rows to keep the sizes."""
    rows: np.ndarray = model.outcome_.rows
    return rows[:, 0] > 0 if rows.shape[1] == 1 else rows.argmax(axis=1)


def _cells(method: Baseline) -> tuple[Cell, ...]:
    return Cell(f"{method.column} Acc", "accuracy"), Cell(f"{method.column} RI", "rand")


def _in_words(chosen: Mapping[str, float]) -> str:
    """Chosen values, for notes and progress."""
    return "".join(f"{NAMES[key]} = {value:g}, " for key, value in chosen.items())


def _values_in_words(grid: Grid) -> str:
    """The values that were tried, for notes."""
    return " and ".join("{" + ", ".join(f"{value:g}" for value in values) + "}" for values in grid.values())


NAMES = {WIDTH: "width", "solver__C": "C", "solver__smoothness": "lambda"}
"""Names of the grids' parameters in notes."""
