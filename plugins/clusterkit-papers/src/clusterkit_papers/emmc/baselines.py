"""EMMC, tables 7 to 10: the methods it is compared with, on the same data."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import attrs
import numpy as np

from clusterkit.core.errors import InvalidData, NeedsMemory, UnknownName
from clusterkit_papers.emmc.settings import Setting
from clusterkit_papers.fits import best_by_labels, fit
from clusterkit_papers.jobs import Cell, Findings, Job, NotRun, Plan, Step, Values

__all__ = ["WIDTHS", "Method", "graphs", "job", "margins", "times"]

WIDTHS = (0.1, 0.2, 0.3, 0.5, 1.0)
"""Of the kernel, as fractions of the largest distance: a part of the paper's 0.1, 0.2, ..., 1.0."""
WIDTH = "featuremap__sigma_fraction"
SUBSET = 100
GAUSSIAN = ({"name": "rbf", "sigma_fraction": 0.3},)
LAMBDAS = (0.01, 0.1, 1.0, 10.0)

Grid = Mapping[str, Sequence[float]]


@attrs.frozen
class Method:
    """A recipe in the place of a printed method.

    Parameters
    ----------
    column : str
        The printed method.
    recipe : str
    what : str
        Names the row.
    balance : {"sizes", "outputs", "none"}, default "none"
        What the printed l bounds: the sizes, which caps accuracy, or the sum of outputs, whose signs (or largest) are
        the labels whatever the sizes.
    changes : mapping
        Of the recipe's parameters.
    grid : mapping
        Parameters that the known classes choose, all combinations being tried.
    note : str
    """

    column: str
    recipe: str
    what: str
    balance: Literal["sizes", "outputs", "none"] = "none"
    changes: Mapping[str, Any] = attrs.field(factory=dict)
    grid: Grid = attrs.field(factory=dict)
    note: str = ""

    def fit(self, setting: Setting, X: np.ndarray, y: np.ndarray, seed: int, **chosen: Any) -> Values:
        """One run."""
        parameters = {**self.changes, **chosen}
        if self.balance != "none":
            parameters["balancer"] = {"name": "band", "slack": setting.slack}
        if self.balance == "outputs":
            parameters["reading"] = _by_outputs
        return fit(X, y, self.recipe, seed, **parameters)


def margins(plan: Plan, setting: Setting, tag: str = "") -> list[Job]:
    """MMC, GMMC, IterSVR and CPMMC on a set, accuracy and Rand index."""
    two = setting.classes == 2
    jobs = [_relaxed(plan, setting)] if not tag else []
    if not tag and not plan.quick and two and setting.small:
        jobs += [_of_a_part(plan, setting, width) for width in (None, 0.3)]
    methods = [*(_two(setting) if two else _more(setting))]
    if tag:  # the same data in other units
        methods = [method for method in methods if method.column in ("IterSVR", "CPMMC")]
    return jobs + [job(plan, setting, method, tag=tag) for method in methods if not (plan.quick and method.grid)]


def times(plan: Plan, setting: Setting) -> list[Job]:
    """The same without the choices by labels, CPU seconds."""
    two = setting.classes == 2
    methods = [method for method in (_two(setting) if two else _more(setting)) if not method.grid]
    cells = {method: (Cell(f"{method} CPU (s)", "cpu"),) for method in ("MMC", "GMMC", "IterSVR", "CPMMC")}
    return [
        _relaxed(plan, setting, cells["MMC"]),
        *(job(plan, setting, method, cells[method.column], warm=True) for method in methods),
    ]


def graphs(plan: Plan, setting: Setting) -> list[Job]:
    """Normalised cut and the mixture smooth over a graph, accuracy and Rand index."""
    once = setting.runs == 1
    methods = [
        Method("NC", "ncut", "ncut"),
        Method("NC", "ncut", "ncut, width by labels", grid={WIDTH: WIDTHS}),
        Method("LapGMM", "lapgmm", "lapgmm", changes={"n_init": 1}, note="one start instead of five")
        if once
        else Method("LapGMM", "lapgmm", "lapgmm"),
    ]
    if not once:
        methods.append(Method("LapGMM", "lapgmm", "lapgmm, lambda by labels", grid={"solver__smoothness": LAMBDAS}))
    return [job(plan, setting, method) for method in methods if not (plan.quick and method.grid)]


def job(
    plan: Plan,
    setting: Setting,
    method: Method,
    cells: tuple[Cell, ...] = (),
    *,
    tag: str = "",
    warm: bool = False,
    uses_labels: bool = False,
) -> Job:
    """A method on a set; with `warm` after an untimed fit to a few rows."""
    seeds, row = plan.seeds(setting.runs), f"{setting.name}: {method.what}{tag}"
    choices = [dict(zip(method.grid, values, strict=True)) for values in itertools.product(*method.grid.values())]

    def run(step: Step) -> Findings:
        X, y = setting.load()
        if warm:
            few = slice(None, None, max(1, len(X) // 100))
            method.fit(setting, X[few], y[few], seeds[0])

        def at(chosen: Mapping[str, float]) -> list[Values]:
            found = []
            for seed in seeds:
                found.append(method.fit(setting, X, y, seed, **chosen))
                step(f"{row}, {_said(chosen)}seed {seed}")
            return found

        chosen, best = best_by_labels(choices, at)
        cap = setting.cap(y) if method.balance == "sizes" else None
        capped = cap is not None and cap < 100 and any(cell.measure == "accuracy" for cell in cells or _cells(method))
        notes = [f"{_said(chosen)}by labels of {_tried(method.grid)}" if chosen else ""]
        notes.append(f"balance caps accuracy at {cap:.1f}" if capped else "")
        return Findings(best, "; ".join(note for note in notes if note), cap)

    units = len(seeds) * len(choices)
    notes = "; ".join(note for note in (method.note, setting.remark) if note)
    return Job(setting.name, row, cells or _cells(method), run, units, uses_labels or bool(method.grid), notes)


def _two(setting: Setting) -> list[Method]:
    """Methods for two clusters, each as it stands and with what the paper chooses."""
    methods = []
    if setting.small:
        methods.append(Method("GMMC", "gmmc", "gmmc"))
        methods.append(Method("GMMC", "gmmc", "gmmc, width by labels", grid={WIDTH: WIDTHS}))
    methods.append(Method("IterSVR", "itersvr", "itersvr", "sizes", note="C = 1: the paper gives none"))
    if setting.name != "Ringnorm":  # minutes, for what the recipe reaches as it stands
        methods.append(Method("IterSVR", "itersvr", "itersvr, width by labels", "sizes", grid={WIDTH: WIDTHS}))
    rbf: dict[str, Any] = {"featuremap": list(GAUSSIAN), "solver__C": 10.0}
    kernel, linear = "width 0.3, C = 10", "a plane; the paper has a kernel"
    return [
        *methods,
        Method("CPMMC", "cpmmc", "cpmmc", "outputs", note=linear),
        Method("CPMMC", "cpmmc", "cpmmc, rbf", "outputs", rbf, note=kernel),
        Method(
            "CPMMC",
            "cpmmc",
            "cpmmc, rbf, width and C by labels",
            "outputs",
            {"featuremap": list(GAUSSIAN)},
            {WIDTH: WIDTHS, "solver__C": (1.0, 10.0, 100.0)},
        ),
    ]


def _more(setting: Setting) -> list[Method]:
    """CPMMC for more clusters; the paper prints it under the same name."""
    many = setting.runs == 1
    weights = (1.0, 10.0, 100.0) if setting.small else (1.0, 10.0)  # C = 100 takes a minute a fit
    grid: Grid = {WIDTH: (0.1, 0.3, 0.5)} if many else {WIDTH: WIDTHS, "solver__C": weights}
    chosen = "width by labels" if many else "width and C by labels"
    return [
        Method("CPMMC", "cpm3c", "cpm3c", "outputs"),
        Method("CPMMC", "cpm3c", f"cpm3c, {chosen}", "outputs", grid=grid),
    ]


def _relaxed(plan: Plan, setting: Setting, cells: tuple[Cell, ...] = ()) -> Job:
    """MMC on the whole set, which mostly is refused."""
    method = Method("MMC", "mmc", "mmc", "sizes")
    wanted = cells or _cells(method)

    def run(step: Step) -> Findings:
        if setting.classes > 2:
            raise NotRun("recipe 'mmc' takes two clusters only")
        return _refusable(lambda: job(plan, setting, method, wanted).run(step))

    return attrs.evolve(job(plan, setting, method, wanted), run=run)


def _of_a_part(plan: Plan, setting: Setting, width: float | None) -> Job:
    """MMC on random rows, other ones for each seed."""
    what, changes = f"mmc, {SUBSET} random rows", {}
    if width is not None:
        what, changes = f"{what}, width {width:g}", {WIDTH: width}
    method = Method("MMC", "mmc", what, "sizes", changes)
    seeds, row = plan.seeds(), f"{setting.name}: {method.what}"

    def run(step: Step) -> Findings:
        X, y = setting.load()

        def at(seed: int) -> Values:
            rows = np.random.default_rng(seed).choice(len(X), SUBSET, replace=False)
            found = method.fit(setting, X[rows], y[rows], seed)
            step(f"{row}, seed {seed}")
            return found

        return _refusable(lambda: Findings([at(seed) for seed in seeds]))

    note = "width 0.05, that of the recipe" if width is None else ""
    part = f"{SUBSET} random rows"
    return Job(setting.name, row, _cells(method), run, len(seeds), note=note, comparable=False, part=part)


def _refusable(run: Callable[[], Findings]) -> Findings:
    try:
        return run()
    except UnknownName:
        raise NotRun("recipe 'mmc' comes with the plugin clusterkit-sdp, which is not installed") from None
    except (InvalidData, NeedsMemory) as error:
        raise NotRun(str(error).split(": ")[0]) from None  # the rest is what it would take


def _by_outputs(model: Any) -> np.ndarray:
    """The labels of the outputs, before rows are moved to keep sizes."""
    rows: np.ndarray = model.outcome_.rows
    return rows[:, 0] > 0 if rows.shape[1] == 1 else rows.argmax(axis=1)


def _cells(method: Method) -> tuple[Cell, ...]:
    return Cell(f"{method.column} Acc", "accuracy"), Cell(f"{method.column} RI", "rand")


def _said(chosen: Mapping[str, float]) -> str:
    return "".join(f"{NAMES[key]} = {value:g}, " for key, value in chosen.items())


def _tried(grid: Grid) -> str:
    return " and ".join("{" + ", ".join(f"{value:g}" for value in values) + "}" for values in grid.values())


NAMES = {WIDTH: "width", "solver__C": "C", "solver__smoothness": "lambda"}
