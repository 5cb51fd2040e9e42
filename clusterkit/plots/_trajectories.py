"""`trajectories`: mean-shift trajectories of samples to the maxima of the kernel sum of a domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike, Clusterer, Indices, Mask
from clusterkit.core.errors import IncompatibleStages, InvalidParameter
from clusterkit.core.kernel import Gaussian
from clusterkit.core.outcomes import Domain, KernelDomain
from clusterkit.core.params import is_count
from clusterkit.plots._contours import draw_domain, projection_of
from clusterkit.plots._fitted_model import FittedDomain
from clusterkit.plots.figure import (
    FAINT,
    INK,
    LEGEND_ENTRIES,
    STYLES,
    axes_for,
    check_axes,
    draw_points,
    finish,
    frame,
    of_clusters,
    raster,
    styles_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AscentPaths", "paths_of", "trajectories"]

TOLERANCE, MERGE = 1e-7, 1e-3
"""The values of labeler ``equilibrium``: where a trajectory ends, and the distance at which two ends are one."""
MAX_STEPS = 10_000
"""Most steps of a trajectory, as in labeler ``equilibrium``."""
CLIMBERS = 2000
"""Samples whose equilibria are computed, besides those of the trajectories drawn."""
RECORDED = 2000
"""Most steps of a trajectory that are drawn; the rest is a straight line."""


def trajectories(
    model: Clusterer,
    X: ArrayLike,
    ax: Axes | None = None,
    *,
    starts: int | Sequence[int] = 40,
    dims: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
    legend: bool = True,
) -> Axes:
    """Draw the mean-shift trajectories of samples to the maxima of the kernel sum of a domain.

    These are the trajectories of labeler ``equilibrium``. Each step goes to the mean of the centres, weighted by their
    kernel values at the point, which never descends. Stars are the equilibria that samples reach, filled inside the
    domain, open outside. A trajectory has the colour of the cluster of its start. Coordinates are those of `contours`.

    Parameters
    ----------
    model : fitted estimator
        A model whose outcome is a domain with a Gaussian kernel, as for recipes ``svc``, ``fsvc`` and ``sgd-lmsvc``.
    X : array of shape (n, d)
        The data of the fit.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    starts : int or sequence of int, default 40
        Number of samples, far from each other, whose trajectories are drawn; or their rows.
    dims : pair of int, optional
        Coordinates to draw instead of principal components.
    names : sequence of str, optional
        Names of the attributes.
    legend : bool, default True
        Whether to put a legend beside the axes.

    Returns
    -------
    Axes

    Raises
    ------
    IncompatibleStages
        If the model has no domain, or its domain is no Gaussian kernel sum with weights >= 0.
    InvalidParameter, InvalidData, NotFittedError
        If an argument is wrong, X is not the data of the fit, or the model is not fitted.
    ImportError
        If matplotlib is missing.

    Notes
    -----
    The equilibria are those of all samples, or of 2,000 evenly spaced rows if there are more: O(2,000 I s d) time for I
    steps and s centres, plus O(starts n d) to choose the starts. Trajectories longer than 2,000 steps end in a straight
    line.
    """
    check_axes(ax, "trajectories")
    fitted = FittedDomain.of(model, X, names, "trajectories")
    domain = _gaussian(fitted.domain)
    chosen = _chosen(starts, fitted)
    projection = projection_of(fitted, dims, "trajectories")
    ascents = paths_of(domain, fitted.points, chosen)
    places = projection(fitted.points)
    new_figure, ax = ax is None, axes_for(ax)
    marks = draw_domain(ax, fitted.domain, projection, places, fill=False)
    points = draw_points(ax, places, fitted.labels, LEGEND_ENTRIES - len(marks) - 3, alpha=0.45)
    style = styles_of(fitted.labels)[chosen]
    marks += _draw_paths(ax, [projection(path) for path in ascents.paths], style)
    marks += _draw_equilibria(ax, projection(ascents.equilibria), ascents.inside)
    inside = int(ascents.inside.sum())
    where = f", {inside} inside" if inside < len(ascents.inside) else ""
    equilibria = "1 equilibrium" if len(ascents.inside) == 1 else f"{len(ascents.inside):,} equilibria"
    title = [
        of_clusters(fitted.labels),
        f"{equilibria}{where}; {len(chosen):,} of {len(places):,} trajectories drawn",
        projection.note,
    ]
    frame(ax, "\n".join(line for line in title if line), projection.names)
    return finish(ax, [*points, *marks] if legend else [], None if projection.height else places, new_figure=new_figure)


@final
@attrs.frozen(eq=False)
class AscentPaths:
    """Trajectories, and the equilibria of all samples.

    Parameters
    ----------
    paths : list of ndarray of shape (steps + 1, d)
        Trajectories from each start to its equilibrium.
    equilibria : ndarray of shape (M, d)
        Equilibria of the starts and of at most `CLIMBERS` other samples.
    inside : ndarray of shape (M,)
        Which equilibria are inside the domain.
    """

    paths: list[Array]
    equilibria: Array
    inside: Mask


def paths_of(domain: KernelDomain, points: Array, starts: Indices) -> AscentPaths:
    """The trajectories of the rows `starts` of `points` (n, d), and the equilibria of these and other rows."""
    from clusterkit.level_sets.distinct import DistinctRows
    from clusterkit.level_sets.equilibria import Ascent, find_basins

    ascent = Ascent.of(domain, "equilibrium", tol=TOLERANCE, merge=MERGE, max_iter=MAX_STEPS)
    others = np.linspace(0, len(points) - 1, min(len(points), CLIMBERS)).astype(np.intp)
    climbers = DistinctRows.of(points[np.union1d(others, starts)]).rows
    basins = find_basins(ascent, ascent.scaled(climbers), "trajectories")
    paths = ascent.trajectories(ascent.scaled(np.asarray(points[starts], dtype=np.float64)), RECORDED)
    equilibria = ascent.unscaled(basins.points)
    return AscentPaths([ascent.unscaled(path) for path in paths], equilibria, domain.value(equilibria) >= domain.level)


def _gaussian(domain: Domain) -> KernelDomain:
    """The domain, checked to be a Gaussian kernel sum with weights >= 0."""
    if isinstance(domain, KernelDomain) and isinstance(domain.kernel, Gaussian):
        if np.all(domain.weights >= 0) and np.any(domain.weights > 0):
            return domain
        what = "has negative weights, or none at all"
    else:
        kernel = getattr(domain, "kernel", None)
        what = "is known through a function only" if kernel is None else f"has a {type(kernel).__name__} kernel"
    raise IncompatibleStages(
        f"trajectories: climbs Gaussian kernel sums with weights >= 0, and this domain {what}; "
        "clusterkit.plots.contours draws any domain"
    )


def _chosen(starts: int | Sequence[int], fitted: FittedDomain) -> Indices:
    """Rows whose trajectories are drawn."""
    n = len(fitted.points)
    if is_count(starts):
        return _spread(fitted, min(int(starts), n))
    rows = np.asarray(starts)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not len(rows) or rows.min() < 0 or rows.max() >= n:
        raise InvalidParameter(
            f"trajectories: starts must be a number >= 1 or rows between 0 and {n - 1}, got {starts!r}"
        )
    return rows.astype(np.intp)


def _spread(fitted: FittedDomain, count: int) -> Indices:
    """Samples far from each other: the outermost first, then always the one farthest from all chosen so far."""
    points = fitted.points.astype(np.float64, copy=False)
    chosen = [int(np.argmin(fitted.domain.value(points)))]
    distance = np.square(points - points[chosen[0]]).sum(axis=1)
    while len(chosen) < count and distance.max() > 0:
        chosen.append(int(np.argmax(distance)))
        np.minimum(distance, np.square(points - points[chosen[-1]]).sum(axis=1), out=distance)
    return np.array(chosen)


def _draw_paths(ax: Any, paths: list[Array], style: Indices) -> list[Any]:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    colors = [STYLES[i][0] if i >= 0 else FAINT for i in style]
    lines = LineCollection(paths, colors=colors, linewidths=1.1, zorder=4, label="trajectory")
    ax.add_collection(lines, autolim=False)
    begins = np.array([path[0] for path in paths])
    ax.scatter(*begins.T, s=14, facecolor="white", edgecolor=colors, linewidth=1.0, zorder=4.5, label="start")
    return [
        Line2D([], [], color=INK, linewidth=1.1, marker="o", markerfacecolor="white", markersize=4, markevery=[0],
               label="start and trajectory"),
    ]  # fmt: skip


def _draw_equilibria(ax: Any, places: Array, inside: Mask) -> list[Any]:
    size = float(np.clip(130.0 * np.sqrt(10.0 / max(len(places), 1)), 30.0, 130.0))
    marks = []
    for which, face, edge, text in (
        (inside, INK, "white", "equilibrium inside"),
        (~inside, "white", INK, "equilibrium outside"),
    ):
        if which.any():
            marks.append(
                ax.scatter(
                    *places[which].T,
                    s=size,
                    marker="*",
                    facecolor=face,
                    edgecolor=edge,
                    linewidth=0.8,
                    zorder=5,
                    label=text,
                    rasterized=raster(int(which.sum())),
                )
            )
    return marks
