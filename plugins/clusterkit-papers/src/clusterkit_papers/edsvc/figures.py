"""Ensemble-driven support vector clustering, figures 1 and 2: against the base clusterings, and PSVC over its width."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from clusterkit_papers.edsvc.table import (
    DATA_SETS,
    ENSEMBLES,
    READ_AS,
    EdsvcDataSet,
    EdsvcEnsembles,
    timed_search,
)
from clusterkit_papers.fits import fit_recipe, warm_up
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.scalings import SCALING_WORDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["WIDTHS", "draw", "figures"]

WIDTHS = tuple(float(power) for power in np.arange(-6, 8.5, 0.5))
"""log₂ of the widths q of the curves of PSVC; the axis of figure 2 is log₂ q, its range is not known to us."""

QUICK_WIDTHS = tuple(float(power) for power in (-2, 0, 2, 4, 6))
"""The widths of a quick run."""

QUICK = ("Wine", "Ionosphere")
"""The data sets of a quick run."""

SCALED = ("minmax", "zscore")
"""The two scalings of every data set; the paper says nothing about scaling."""

FIRST = "figure 1 compares EDSVC with the mean of its base clusterings, and the paper claims that EDSVC is above"
SECOND = "figure 2 draws PSVC over log2 q, and the paper claims that EDSVC is above the best of it"
"""Statement in the paper about the figures, which have no numbers for us."""


@attrs.define(eq=False)
class FigureFits:
    """Fits for both figures: ensembles, the search, and the curve of PSVC, each computed once.

    Parameters
    ----------
    ensembles : EdsvcEnsembles
    """

    ensembles: EdsvcEnsembles
    _search: dict[tuple[str, int], Values] = attrs.field(factory=dict, init=False)
    _curve: dict[tuple[str, float], Values] = attrs.field(factory=dict, init=False)

    def search(self, scaling: str, seed: int) -> Values:
        """EDSVC as published."""
        if (scaling, seed) not in self._search:
            X = self.ensembles.X(scaling)
            timed = timed_search(X, "edsvc", seed)
            self._search[scaling, seed] = {**self.ensembles.judged(timed.fitted.labels_), "seconds": timed.seconds}
        return self._search[scaling, seed]

    def members(self, scaling: str, seed: int) -> list[float]:
        """NMI of the base clusterings of the search with this seed."""
        return [self.ensembles.judged(member)["nmi"] for member in self.ensembles.members(scaling, seed)]

    def width(self, scaling: str, log2: float) -> Values:
        """PSVC at a width; it has no random part."""
        if (scaling, log2) not in self._curve:
            warm_up("psvc")
            X = self.ensembles.X(scaling)
            timed = fit_recipe(X, "psvc", 0, featuremap__gamma=2.0**log2, labeler__outliers="nearest")
            self._curve[scaling, log2] = {**self.ensembles.judged(timed.fitted.labels_), "seconds": timed.seconds}
        return self._curve[scaling, log2]


def figures(plan: Plan, data_sets: Sequence[EdsvcDataSet] = DATA_SETS) -> list[Job]:
    """EDSVC, base clusterings and PSVC on every data set; a quick run has two of them and five widths."""
    jobs = []
    for data_set in data_sets:
        if plan.quick and data_set.name not in QUICK:
            continue
        fits, seeds = FigureFits(EdsvcEnsembles(data_set)), plan.seeds(data_set.runs)
        widths = QUICK_WIDTHS if plan.quick else WIDTHS
        for scaling in SCALED:
            jobs += [_search(fits, scaling, seeds), _members(fits, scaling, plan.seeds(ENSEMBLES))]
            jobs += [_width(fits, scaling, log2) for log2 in widths]
            jobs += [_above_members(fits, scaling, seeds), _above_psvc(fits, scaling, seeds, widths)]
    return jobs


def _row(fits: FigureFits, scaling: str, what: str) -> str:
    return f"{fits.ensembles.data_set.name}: {what}, {SCALING_WORDS[scaling]}"


def _search(fits: FigureFits, scaling: str, seeds: Sequence[int]) -> Job:
    row = _row(fits, scaling, "edsvc as published")

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            runs.append(fits.search(scaling, seed))
            step(f"{row}, seed {seed}")
        return Measurements(runs)

    cells = (Cell("EDSVC", "nmi"), Cell("EDSVC clusters", "clusters"))
    return Job(
        fits.ensembles.data_set.name,
        row,
        cells,
        run,
        len(seeds),
        note="printed: table 2",
        as_described=scaling == READ_AS,
    )


def _members(fits: FigureFits, scaling: str, seeds: Sequence[int]) -> Job:
    row = _row(fits, scaling, "base clusterings")

    def run(step: Step) -> Measurements:
        fits.ensembles.X(scaling)
        runs = []
        for seed in seeds:
            runs.append({"nmi": float(np.mean(fits.members(scaling, seed))), "seconds": 0.0})
            step(f"{row}, seed {seed}")
        return Measurements(runs)

    return Job(
        fits.ensembles.data_set.name,
        row,
        (Cell("mean member", "nmi"),),
        run,
        len(seeds),
        as_described=scaling == READ_AS,
    )


def _width(fits: FigureFits, scaling: str, log2: float) -> Job:
    row = _row(fits, scaling, f"psvc, log2 q = {log2:g}")

    def run(step: Step) -> Measurements:
        step(row)
        return Measurements([fits.width(scaling, log2)])

    cells = (Cell("PSVC", "nmi"), Cell("PSVC clusters", "clusters"))
    return Job(fits.ensembles.data_set.name, row, cells, run, 1, as_described=scaling == READ_AS)


def _above_members(fits: FigureFits, scaling: str, seeds: Sequence[int]) -> Job:
    """EDSVC against the base clusterings of its own search."""
    row = _row(fits, scaling, "edsvc against its base clusterings")

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            members, ours = fits.members(scaling, seed), fits.search(scaling, seed)["nmi"]
            below = 100.0 * float(np.mean([member < ours for member in members]))
            runs.append({"gain": ours - float(np.mean(members)), "below": below, "seconds": 0.0})
        step(row)
        answer = "holds" if np.mean([run["gain"] for run in runs]) > 0 else "does not hold"
        return Measurements(runs, f"{FIRST}: here it {answer}")

    cells = (Cell("EDSVC minus mean member", "gain"), Cell("base clusterings below EDSVC (%)", "below"))
    return Job(fits.ensembles.data_set.name, row, cells, run, 1)


def _above_psvc(fits: FigureFits, scaling: str, seeds: Sequence[int], widths: Sequence[float]) -> Job:
    """EDSVC against the best width of PSVC, which known classes choose."""
    row = _row(fits, scaling, "edsvc against the best width of psvc")

    def run(step: Step) -> Measurements:
        best = max(widths, key=lambda log2: fits.width(scaling, log2)["nmi"])
        top = fits.width(scaling, best)
        runs = [{"gain": fits.search(scaling, seed)["nmi"] - top["nmi"], "seconds": 0.0} for seed in seeds]
        step(row)
        answer = "holds" if np.mean([run["gain"] for run in runs]) > 0 else "does not hold"
        many = top["clusters"] > math.sqrt(len(fits.ensembles.X(scaling)))
        clusters = f"{top['clusters']:.0f} clusters" + (", more than √n" if many else "")
        return Measurements(runs, f"{SECOND}: here it {answer}; the best is at log2 q = {best:g} with {clusters}")

    return Job(fits.ensembles.data_set.name, row, (Cell("EDSVC minus best PSVC", "gain"),), run, 1, uses_labels=True)


def draw(path: str | None = None, rows: Sequence[Mapping[str, object]] | None = None) -> Figure:
    """Figures 1 and 2; needs the extra ``plots``.

    Parameters
    ----------
    path : str, optional
        File for the picture; its ending decides the format. By default nothing is written.
    rows : sequence of mapping, optional
        The rows of ``papers.reproduce("edsvc-figures")``, or of its ``--json``. By default the table is run, which
        takes an hour.

    Returns
    -------
    list of Axes
        Figure 1 for each scaling, then figure 2 for each data set that has rows.
    """
    from clusterkit.plots.figure import COLORS, FAINT, INK, frame, matplotlib_or_raise

    matplotlib_or_raise()
    from matplotlib.figure import Figure

    if rows is None:
        from clusterkit_papers import reproduce

        rows = reproduce("edsvc-figures")
    values = {(row["row"], row["column"]): row for row in rows if row["ours"] is not None}
    printed = {row["row"].partition(": ")[0]: row["printed"] for row in rows if row["column"] == "EDSVC"}
    names = [data_set.name for data_set in DATA_SETS if any(what.startswith(f"{data_set.name}:") for what, _ in values)]
    across = max(1, math.ceil(len(names) / 3))
    figure = Figure(figsize=(14, 4.6 + 3.2 * across), dpi=100, facecolor="white", layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=(1.0, 0.25 + 0.8 * across))
    upper, lower = halves
    upper.suptitle("Figure 1: NMI of EDSVC and mean NMI of its base clusterings", fontsize=12)
    lower.suptitle("Figure 2: NMI of PSVC over its width, and of EDSVC (lines)", fontsize=12)
    first, second = upper.subplots(1, 2, sharey=True), lower.subplots(across, 3, squeeze=False)
    for axis, scaling in zip(first, SCALED, strict=True):
        words, places = SCALING_WORDS[scaling], np.arange(len(names))
        bars = (("edsvc as published", "EDSVC", COLORS[0], -0.2), ("base clusterings", "mean member", COLORS[1], 0.2))
        for what, column, color, shift in bars:
            points = [
                (place, values[key]["ours"])
                for place, name in zip(places, names, strict=True)
                if (key := (f"{name}: {what}, {words}", column)) in values
            ]
            if points:
                x, y = np.array(points).T
                axis.bar(x + shift, y, 0.38, color=color, label=column)
        marks = [(place, printed[name]) for place, name in enumerate(names) if printed.get(name) is not None]
        if marks:
            axis.plot(*np.array(marks).T, "D", color=INK, markerfacecolor="none", label="EDSVC as printed (table 2)")
        frame(axis, words, ("", "NMI" if axis is first[0] else ""))
        axis.set_xticks(places, [name.replace(" Authentication", "") for name in names], fontsize=8.5)
        axis.set_xlim(-0.6, len(names) - 0.4)
    upper.legend(*first[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    for axis in second.flat[len(names) :]:
        axis.set_visible(False)
    for index, (axis, name) in enumerate(zip(second.flat, names, strict=False)):
        for scaling, color, marker in (("minmax", COLORS[2], "o"), ("zscore", COLORS[5], "s")):
            words = SCALING_WORDS[scaling]
            curve = sorted(
                (float(row["row"].partition("log2 q = ")[2].partition(",")[0]), row["ours"])
                for (what, column), row in values.items()
                if what.startswith(f"{name}: psvc") and what.endswith(words) and column == "PSVC"
            )
            if curve:
                axis.plot(*np.array(curve).T, "-", color=color, marker=marker, markersize=4, label=f"PSVC, {words}")
            search = values.get((f"{name}: edsvc as published, {words}", "EDSVC"))
            if search is not None:
                axis.axhline(search["ours"], color=color, linestyle="--", linewidth=1.2, label=f"EDSVC, {words}")
        if printed.get(name) is not None:
            axis.axhline(printed[name], color=FAINT, linestyle=":", linewidth=1.4, label="EDSVC as printed")
        frame(axis, name, ("log₂ q" if index + 3 >= len(names) else "", "NMI" if index % 3 == 0 else ""))
        axis.set_ylim(bottom=0.0)
    lines: Any = next((axis.get_legend_handles_labels() for axis in second.flat if axis.lines), ([], []))
    lower.legend(*lines, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    if path is not None:
        figure.savefig(path)
    return [*first, *second.flat[: len(names)]]
