"""Support vector clustering, the visual experiments: rings, moons and Gaussians, drawn anew."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import attrs
import numpy as np

from clusterkit.core.errors import ClusterkitWarning
from clusterkit_papers.jobs import Cell, Findings, Job, Plan, Step, Values
from clusterkit_papers.svc.sets import GRID

__all__ = ["SHAPES", "Shape", "draw", "figures"]

DRAW = 1000
"""Added to the seed of the data: the constants below were found on other draws."""
LONGER: Mapping[str, Any] = {"solver__C": 8.0, "solver__t_min": 4000}
QUANTILE: Mapping[str, Any] = {
    **LONGER,
    "solver__level": "quantile",
    "solver__outlier_fraction": 0.0,
    "featuremap__gamma": 32.0,
}


@attrs.frozen
class Shape:
    """Data of one of the kinds that the figures show.

    Parameters
    ----------
    name : str
    sample : callable
        A generator to points (n, 2) and their classes (n,).
    clusters : int
        What k-means and fuzzy c-means are told.
    exact : mapping
        Parameters of `sgd-lmsvc` found to give the classes, on other draws.
    words : str
        These in words.
    """

    name: str
    sample: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
    clusters: int
    exact: Mapping[str, Any]
    words: str

    def draw(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Points and classes of a seed."""
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

CELLS = (Cell("mean ARI", "ari"), Cell("part of the seeds with ARI 1", "exact"))
NO_DATA = "own data of the kind: the paper shows pictures, its data are not known"


def figures(plan: Plan) -> list[Job]:
    """Adjusted Rand index over seeds, each with data of its own."""
    jobs = []
    for shape in SHAPES:
        k = {"n_clusters": shape.clusters}
        jobs += [
            _job(plan, shape, "cmeans", "cmeans, k given", k),
            _job(plan, shape, "fuzzy-cmeans", "fuzzy-cmeans, k given", k),
            _printed_constants(plan, shape),
            _job(plan, shape, "sgd-lmsvc", "sgd-lmsvc, other constants", shape.exact, shape.words, by_labels=True),
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
) -> Job:
    seeds = plan.seeds(usual)

    def run(step: Step) -> Findings:
        found = []
        for seed in seeds:
            found.append(_judged(shape, seed, recipe, parameters))
            step(f"{shape.name}: {what}, seed {seed}")
        return Findings(found)

    chosen = "found with the labels of other draws" if by_labels else ""
    note = "; ".join(text for text in (words, chosen, NO_DATA) if text)
    return Job(shape.name, f"{shape.name}: {what}", CELLS, run, len(seeds), uses_labels=by_labels, note=note)


def _printed_constants(plan: Plan, shape: Shape) -> Job:
    """θ = 0.01, level 1, and the gamma and C of the paper's grid with the highest mean index."""
    seeds = plan.seeds(10)
    grid = list(product(GRID[2:], GRID[3:] if plan.quick else GRID))

    def run(step: Step) -> Findings:
        tried = []
        for gamma, C in grid:
            values = []
            for seed in seeds:
                values.append(
                    _judged(shape, seed, "sgd-lmsvc", {"featuremap__gamma": gamma, "solver__C": C}),
                )
                step(f"{shape.name}: sgd-lmsvc, gamma = {gamma:g}, C = {C:g}, seed {seed}")
            tried.append((sum(each["ari"] for each in values), gamma, C, values))
        _, gamma, C, best = max(tried, key=lambda each: each[0])
        return Findings(best, f"gamma = {gamma:g}, C = {C:g}")

    return Job(
        shape.name,
        f"{shape.name}: sgd-lmsvc, constants as printed",
        CELLS,
        run,
        len(grid) * len(seeds),
        uses_labels=True,
        note=f"step_tol = 0.01, level 1; the best of {len(grid)} pairs of gamma and C by labels; {NO_DATA}",
    )


def _judged(shape: Shape, seed: int, recipe: str, parameters: Mapping[str, Any]) -> Values:
    from clusterkit.metrics import adjusted_rand

    X, y = shape.draw(seed)
    begin = time.perf_counter()
    labels = _labels(X, seed, recipe, parameters)
    seconds = time.perf_counter() - begin
    ari = adjusted_rand(y, labels)
    return {"ari": ari, "exact": float(ari == 1.0), "seconds": seconds}


def _labels(X: np.ndarray, seed: int, name: str, parameters: Mapping[str, Any]) -> np.ndarray:
    from clusterkit import recipe

    model = recipe(name, random_state=seed, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusterkitWarning)  # empty domains are a part of the grid
        labels: np.ndarray = model.fit(X).labels_
    if model.interrupted_:
        raise KeyboardInterrupt
    return labels


def draw(path: str | None = None, seed: int = 0) -> Any:
    """The shapes with the clusters that each method finds; needs the extra ``plots``.

    Parameters
    ----------
    path : str, optional
        Where to save the picture; the ending decides the format.
    seed : int, default 0
        Of the data and of the fits.

    Returns
    -------
    ndarray of shape (3, 5)
        The axes: a row for each shape, a column for each method.
    """
    from matplotlib.figure import Figure

    from clusterkit.metrics import adjusted_rand
    from clusterkit.plots.demo import COLORS

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
            labels = _labels(X, seed, name, parameters)
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
