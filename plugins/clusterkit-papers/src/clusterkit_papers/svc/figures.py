"""Support vector clustering, the visual experiments: rings, moons and Gaussians, with data drawn by ourselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from clusterkit_papers.fits import TimedFit, fit_recipe
from clusterkit_papers.jobs import Cell, Job, Measurements, Plan, Step, Values
from clusterkit_papers.svc.data_sets import GRID

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SHAPES", "Shape", "draw", "figures"]

DRAW = 1000
"""Added to the seed of the data, because the constants below were chosen on the draws without it."""

LONGER: Mapping[str, object] = {"solver__C": 8.0, "solver__t_min": 4000}
QUANTILE: Mapping[str, object] = {
    **LONGER,
    "solver__level": "quantile",
    "solver__outlier_fraction": 0.0,
    "featuremap__gamma": 32.0,
}

"""Constants of sgd-lmsvc that separate the shapes: more steps than by default, and for shapes that are not convex the
level at a quantile."""


@attrs.frozen
class Shape:
    """A kind of data that the figures show.

    Parameters
    ----------
    name : str
    sample : callable
        Takes a random generator; returns points (n, 2) and their classes (n,).
    clusters : int
        The number of clusters for k-means and fuzzy c-means.
    exact : mapping
        Parameters of `sgd-lmsvc` that give the classes; chosen on other draws.
    words : str
        Description of these parameters.
    """

    name: str
    sample: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
    clusters: int
    exact: Mapping[str, object]
    words: str

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The points (n, 2) and classes (n,) that a seed gives."""
        return self.sample(np.random.default_rng(DRAW + seed))


def _rings(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A Gaussian of 100 points (standard deviation 0.2) in rings of 150 and 300, radius 1.5 and 3, noise 0.1."""
    parts = [rng.normal(scale=0.2, size=(100, 2))]
    for radius, n in ((1.5, 150), (3.0, 300)):
        angle = rng.uniform(0.0, 2.0 * np.pi, n)
        circle = radius * np.column_stack((np.cos(angle), np.sin(angle)))
        parts.append(circle + rng.normal(scale=0.1, size=(n, 2)))
    return np.concatenate(parts), np.repeat([0, 1, 2], [100, 150, 300])


def _moons(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two half circles of 200 points that reach into each other, noise 0.05."""
    angle = np.linspace(0.0, np.pi, 200)
    upper = np.column_stack((np.cos(angle), np.sin(angle)))
    both = np.concatenate((upper, np.array([1.0, 0.5]) - upper))
    return both + rng.normal(scale=0.05, size=(400, 2)), np.repeat([0, 1], 200)


def _gaussians(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Four Gaussians of 100 points at the corners of a square of side 6, standard deviation 0.6."""
    corners = 6.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    return np.repeat(corners, 100, axis=0) + rng.normal(scale=0.6, size=(400, 2)), np.repeat(range(4), 100)


SHAPES = (
    Shape(
        "two rings and a Gaussian",
        _rings,
        3,
        QUANTILE,
        "level quantile with outlier_fraction 0, gamma = 32, C = 8, 4000 steps",
    ),
    Shape("two moons", _moons, 2, QUANTILE, "level quantile with outlier_fraction 0, gamma = 32, C = 8, 4000 steps"),
    Shape("four Gaussians", _gaussians, 4, {**LONGER, "featuremap__gamma": 2.0}, "gamma = 2, C = 8, 4000 steps"),
)

"""The three kinds of data."""

AS_PUBLISHED = "sgd-lmsvc-strip"
"""SGD-LMSVC with ascents of the samples in a strip, as published."""

LARGE_MARGIN = ("sgd-lmsvc", AS_PUBLISHED)
"""SGD-LMSVC with ascents of all samples, and as published."""

CELLS = (Cell("mean ARI", "ari"), Cell("part of the seeds with ARI 1", "exact"))
"""The columns: adjusted Rand index, and how often it is 1."""

NO_DATA = "own data of the kind: the paper shows pictures, its data are not known"
"""A note for all rows."""


def figures(plan: Plan) -> list[Job]:
    """Adjusted Rand index over seeds; each seed draws its own data."""
    jobs = []
    for shape in SHAPES:
        k = {"n_clusters": shape.clusters}
        jobs += [
            _job(plan, shape, "cmeans", "cmeans, k given", k, as_described=True),
            _job(plan, shape, "fuzzy-cmeans", "fuzzy-cmeans, k given", k, as_described=True),
            *(_printed_constants(plan, shape, recipe) for recipe in LARGE_MARGIN),
            *(
                _job(plan, shape, recipe, f"{recipe}, other constants", shape.exact, shape.words, by_labels=True)
                for recipe in LARGE_MARGIN
            ),
            _job(plan, shape, "svc", "svc", {}, "parameters by svc_auto", usual=5),
        ]
    return jobs


def _job(
    plan: Plan,
    shape: Shape,
    recipe: str,
    what: str,
    parameters: Mapping[str, Any],
    words: str = "",
    *,
    by_labels: bool = False,
    usual: int = 10,
    as_described: bool = False,
) -> Job:
    seeds = plan.seeds(usual)

    def run(step: Step) -> Measurements:
        runs = []
        for seed in seeds:
            runs.append(_judged(shape, seed, recipe, parameters))
            step(f"{shape.name}: {what}, seed {seed}")
        return Measurements(runs)

    chosen = "found with the labels of other draws" if by_labels else ""
    note = "; ".join(text for text in (words, chosen, NO_DATA) if text)
    return Job(
        shape.name,
        f"{shape.name}: {what}",
        CELLS,
        run,
        len(seeds),
        uses_labels=by_labels,
        note=note,
        as_described=as_described,
    )


def _printed_constants(plan: Plan, shape: Shape, recipe: str) -> Job:
    """θ = 0.01, level 1, and the gamma and C of the paper's grid with the highest mean index."""
    seeds = plan.seeds(10)
    grid = list(product(GRID[2:], GRID[3:] if plan.quick else GRID))

    def run(step: Step) -> Measurements:
        tried = []
        for gamma, C in grid:
            values = []
            for seed in seeds:
                values.append(
                    _judged(shape, seed, recipe, {"featuremap__gamma": gamma, "solver__C": C}),
                )
                step(f"{shape.name}: {recipe}, gamma = {gamma:g}, C = {C:g}, seed {seed}")
            tried.append((sum(run["ari"] for run in values), gamma, C, values))
        _, gamma, C, best = max(tried, key=lambda candidate: candidate[0])
        return Measurements(best, f"gamma = {gamma:g}, C = {C:g}")

    return Job(
        shape.name,
        f"{shape.name}: {recipe}, constants as printed",
        CELLS,
        run,
        len(grid) * len(seeds),
        uses_labels=True,
        note=f"step_tol = 0.01, level 1; the best of {len(grid)} pairs of gamma and C by labels; {NO_DATA}",
        as_described=recipe == AS_PUBLISHED,
    )


def _judged(shape: Shape, seed: int, recipe: str, parameters: Mapping[str, Any]) -> Values:
    from clusterkit.metrics import adjusted_rand

    X, y = shape.draw(seed)
    timed = _timed(X, seed, recipe, parameters)
    ari = adjusted_rand(y, timed.fitted.labels_)
    return {"ari": ari, "exact": float(ari == 1.0), "seconds": timed.seconds}


def _timed(X: np.ndarray, seed: int, name: str, parameters: Mapping[str, Any]) -> TimedFit[Any]:
    """Fit a recipe to points; empty domains are a part of the grid and give no warning."""
    return fit_recipe(X, name, seed, **parameters)


def draw(path: str | None = None, seed: int = 0) -> Figure:
    """Draw the shapes with the clusters that each method finds; needs matplotlib, the extra ``plots`` of clusterkit.

    Parameters
    ----------
    path : str, optional
        File for the picture; its ending decides the format. By default nothing is written.
    seed : int, default 0
        Seed of the data and of the fits.

    Returns
    -------
    ndarray of shape (3, 5)
        The axes: a row for each shape, a column for each method.
    """
    from matplotlib.figure import Figure

    from clusterkit.metrics import adjusted_rand
    from clusterkit.plots.figure import COLORS

    figure = Figure(figsize=(14, 8.6), dpi=110, facecolor="white", layout="constrained")
    axes = figure.subplots(len(SHAPES), 5)
    for row, shape in zip(axes, SHAPES, strict=True):
        X, y = shape.draw(seed)
        printed = {"featuremap__gamma": shape.exact["featuremap__gamma"], "solver__C": 8.0}
        methods: list[tuple[str, str, Mapping[str, Any]]] = [
            ("C-means, k given", "cmeans", {"n_clusters": shape.clusters}),
            ("fuzzy C-means, k given", "fuzzy-cmeans", {"n_clusters": shape.clusters}),
            (f"SGD-LMSVC, level 1, γ = {printed['featuremap__gamma']:g}", "sgd-lmsvc", printed),
            ("the same, other constants", "sgd-lmsvc", shape.exact),
            ("SVC, no parameter given", "svc", {}),
        ]
        for axis, (title, name, parameters) in zip(row, methods, strict=True):
            labels = _timed(X, seed, name, parameters).fitted.labels_
            colors = [COLORS[label % len(COLORS)] if label >= 0 else "#bbbbbb" for label in labels]
            axis.scatter(*X.T, c=colors, s=5, linewidths=0)
            axis.set_title(f"{title}\n{labels.max() + 1} clusters, ARI {adjusted_rand(y, labels):.2f}", fontsize=9)
            axis.set_aspect("equal")
            axis.set_xticks([])
            axis.set_yticks([])
        row[0].set_ylabel(shape.name)
    if path is not None:
        figure.savefig(path)
    return axes
