"""EMMC, figures 1 and 2: accuracy and time against the number of hidden nodes L."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from clusterkit_papers.axes import draw_curve, finish, plain_log
from clusterkit_papers.emmc.data_sets import FEW, TWO, EmmcDataSet
from clusterkit_papers.emmc.readings import RECIPE, readings_of
from clusterkit_papers.fits import judged_fit
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NODES", "GrowthFits", "draw", "figures"]

NODES = (10, 20, 50, 100, 200, 300, 500, 1000)
"""Numbers of hidden nodes; those of the printed figures are not known."""

QUICK_NODES = (10, 100, 300, 1000)
"""The numbers of nodes of a quick run."""

EARLY, LATE = 100, 300
"""Numbers of nodes up to which the accuracy should have risen, and from which on the growth of the time is measured."""

RISE, FLAT = 1.0, 2.0
"""Points of accuracy that count as a rise up to `EARLY` nodes, and the largest later change that counts as none."""

CURVES: Mapping[str, tuple[str, Mapping[str, object]]] = {
    **{reading.words: (RECIPE, reading.changes) for reading in readings_of(2)},
    "emmc": ("emmc", {}),
}
"""Recipe and changes of each curve: as published, with both kinds of nodes, and with the defaults of the library."""

CELLS = (Cell("accuracy (%)", "accuracy"), Cell("CPU (s)", "cpu"))
"""The two figures."""

GROWTH = (
    Cell("rise to L = 100 (points)", "rise"),
    Cell("largest change after that (points)", "change"),
    Cell("exponent of the time from L = 300 on", "exponent"),
)
"""How the curves grow, for the statement of the paper on them."""

STATEMENT = "the paper says that accuracy grows quickly, then slowly, and time nonlinearly"
"""Statement in the paper about both figures, which have no numbers for us."""

SETS = tuple(data_set for data_set in (*TWO, *FEW) if data_set.name != "Ringnorm")
"""The data sets: all but Ringnorm and USPS, whose fits take longest (for USPS table 6 has the growth with L)."""

QUICK_SETS = ("Ionosphere", "Digits8-9", "LetterA-B", "LetterABCD")
"""The data sets of a quick run."""


@attrs.define(eq=False)
class GrowthFits:
    """The fits to a data set, each made once: the rows of the curves and those on their growth share them.

    Parameters
    ----------
    data_set : EmmcDataSet
    """

    data_set: EmmcDataSet
    _samples: tuple[np.ndarray, np.ndarray] | None = attrs.field(default=None, init=False)
    _fits: dict[tuple[str, int, int], Values] = attrs.field(factory=dict, init=False)

    def fit(self, curve: str, L: int, seed: int) -> Values:
        """Values measured in a fit with L nodes."""
        if self._samples is None:
            self._samples = self.data_set.load()
        X, y = self._samples
        key = (curve, L, seed)
        if key not in self._fits:
            recipe, changes = CURVES[curve]
            parameters = self.data_set.margin(X, featuremap__n_hidden=L, **changes)
            self._fits[key] = judged_fit(X, y, recipe, seed, **parameters)
        return self._fits[key]


def figures(plan: Plan, data_sets: Sequence[EmmcDataSet] = SETS) -> list[Job]:
    """Every number of nodes, then how accuracy and time grow; a quick run has a few sets and numbers of nodes."""
    jobs = []
    nodes = QUICK_NODES if plan.quick else NODES
    for data_set in data_sets:
        if plan.quick and data_set.name not in QUICK_SETS:
            continue
        fits, seeds = GrowthFits(data_set), plan.seeds(data_set.runs)
        for curve in CURVES:
            jobs += [_point(fits, curve, L, seeds) for L in nodes]
            jobs.append(_growth(fits, curve, nodes, seeds))
    return jobs


def _point(fits: GrowthFits, curve: str, L: int, seeds: Sequence[int]) -> Job:
    """A curve at L nodes."""
    name = fits.data_set.name
    row = f"{name}: {curve}, L = {L}"

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            runs.append(fits.fit(curve, L, seed))
            step(f"{row}, seed {seed}")
        return Measurements(runs)

    return Job(name, row, CELLS, run, len(seeds), as_described=curve == RECIPE)


def _growth(fits: GrowthFits, curve: str, nodes: Sequence[int], seeds: Sequence[int]) -> Job:
    """How accuracy and time of a curve grow with L."""
    name = fits.data_set.name
    row = f"{name}: {curve}, growth from L = {nodes[0]} to {nodes[-1]}"

    def run(step: Step) -> Measurements:
        def means(measure: str) -> dict[int, float]:
            return {L: statistics.fmean(fits.fit(curve, L, seed)[measure] for seed in seeds) for L in nodes}

        values = growth(means("accuracy"), means("cpu"))
        step(row)
        return Measurements([{**values, "seconds": 0.0}], answer(values))

    return Job(name, row, GROWTH, run, 1)


def growth(accuracy: Mapping[int, float], cpu: Mapping[int, float]) -> Values:
    """Rise up to 100 nodes, largest later change, exponent of the time; from accuracy (%) and CPU seconds by L.

    Examples
    --------
    >>> growth({10: 60, 100: 85, 300: 86, 1000: 87}, {10: 1.0, 100: 1.0, 300: 2.0, 1000: 2.0 * (10 / 3) ** 2})
    {'rise': 25, 'change': 2, 'exponent': 2.0}
    """
    last = max(accuracy)
    exponent = math.log(cpu[last] / cpu[LATE]) / math.log(last / LATE)
    return {
        "rise": accuracy[EARLY] - accuracy[min(accuracy)],
        "change": max((value - accuracy[EARLY] for L, value in accuracy.items() if L > EARLY), key=abs),
        "exponent": round(exponent, 12),
    }


def answer(values: Values) -> str:
    """Whether the statement of the paper holds for these curves, for the note.

    Examples
    --------
    >>> answer({"rise": 0.2, "change": 0.1, "exponent": 0.8}).partition(": here ")[2]
    'accuracy does not rise, and time does not grow superlinearly'
    """
    rises, stays = values["rise"] >= RISE, abs(values["change"]) <= FLAT
    shape = "rises quickly, then flattens" if rises and stays else "rises quickly and goes on changing"
    shape = shape if rises else "does not rise" if stays else "does not rise quickly and goes on changing"
    time = "grows superlinearly" if values["exponent"] > 1 else "does not grow superlinearly"
    return f"{STATEMENT}: here accuracy {shape}, and time {time}"


def draw(path: str | None = None, rows: Sequence[Mapping[str, object]] | None = None) -> Figure:
    """The curves of figures 1 and 2; needs the extra ``plots``.

    Parameters
    ----------
    path : str, optional
        File for the picture; its ending decides the format. By default nothing is written.
    rows : sequence of mapping, optional
        The rows of ``papers.reproduce("emmc-figures")``, or of its ``--json``. By default the table is run, which takes
        minutes.

    Returns
    -------
    ndarray of shape (2, rows, 3)
        The axes: accuracy, then CPU seconds, of the data sets that have rows.
    """
    from clusterkit.errors import need
    from clusterkit.plots.figure import COLORS, frame

    need("matplotlib", "a picture", "plots")
    from matplotlib.figure import Figure

    if rows is None:
        from clusterkit_papers import reproduce

        rows = reproduce("emmc-figures")
    curves = _curves(rows)
    names = [data_set.name for data_set in SETS if any(name == data_set.name for name, _, _ in curves)]
    across = max(1, math.ceil(len(names) / 3))
    figure = Figure(figsize=(16, 1.2 + 2.5 * across), dpi=100, facecolor="white", layout="constrained")
    halves: Any = figure.subfigures(1, 2, wspace=0.03)
    axes = np.empty((2, across, 3), dtype=object)
    styles = dict(zip(CURVES, ((COLORS[5], "s"), (COLORS[1], "^"), (COLORS[0], "o")), strict=True))
    for half, cell, title in zip(axes, CELLS, ("Figure 1: accuracy (%)", "Figure 2: CPU seconds"), strict=True):
        part = halves[0 if cell is CELLS[0] else 1]
        part.suptitle(title, fontsize=12)
        half[:] = part.subplots(across, 3, squeeze=False)
        for axis in half.flat[len(names) :]:
            axis.set_visible(False)
        for index, (axis, name) in enumerate(zip(half.flat, names, strict=False)):
            for words, (color, marker) in styles.items():
                draw_curve(axis, curves.get((name, words, cell.column), ()), words, color, marker)
            plain_log(axis.xaxis, decades=True)
            if cell.measure == "cpu":
                plain_log(axis.yaxis)
            frame(axis, name, ("number of hidden nodes L" if index + 3 >= len(names) else "", ""))
            axis.grid(color="#e6e6e6", linewidth=0.6)
    finish(figure, axes, path, loc="outside lower center", ncols=3, fontsize=10)
    return axes


def _curves(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str, str], list[tuple[int, float]]]:
    """Points (L, ours) by data set, name of the curve and column."""
    curves: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for row in rows:
        name, _, rest = str(row["row"]).partition(": ")
        curve, _, L = rest.partition(", L = ")
        if L and row["ours"] is not None:
            curves.setdefault((name, curve, str(row["column"])), []).append((int(L), float(row["ours"])))
    return curves
