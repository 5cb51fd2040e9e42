"""Clustering in ELM feature space, figure 2: purity and NMI against the number of nodes and the width of the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from clusterkit_papers.axes import draw_curve
from clusterkit_papers.elm.data_sets import DATA_SETS, ElmDataSet
from clusterkit_papers.elm.runs import ElmMethod, ElmRuns, Nodes
from clusterkit_papers.elm.tables import NODES
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NODE_SWEEP", "SIGMA_SWEEP", "draw", "figures"]

NODE_SWEEP = (*range(10, 100, 10), *range(100, 2001, 100))
SIGMA_SWEEP = tuple(2.0**power for power in range(-10, 9))
"""Numbers of nodes and widths of the kernel in figure 2."""

QUICK = {"nodes": (10, 100, 1000), "sigma": (2.0**-4, 1.0, 2.0**4)}
"""The values of a quick run."""

MEASURES = (("purity (%)", "purity_percent"), ("NMI", "nmi"))
"""Columns and what they measure."""

SWEPT: tuple[tuple[str, str, Nodes], ...] = (
    ("nodes", "elm-kmeans", "distance"),
    ("nodes", "elm-nmf", "distance"),
    ("nodes", "elm-kmeans", "ridge"),
    ("nodes", "elm-nmf", "ridge"),
    ("sigma", "kernel-kmeans", "distance"),
    ("sigma", "kernel-nmf", "distance"),
)
"""Parameter that varies, the recipe, and the kind of nodes (of no meaning where sigma varies)."""


def figures(plan: Plan, data_sets: Sequence[ElmDataSet] = tuple(DATA_SETS.values())) -> list[Job]:
    """Every number of nodes and every width, three runs each; a quick run has three of each, without TDT2."""
    jobs = []
    for data_set in data_sets:
        if plan.quick and data_set.dataset == "tdt2":
            continue
        elm_runs, seeds = ElmRuns(data_set), plan.seeds(3)
        for what, recipe, kind in SWEPT:
            for value in QUICK[what] if plan.quick else NODE_SWEEP if what == "nodes" else SIGMA_SWEEP:
                method = _method(what, recipe, kind, value)
                name = f"{data_set.name}: {'L' if what == 'nodes' else 'sigma'} = {value:g}"
                cells = tuple(Cell(column, measure) for column, measure in MEASURES)
                nodes = NODES[kind] if what == "nodes" else ""
                remarks = (nodes, f"the first {data_set.swept} categories", data_set.remark)
                note = "; ".join(text for text in remarks if text)
                row = f"{name}, {method.words}"
                run, ours = partial(_run, elm_runs, method, seeds), method.as_described
                jobs.append(Job(name, row, cells, run, len(seeds), note=note, as_described=ours))
    return jobs


def _method(what: str, recipe: str, kind: Nodes, value: float) -> ElmMethod:
    return ElmMethod(recipe, int(value), kind) if what == "nodes" else ElmMethod(recipe, sigma=value)


def _run(elm_runs: ElmRuns, method: ElmMethod, seeds: Sequence[int], step: Step) -> Measurements:
    return Measurements(elm_runs.runs(method, elm_runs.data_set.swept, seeds, step))


def draw(path: str | None = None, rows: Sequence[Mapping[str, object]] | None = None) -> Figure:
    """The curves of figure 2; needs the extra ``plots``.

    Parameters
    ----------
    path : str, optional
        File for the picture; its ending decides the format. By default nothing is written.
    rows : sequence of mapping, optional
        The rows of ``papers.reproduce("elm-figures")``, or of its ``--json``. By default the table is run, which takes
        minutes.

    Returns
    -------
    ndarray of shape (4, 3)
        The axes: purity and NMI against the number of nodes, then against the width; a column for each data set.
    """
    from matplotlib.figure import Figure

    from clusterkit.plots.figure import FAINT, frame

    if rows is None:
        from clusterkit_papers import reproduce

        rows = reproduce("elm-figures")
    curves = _curves(rows)
    names = [data_set.name for data_set in DATA_SETS.values()]
    figure = Figure(figsize=(13, 12), dpi=100, facecolor="white", layout="constrained")
    axes: Any = figure.subplots(4, len(names), squeeze=False, sharex="row", sharey="row")
    for index, (what, (column, _)) in enumerate((what, measure) for what in ("nodes", "sigma") for measure in MEASURES):
        for axis, name in zip(axes[index], names, strict=True):
            for method, color, marker, line in _styles(what):
                draw_curve(axis, curves.get((name, what, method, column), ()), method, color, marker, line)
            axis.set_xscale("log", base=10 if what == "nodes" else 2)
            below = "number of nodes L" if what == "nodes" else "width of the kernel, sigma"
            title = name if column.startswith("purity") else ""
            frame(axis, title, (below if column == "NMI" else "", column if axis is axes[index][0] else ""))
            axis.grid(color="#e6e6e6", linewidth=0.6)
        handles, labels = axes[index][0].get_legend_handles_labels()
        if column.startswith("purity") and handles:
            axes[index][-1].legend(
                handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8.5,
                labelcolor=FAINT,
            )  # fmt: skip
    if path is not None:
        figure.savefig(path)
    return axes


def _styles(what: str) -> list[tuple[str, str, str, str]]:
    """Name, colour, marker and line of each method: one colour per family, dashed lines for ridge nodes."""
    from clusterkit.plots.figure import COLORS

    styles = []
    for swept, recipe, kind in SWEPT:
        if swept == what:
            kmeans = recipe.endswith("kmeans")
            words = _method(what, recipe, kind, 1).words
            line = "--" if kind == "ridge" else "-"
            styles.append((words, COLORS[0 if kmeans else 5], "o" if kmeans else "s", line))
    return styles


def _curves(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str, str, str], list[tuple[float, float]]]:
    """Points (value, ours) by data set, swept parameter, method and column."""
    curves: dict[tuple[str, str, str, str], list[tuple[float, float]]] = {}
    for row in rows:
        if row["ours"] is None:
            continue
        name, _, rest = str(row["row"]).partition(": ")
        point, _, method = rest.partition(", ")
        what, _, value = point.partition(" = ")
        key = (name, "nodes" if what == "L" else "sigma", method, str(row["column"]))
        curves.setdefault(key, []).append((float(value), float(row["ours"])))
    return curves
