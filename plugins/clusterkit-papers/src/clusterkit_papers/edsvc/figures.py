"""Ensemble-driven support vector clustering, figures 1 and 2: against the base clusterings, and PSVC over its width.

The rows answer what the paper says about both figures, so the page of claims reads them too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from clusterkit_papers.edsvc.table import DATA_SETS, READ_AS, EdsvcDataSet, EdsvcEnsembles, timed_search
from clusterkit_papers.fits import fit_recipe, warm_up
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.scalings import SCALING_WORDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["WIDTHS", "draw", "figures"]

WIDTHS = 100
"""Widths of the kernel that PSVC is run with, as many as the search of EDSVC has. Fewer miss partitions that few widths
have: on Breast Cancer two clusters come of one or two of them."""

DRAWN = 3
"""One in so many of the widths has a row of its own, which is a point of the curve in figure 2."""

QUICK = ("Wine", "Ionosphere")
"""The data sets of a quick run."""

SCALED = ("minmax", "zscore")
"""The two scalings of every data set; the paper says nothing about scaling."""

SEARCH = (
    Cell("EDSVC", "nmi"),
    Cell("EDSVC clusters", "clusters"),
    Cell("EDSVC ARI", "ari"),
    Cell("best member", "best_nmi"),
    Cell("best member ARI", "best_ari"),
    Cell("mean member", "mean_nmi"),
    Cell("members below EDSVC (%)", "below_nmi"),
    Cell("members below EDSVC, ARI (%)", "below_ari"),
)
"""NMI with the geometric mean as in the paper, which grows with the number of clusters by itself, and the adjusted Rand
index, which does not. The members are those of the ensembles of the search."""

PSVC = (Cell("PSVC", "nmi"), Cell("PSVC clusters", "clusters"), Cell("PSVC ARI", "ari"), Cell("log2 q", "log2"))
"""PSVC at a width q, whose logarithm is the axis of figure 2."""


@attrs.define(eq=False)
class WidthFits:
    """PSVC over the widths that the search of EDSVC tries, each fit computed once; it has no random part.

    Parameters
    ----------
    ensembles : EdsvcEnsembles
    """

    ensembles: EdsvcEnsembles
    _fits: dict[tuple[str, int], Values] = attrs.field(factory=dict, init=False)
    _widths: dict[str, np.ndarray] = attrs.field(factory=dict, init=False)

    def width(self, scaling: str, place: int) -> Values:
        """NMI, adjusted Rand index, clusters and log₂ q at a width by its place from 0, the widest kernel first."""
        if (scaling, place) not in self._fits:
            warm_up("psvc", featuremap__gamma=1.0)
            X = self.ensembles.X(scaling)
            if scaling not in self._widths:
                self._widths[scaling] = searched_widths(X)
            gamma = float(self._widths[scaling][place])
            timed = fit_recipe(X, "psvc", 0, featuremap__gamma=gamma, labeler__outliers="nearest")
            judged = _judged(self.ensembles, timed.fitted.labels_)
            self._fits[scaling, place] = {**judged, "log2": math.log2(gamma), "seconds": timed.seconds}
        return self._fits[scaling, place]


def searched_widths(X: np.ndarray) -> np.ndarray:
    """The widths that the search of EDSVC tries: from one cluster to where the nearest tenth of the rows come apart."""
    from scipy.spatial.distance import cdist

    from clusterkit.numerics.distances import bandwidth_range

    distinct = np.unique(X, axis=0)
    D = cdist(distinct, distinct, "sqeuclidean")
    largest = float(D.max())
    np.fill_diagonal(D, np.inf)
    low, high = bandwidth_range(largest, D.min(axis=1))
    return np.geomspace(low, high if high > low else 100.0 * low, WIDTHS)


def figures(plan: Plan, data_sets: Sequence[EdsvcDataSet] = DATA_SETS) -> list[Job]:
    """EDSVC beside its base clusterings, and PSVC over its width, on every data set; a quick run has two of them."""
    jobs = []
    for data_set in data_sets:
        if plan.quick and data_set.name not in QUICK:
            continue
        ensembles, seeds = EdsvcEnsembles(data_set), plan.seeds(data_set.runs)
        fits = WidthFits(ensembles)
        for scaling in SCALED:
            words = f"{data_set.name}: %s, {SCALING_WORDS[scaling]}"
            job = partial(Job, data_set.name, as_described=scaling == READ_AS)
            search = partial(_search, ensembles, scaling, seeds)
            jobs.append(job(words % "edsvc as published", SEARCH, search, len(seeds), note="printed: table 2"))
            for place in range(0, WIDTHS, DRAWN):
                name = words % f"psvc, width {place + 1} of {WIDTHS}"
                jobs.append(job(name, PSVC, partial(_width, fits, scaling, place, name), 1))
            name = words % f"psvc, the best of {WIDTHS} widths by labels"
            jobs.append(job(name, PSVC, partial(_best_width, fits, scaling, name), 1, uses_labels=True))
    return jobs


def _search(ensembles: EdsvcEnsembles, scaling: str, seeds: Sequence[int], step: Step) -> Measurements:
    """EDSVC as published beside the members of its own ensembles."""
    X, runs = ensembles.X(scaling), list[Values]()
    for seed in seeds:
        timed = timed_search(X, "edsvc", seed)
        ours = _judged(ensembles, timed.fitted.labels_)
        members = [_judged(ensembles, member) for member in ensembles.members(scaling, seed)]
        values = {**ours, "mean_nmi": float(np.mean([member["nmi"] for member in members])), "seconds": timed.seconds}
        for index in ("nmi", "ari"):
            of_members = np.array([member[index] for member in members])
            values |= {
                f"best_{index}": float(of_members.max()),
                f"below_{index}": 100.0 * float(np.mean(of_members < ours[index])),
            }
        runs.append(values)
        step(f"{ensembles.data_set.name}: edsvc, {scaling}, seed {seed}")
    return Measurements(runs)


def _width(fits: WidthFits, scaling: str, place: int, row: str, step: Step) -> Measurements:
    step(row)
    return Measurements([fits.width(scaling, place)])


def _best_width(fits: WidthFits, scaling: str, row: str, step: Step) -> Measurements:
    """PSVC at the width of highest NMI, of all widths, those between the points of the curve too."""
    best = max((fits.width(scaling, place) for place in range(WIDTHS)), key=lambda values: values["nmi"])
    step(row)
    many = best["clusters"] > math.sqrt(len(fits.ensembles.y))
    return Measurements([best], "outliers to the nearest cluster" + (", more than √n clusters" if many else ""))


def _judged(ensembles: EdsvcEnsembles, labels: np.ndarray) -> Values:
    """NMI, adjusted Rand index and number of clusters."""
    from clusterkit.metrics import adjusted_rand

    return {**ensembles.judged(labels), "ari": adjusted_rand(ensembles.y, labels)}


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
    from clusterkit.errors import need
    from clusterkit.plots.figure import COLORS, FAINT, INK, frame

    need("matplotlib", "a picture", "plots")
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
        for column, color, shift in (("EDSVC", COLORS[0], -0.2), ("mean member", COLORS[1], 0.2)):
            points = [
                (place, values[key]["ours"])
                for place, name in zip(places, names, strict=True)
                if (key := (f"{name}: edsvc as published, {words}", column)) in values
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
                (values[what, "log2 q"]["ours"], row["ours"])
                for (what, column), row in values.items()
                if what.startswith(f"{name}: psvc") and what.endswith(words) and column == "PSVC"
            )
            if curve:
                axis.plot(*np.array(curve).T, "-", color=color, marker=marker, markersize=3, label=f"PSVC, {words}")
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
