"""Clustering in ELM feature space, figure 2: purity and NMI against the number of nodes and the width of the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from clusterkit_papers.elm.bench import Bench, Method, Nodes
from clusterkit_papers.elm.sets import SETTINGS, Setting
from clusterkit_papers.elm.tables import NODES
from clusterkit_papers.jobs import Cell, Findings, Job, Plan, Step

__all__ = ["NODE_SWEEP", "SIGMA_SWEEP", "draw", "figures"]

NODE_SWEEP = (*range(10, 100, 10), *range(100, 2001, 100))
SIGMA_SWEEP = tuple(2.0**power for power in range(-10, 9))
QUICK = {"nodes": (10, 100, 1000), "sigma": (2.0**-4, 1.0, 2.0**4)}

MEASURES = (("purity (%)", "purity_percent"), ("NMI", "nmi"))
SWEPT: tuple[tuple[str, str, Nodes], ...] = (
    ("nodes", "elm-kmeans", "distance"),
    ("nodes", "elm-nmf", "distance"),
    ("nodes", "elm-kmeans", "ridge"),
    ("nodes", "elm-nmf", "ridge"),
    ("sigma", "kernel-kmeans", "distance"),
    ("sigma", "kernel-nmf", "distance"),
)


def figures(plan: Plan, settings: Sequence[Setting] = tuple(SETTINGS.values())) -> list[Job]:
    """Every number of nodes and every width, three runs each; quick takes three of each, on the small sets."""
    jobs = []
    for setting in settings:
        if plan.quick and setting.dataset == "tdt2":
            continue
        bench, seeds = Bench(setting), plan.seeds(3)
        for what, recipe, kind in SWEPT:
            for value in QUICK[what] if plan.quick else NODE_SWEEP if what == "nodes" else SIGMA_SWEEP:
                method = _method(what, recipe, kind, value)
                name = f"{setting.name}: {'L' if what == 'nodes' else 'sigma'} = {value:g}"
                cells = tuple(Cell(column, measure) for column, measure in MEASURES)
                said = [NODES[kind] if what == "nodes" else "", f"the first {setting.swept} categories", setting.remark]
                note = "; ".join(text for text in said if text)
                row = f"{name}, {method.words}"
                jobs.append(Job(name, row, cells, partial(_run, bench, method, seeds), len(seeds), note=note))
    return jobs


def _method(what: str, recipe: str, kind: Nodes, value: float) -> Method:
    return Method(recipe, int(value), kind) if what == "nodes" else Method(recipe, sigma=value)


def _run(bench: Bench, method: Method, seeds: Sequence[int], step: Step) -> Findings:
    return Findings(bench.runs(method, bench.setting.swept, seeds, step))


def draw(path: str | None = None, rows: Sequence[Mapping[str, Any]] | None = None) -> Any:
    """The curves of figure 2; needs the extra ``plots``.

    Parameters
    ----------
    path : str, optional
        Where to save the picture; the ending decides the format.
    rows : sequence of mapping, optional
        What ``papers.reproduce("elm-figures")`` gave, or its ``--json``. Default: run it, which takes minutes.

    Returns
    -------
    ndarray of shape (4, 3)
        The axes: purity and NMI against nodes, then against the width; a column for each data set.
    """
    from matplotlib.figure import Figure

    from clusterkit.plots._figure import FAINT, frame

    if rows is None:
        from clusterkit_papers import reproduce

        rows = reproduce("elm-figures")
    curves = _curves(rows)
    names = [setting.name for setting in SETTINGS.values()]
    figure = Figure(figsize=(13, 12), dpi=100, facecolor="white", layout="constrained")
    axes: Any = figure.subplots(4, len(names), squeeze=False, sharex="row", sharey="row")
    for index, (what, (column, _)) in enumerate((what, each) for what in ("nodes", "sigma") for each in MEASURES):
        for axis, name in zip(axes[index], names, strict=True):
            for method, color, marker, line in _styles(what):
                values = sorted(curves.get((name, what, method, column), ()))
                if values:
                    x, y = np.array(values).T
                    axis.plot(x, y, line, color=color, marker=marker, markersize=3.5, linewidth=1.2, label=method)
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
    """Method, colour, marker and line; a colour for a family, ridge nodes dashed."""
    from clusterkit.plots._figure import COLORS

    found = []
    for each, recipe, kind in SWEPT:
        if each == what:
            kmeans = recipe.endswith("kmeans")
            words = _method(what, recipe, kind, 1).words
            line = "--" if kind == "ridge" else "-"
            found.append((words, COLORS[0 if kmeans else 5], "o" if kmeans else "s", line))
    return found


def _curves(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str, str, str], list[tuple[float, float]]]:
    """Points (value, ours) by data set, what is swept, method and column."""
    found: dict[tuple[str, str, str, str], list[tuple[float, float]]] = {}
    for row in rows:
        if row["ours"] is None:
            continue
        name, _, rest = str(row["row"]).partition(": ")
        point, _, method = rest.partition(", ")
        what, _, value = point.partition(" = ")
        key = (name, "nodes" if what == "L" else "sigma", method, str(row["column"]))
        found.setdefault(key, []).append((float(value), float(row["ours"])))
    return found
