"""Plots of tables and matrices.

- `profile`: in which columns each cluster differs from the others, as a heat map;
- `roles`: how much each column says of the clusters, and its role;
- `consensus_matrix`: how often the members of an ensemble put two samples together, ordered by clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterkit._typing import Array, ArrayLike, Indices, Labels
from clusterkit.contracts.arguments import Clusterer
from clusterkit.contracts.params import check_count
from clusterkit.errors import InvalidData, InvalidParameter, counted
from clusterkit.plots.figure import FAINT, INK, axes_for, check_axes, drawable, frame
from clusterkit.profiles import Profile
from clusterkit.profiles.measures import is_model, labels_of
from clusterkit.profiles.profiling import heat_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes


STRONGEST = 2.0
"""Difference in standard deviations at which the colour is full: stronger ones are rare and equally clear."""


def profile(clusters: Profile, ax: Axes | None = None, *, max_features: int = 20) -> Axes:
    """Draw the standardised differences of a profile: red above the rows outside, blue below.

    The columns that distinguish some cluster most come first. A cell of which the interval holds 0 is left empty, and a
    column with no other cells is left out.

    Parameters
    ----------
    clusters : Profile
        Result of `clusterkit.profile`.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    max_features : int, default 20
        Rows of the map.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter
        If an argument is wrong, or no column was compared.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import clusterkit
    >>> from matplotlib.figure import Figure
    >>> summary = clusterkit.profile([0] * 9 + [1] * 9, [[i, i % 3] for i in range(18)], names=["size", "kind"])
    >>> ax = clusterkit.plots.profile(summary, Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['size']
    """
    check_axes(ax, "profile")
    if not isinstance(clusters, Profile):
        raise InvalidParameter(f"profile: needs a Profile, made by clusterkit.profile, got {type(clusters).__name__}")
    shown, names, values = heat_cells(clusters, max_features)
    if not names:
        raise InvalidParameter("profile: no column was compared")
    ax = axes_for(ax)
    drawn: Any = ax.pcolormesh(values, cmap="RdBu_r", vmin=-STRONGEST, vmax=STRONGEST, edgecolors="#80808040")
    if values.size <= 160:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                ink = "#fefefe" if abs(value) > 0.7 * STRONGEST else "#111111"
                ax.annotate(f"{value:+.1f}", (column + 0.5, row + 0.5), ha="center", va="center", fontsize=8, color=ink)
    frame(ax, "Difference from the other rows, in standard deviations", ("cluster", ""))
    titles = [drawable(f"{cluster.label}: {cluster.name}") for cluster in shown]
    ax.set_xticks(np.arange(len(shown)) + 0.5, titles, rotation=20, ha="right", parse_math=False)
    ax.set_yticks(np.arange(len(names)) + 0.5, [drawable(name) for name in names], color=INK, parse_math=False)
    ax.invert_yaxis()
    ax.tick_params(length=0)
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7, aspect=18, extend="both")
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, colors=INK)
    return ax


COLOURS = {"cluster-dependent": "#5b4b8a", "covariate": "#a6761d", "redundant": "#9f9ab5", "irrelevant": FAINT}
"""Roles in the order of the legend, with their colours, none of which is that of a cluster."""

LIKELY = 0.01
"""Gain from which a bar has length, a hundredth of a logarithm: what the clusters take from a column is no length."""


def roles(clusters: Profile, ax: Axes | None = None, *, max_columns: int = 20) -> Axes:
    """Draw a bar for each column of a table: how much it says of the clusters by itself, in the colour of its role.

    The length is the logarithm of the factor by which a row of the column is more likely with the clusters than
    without. Columns that say nothing have none, and neither have covariates, which shift the numbers alike in all
    clusters.

    Parameters
    ----------
    clusters : Profile
        Result of `clusterkit.profile`.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    max_columns : int, default 20
        Bars, those that say most; covariates come first where there are more columns.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter
        If an argument is wrong, or the columns have no roles.
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import clusterkit
    >>> from matplotlib.figure import Figure
    >>> rows = [[9 * (i > 9) + i % 3, i % 2] for i in range(20)]
    >>> summary = clusterkit.profile([0] * 10 + [1] * 10, rows, names=["size", "parity"])
    >>> ax = clusterkit.plots.roles(summary, Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()], summary.roles["parity"]
    (['size', 'parity'], 'irrelevant')
    """
    check_axes(ax, "roles")
    if not isinstance(clusters, Profile):
        raise InvalidParameter(f"roles: needs a Profile, made by clusterkit.profile, got {type(clusters).__name__}")
    names = roles_drawn(clusters, check_count("max_columns", max_columns))
    if not names:
        raise InvalidParameter("roles: the columns have no roles; two clusters, twenty rows and two columns are needed")
    ax = axes_for(ax)
    for role, colour in COLOURS.items():
        places = [place for place, name in enumerate(names) if clusters.roles[name] == role]
        if places:
            gains = [max(clusters.gains.get(names[place], 0.0), 0.0) for place in places]
            ax.barh(places, gains, color=colour, height=0.62, label=role)
            for place, gain in zip(places, gains, strict=True):
                text = f"{gain:.2f}" if gain >= LIKELY else "shifts the numbers" if role == "covariate" else "nothing"
                ax.annotate(text, (gain, place), (4, 0), textcoords="offset points", va="center", fontsize=8, color=INK)
    frame(ax, "What each column says of the clusters by itself", ("gain of its log-likelihood, a row", ""))
    ax.set_yticks(np.arange(len(names)), [drawable(name) for name in names], color=INK, parse_math=False)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(0.0, 1.15 * max(ax.get_xlim()[1], LIKELY))
    ax.legend(labelcolor=INK, frameon=False, fontsize=8, loc="lower right")
    return ax


def roles_drawn(clusters: Profile, most: int) -> list[str]:
    """The columns of the picture of roles, those that say most first."""
    names = [name for name, role in clusters.roles.items() if role in COLOURS]
    names.sort(key=lambda name: -max(clusters.gains.get(name, 0.0), 0.0))
    if len(names) > most:
        names.sort(key=lambda name: clusters.roles[name] != "covariate")
    return sorted(names[:most], key=lambda name: -max(clusters.gains.get(name, 0.0), 0.0))


MOST_ROWS = 500
"""Samples that are drawn by default: more would have less than a pixel each, and a matrix costs the square."""


def consensus_matrix(
    labelings: ArrayLike | Sequence[ArrayLike] | Clusterer,
    labels: Clusterer | ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    max_rows: int = MOST_ROWS,
    legend: bool = True,
) -> Axes:
    """Draw for each pair of samples the share of the labellings that put both into one cluster.

    Samples are ordered by cluster, the largest cluster first, and within a cluster so that those are neighbours that
    many labellings put together. A cluster that all labellings agree on is a dark square, a doubtful sample a pale
    stripe. Thin lines frame the clusters.

    Parameters
    ----------
    labelings : array of shape (M, n), sequence of M arrays of shape (n,), or fitted `ConsensusClustering`
        Whole numbers; below 0 the labelling does not know the sample, and does not count for its pairs.
    labels : fitted estimator or array of shape (n,), optional
        The clusters that order the samples. Default: those of the fitted `ConsensusClustering`, or of a plurality vote
        on `labelings`.
    ax : Axes, optional
        Axes to draw on; default: a new pyplot figure.
    max_rows : int, default 500
        Most samples to draw. Of more, evenly spaced ones in the order by cluster are drawn, and the title says so.
    legend : bool, default True
        Whether to add a bar that explains the shades.

    Returns
    -------
    Axes

    Raises
    ------
    InvalidParameter, InvalidData, NotFittedError
        If an argument is wrong, or the numbers of samples differ.
    ImportError
        If matplotlib is missing.

    Notes
    -----
    O(M m²) for m samples drawn. Their order within a cluster is that of the leaves of an average-linkage tree.

    Examples
    --------
    >>> from clusterkit import plots
    >>> from matplotlib.figure import Figure
    >>> members = [[0, 0, 0, 1, 1], [5, 5, 5, 7, 7], [0, 0, 1, 1, 1]]
    >>> ax = plots.consensus_matrix(members, [0, 0, 0, 1, 1], ax=Figure().subplots())
    >>> ax.get_title(loc="left")
    '3 labellings of 5 samples, 2 clusters'
    """
    check_axes(ax, "consensus_matrix")
    max_rows = check_count("max_rows", max_rows)
    members = _members(labelings)
    n = members.shape[1]
    source: object = labels
    if source is None:
        source = labelings if hasattr(labelings, "labels_") else _voted(members)
    grouping = labels_of(source, n, "consensus_matrix")
    order = _by_cluster(grouping)
    rows = order[np.linspace(0, n - 1, min(n, max_rows)).round().astype(np.intp)]
    rows = _by_likeness(rows, grouping[rows], members)
    shares = _shares(members[:, rows])
    new_figure, ax = ax is None, axes_for(ax)
    figure: Any = ax.figure
    if new_figure:
        figure.set_size_inches(7.0, 5.4)
    image = ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest", aspect="equal")
    _draw_frames(ax, grouping[rows])
    ax.set_xticks([])
    drawn = "" if len(rows) == n else f", {len(rows):,} drawn"
    k = len(np.unique(grouping[grouping >= 0]))
    title = f"{counted(len(members), 'labelling')} of {counted(n, 'sample')}{drawn}, {counted(k, 'cluster')}"
    frame(ax, title, ("samples by cluster", ""))
    if legend:
        bar = figure.colorbar(image, ax=ax, shrink=0.8, pad=0.02)
        bar.set_label("labellings that put both samples together", color=INK, fontsize=9)
        bar.ax.yaxis.set_major_formatter("{x:.0%}")
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=8)
    return ax


def _members(labelings: Any) -> Labels:
    """The labellings as a table (M, n)."""
    if is_model(labelings):
        members = getattr(labelings, "members_", None)
        if members is None:
            raise InvalidParameter(
                "consensus_matrix: needs labellings, or a fitted ConsensusClustering, which has members_; got "
                f"{type(labelings).__name__}"
            )
        labelings = members
    try:
        table = np.asarray(labelings)
    except ValueError as error:
        raise InvalidData("consensus_matrix: the labellings have different numbers of samples") from error
    if table.ndim != 2 or not table.size or table.dtype.kind not in "iu":
        raise InvalidData(
            "consensus_matrix: labellings must be a table (M, n) of whole numbers, one row a labelling, got shape "
            f"{table.shape} and type {table.dtype}"
        )
    return table.astype(np.int64)


def _voted(members: Labels) -> Labels:
    from clusterkit.consensus import voting

    return voting(members)


def _by_cluster(labels: Labels) -> Indices:
    """Samples in the order of their clusters, the largest first, noise last."""
    names, inverse, counts = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(len(names), dtype=np.intp)
    rank[np.lexsort((names, -counts, names < 0))] = np.arange(len(names))
    return np.argsort(rank[inverse.reshape(-1)], kind="stable")


def _by_likeness(rows: Indices, labels: Labels, members: Labels) -> Indices:
    """The rows, within each cluster in the order of the leaves of the average-linkage tree of their shares."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    begins = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(rows)]
    ordered = rows.copy()
    for begin, end in pairwise(begins):
        part = rows[begin:end]
        if len(part) > 2:
            apart = squareform(1.0 - _shares(members[:, part]), checks=False)
            ordered[begin:end] = part[leaves_list(linkage(apart, "average"))]
    return ordered


def _shares(members: Labels) -> Array:
    """Share of the labellings that know both samples which put them together, (m, m); 0 without such a labelling."""
    m = members.shape[1]
    together, known = np.zeros((m, m)), np.zeros((m, m))
    for labels in members:
        both = (labels >= 0)[:, None] & (labels >= 0)
        together += both & (labels[:, None] == labels)
        known += both
    return np.divide(together, known, out=np.zeros((m, m)), where=known > 0)


def _draw_frames(ax: Any, labels: Labels) -> None:
    """A square around each cluster, and its number at the left."""
    from matplotlib.patches import Rectangle

    ends = np.r_[np.flatnonzero(np.diff(labels)) + 1, len(labels)]
    begins = np.r_[0, ends[:-1]]
    ticks, names = [], []
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        label = int(labels[begin])
        if label >= 0:
            side = end - begin
            square = Rectangle((begin - 0.5, begin - 0.5), side, side, fill=False, edgecolor=INK, linewidth=0.9)
            ax.add_patch(square)
        if end - begin >= 0.02 * len(labels):  # the name of a thinner one would cover its neighbour's
            ticks.append((begin + end - 1) / 2)
            names.append("noise" if label < 0 else f"cluster {label}")
    ax.set_yticks(ticks, names)
