"""Shared parts of all plots, also of plugins: axes, colours, the points of clusters, legends beside the data.

`Projection` maps points with any number of coordinates to the two coordinates of a plot. `rows_of`, `names_of` and
`FittedDomain` read rows, names and domains of fitted models, with clear errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels, Mask
from clusterkit.contracts.outcomes import Domain, KernelDomain, SupportCounts
from clusterkit.errors import IncompatibleStages, InvalidData, InvalidParameter, counted, first_names, need
from clusterkit.profiles.measures import is_model, labels_of, not_fitted
from clusterkit.profiles.naming import called, names_of_fit

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
"""The colours of Okabe and Ito, distinguishable with any colour vision, without black (used for text) and yellow (too
pale for small points)."""
MARKERS = ("o", "^", "D", "v", "p", "<", ">")
"""Markers of clusters: further clusters repeat the colours with another marker. Rings and squares around points mark
support vectors, crosses noise, so none of these marks a cluster after the first six."""
STYLES = tuple((color, marker) for marker in MARKERS for color in COLORS)
"""Colour and marker of each cluster, in order."""
INK, FAINT = "#222222", "#808080"
"""Colours of lines and text, and of noise and secondary lines."""
SPINES = "#cccccc"
"""Colour of the lines around the data."""
TITLE = 10.5
"""Size of the letters of a title in points."""

SHORT = 32
"""Largest number of characters of a name; the rest is cut off."""

LEGEND_ENTRIES = 10
"""Largest number of lines of a legend: more would be higher than the axes."""
MOST_NUMBERS = 40
"""Largest number of clusters whose numbers are written into the plot, where the legend cannot name them all."""
RASTER_FROM = 5000
"""Number of points from which a PDF or SVG has an image of them instead of single points."""
SIZE = (7.4, 5.0)
"""Width and height of a new figure in inches."""
HEIGHTS = (2.6, 6.6)
"""Least and largest height in inches to which a new figure is adjusted."""
STRETCH = 8.0
"""Ratio of the two ranges up to which both axes have the same unit."""


def axes_for(ax: Axes | None) -> Axes:
    """The axes, or the axes of a new pyplot figure, which notebooks and ``pyplot.show`` display."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(figsize=SIZE, layout="constrained")[1]
    return ax


def check_axes(ax: object, caller: str) -> None:
    """Raise InvalidParameter for anything but matplotlib axes or None, before anything is computed."""
    need("matplotlib", "a picture", "plots")
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        hint = "; give one of them" if isinstance(ax, np.ndarray | list | tuple) else ""
        raise InvalidParameter(f"{caller}: ax must be matplotlib axes or None, got {type(ax).__name__}{hint}")


def of_clusters(labels: Labels) -> str:
    """Text about labels for a title."""
    noise = int(np.sum(labels < 0))
    k = len(np.unique(labels[labels >= 0]))
    return f"{counted(k, 'cluster')} of {counted(len(labels), 'sample')}, {noise or 'no'} noise"


def styles_of(labels: Labels) -> Indices:
    """Index into `STYLES` for each label, -1 for noise: the label itself if there are enough styles, else its rank."""
    if labels.max(initial=-1) >= len(STYLES):
        ranks = np.unique(labels[labels >= 0], return_inverse=True)[1].reshape(-1)
        styles = np.full(len(labels), -1, dtype=np.intp)
        styles[labels >= 0] = ranks % len(STYLES)
        return styles
    return np.where(labels >= 0, labels, -1).astype(np.intp)


def point_size(n: int) -> float:
    """Area of a marker in points², smaller for many samples."""
    return float(np.clip(26.0 * np.sqrt(250.0 / max(n, 1)), 2.5, 26.0))


def raster(n: int) -> bool:
    """Whether so many marks are drawn as an image within vector graphics."""
    return n > RASTER_FROM


def draw_points(
    ax: Axes, places: Array, labels: Labels, room: int = LEGEND_ENTRIES, model: object = None
) -> list[Artist]:
    """Scatter clusters and noise, and return at most `room` handles for the legend.

    There is one collection for each style in use, labelled with its cluster, and one for noise. If there are more
    clusters than room, the legend names the largest and the numbers of the clusters are written into the plot.

    Parameters
    ----------
    ax : Axes
    places : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
    room : int
    model : object, optional
        What has the names of the clusters.

    Returns
    -------
    list of artists
    """
    from matplotlib.lines import Line2D

    size, many = point_size(len(places)), raster(len(places))
    names, counts = np.unique(labels[labels >= 0], return_counts=True)
    style = styles_of(labels)
    noise = labels < 0
    handles: list[Any] = []
    if noise.any():
        room -= 1
        x, y = places[noise].T
        crosses = ax.scatter(x, y, s=1.3 * size, marker="x", color=FAINT, linewidth=0.9, zorder=3,
                             label=f"noise: {noise.sum():,}", rasterized=many)  # fmt: skip
        handles.append(crosses)
    drawn = {}
    for index in np.unique(style[~noise]):
        rows = style == index
        color, marker = STYLES[index]
        first = int(labels[rows][0])
        x, y = places[rows].T
        drawn[int(index)] = ax.scatter(
            x, y, s=size, color=color, marker=marker, edgecolor="white", linewidth=0.0 if many else 0.4,
            zorder=3, label=f"{title_of(model, first)}: {int(np.sum(labels == first)):,}", rasterized=many,
        )  # fmt: skip
    if len(names) <= room:
        return [*drawn.values(), *handles]
    largest = np.sort(np.argsort(-counts, kind="stable")[: max(room - 1, 0)])
    named: list[Any] = []
    for place in largest:
        color, marker = STYLES[style[np.argmax(labels == names[place])]]
        text = f"{title_of(model, names[place])}: {counts[place]:,}"
        named.append(Line2D([], [], linestyle="", marker=marker, color=color, markersize=5, label=text))
    others = len(names) - len(largest)
    rest = Line2D([], [], linestyle="", label=f"and {counted(others, 'more cluster')}")
    _draw_numbers(ax, places, labels, names[np.argsort(-counts, kind="stable")][:MOST_NUMBERS])
    return [*named, rest, *handles]


def title_of(model: object, label: int) -> str:
    """What a cluster is called in a picture: by `rename` of the model, or by its number."""
    return drawable(called(label, names_of_fit(model)))


def drawable(name: str) -> str:
    """A name that can be drawn."""
    shown = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name)
    return shown if len(shown) <= SHORT else shown[: SHORT - 1] + "…"


def _draw_numbers(ax: Any, places: Array, labels: Labels, which: Labels) -> None:
    """Write the number of each cluster at its sample nearest to the median of the cluster."""
    from matplotlib.patheffects import withStroke

    for label in which:
        members = places[labels == label]
        middle = members[np.argmin(np.square(members - np.median(members, axis=0)).sum(axis=1))]
        ax.annotate(
            str(label), middle, fontsize=8, fontweight="bold", color=INK, ha="center", va="center", zorder=6,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip


def frame(ax: Axes, title: str, names: Sequence[str]) -> None:
    """Set title, names of the axes and light spines; names of columns may have dollar signs, which begin no formula."""
    ax.set_title(title, fontsize=TITLE, loc="left", color=INK, parse_math=False)
    ax.set_xlabel(names[0], color=INK, parse_math=False)
    ax.set_ylabel(names[1], color=INK, parse_math=False)
    ax.tick_params(colors=FAINT, labelsize=8)
    for spine in ax.spines.values():
        spine.set_color(SPINES)


def finish(ax: Axes, handles: Sequence[Artist], places: Array | None, *, new_figure: bool) -> Axes:
    """Add a legend beside the data and, if possible, equal units on both axes.

    Parameters
    ----------
    ax : Axes
    handles : list of artists
        Artists of the legend; empty: no legend.
    places : ndarray of shape (n, 2) or None
        Places of the data; both axes get the same unit unless one range is much longer. None: the axes have
        different quantities.
    new_figure : bool
        Whether the figure was made for these axes; its height is then adjusted to the equal units.

    Returns
    -------
    Axes
    """
    if handles:
        ax.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, frameon=False,
            fontsize=8.5, handletextpad=0.5,
        )  # fmt: skip
    if places is None or not len(places):
        return ax
    width, height = np.ptp(places, axis=0)
    if 0 < max(width, height) <= STRETCH * min(width, height):
        # adjust the limits, not the box: layouts leave the wrong space for names beside a box that shrinks later
        ax.set_aspect("equal", adjustable="box" if _shares_both(ax) else "datalim")
        if new_figure:
            fit_height(ax)
    return ax


def fit_height(ax: Axes) -> None:
    """Adjust the height of the figure to the equal units of its only axes."""
    figure: Any = ax.figure
    aspect = ax.get_aspect()
    if aspect == "auto":
        return
    ax.set_aspect("auto")  # otherwise the layout already changes the limits
    figure.get_layout_engine().execute(figure)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    width, height = figure.get_size_inches()
    box = ax.get_position()
    suited = height * (1.0 - box.height) + width * box.width * (top - bottom) / (right - left)
    figure.set_size_inches(width, float(np.clip(suited, *HEIGHTS)))
    ax.set_aspect(aspect)


def _shares_both(ax: Any) -> bool:
    """Whether other axes share both directions, so that the limits are fixed."""
    return all(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))


UNTELLING = ("irrelevant", "covariate")
"""Roles of columns that tell nothing of clusters."""

MOST_NAMED = 4
"""Attributes that a title names."""

COMPONENTS, RIDGE = 50, 1e-3
"""Principal components that stand for more attributes, and the variance that is added inside clusters, of the mean."""

ALIKE = 10.0
"""Ratio of standard deviations up to which attributes are taken to have the same unit."""


@final
@attrs.frozen(eq=False)
class Projection:
    """A map of points (n, d) to places (n, 2) in a plot.

    For d = 2 it is the identity. A single coordinate gets a height as its second one. For d > 2 it takes two
    directions, or two selected coordinates.

    Parameters
    ----------
    origin : ndarray of shape (d,)
    basis : ndarray of shape (d, 2) or (d, 1)
    height : callable or None
        Second coordinate for d = 1, a function of (m, 1) to (m,).
    names : tuple of str
        Names of the two axes.
    note : str
        Text for a title; "" for d = 2.
    """

    origin: Array
    basis: Array
    height: Callable[[Array], Array] | None
    names: tuple[str, str]
    note: str

    @classmethod
    def of(
        cls,
        points: Array,
        names: Sequence[str],
        dims: tuple[int, int] | None,
        caller: str,
        *,
        height: tuple[Callable[[Array], Array], str],
        labels: Labels | None = None,
        decides: Mask | None = None,
    ) -> Projection:
        """The projection for points (n, d); `height` and its name are used for d = 1. O(n d min(n, d)) for d > 2.

        With `labels` of several clusters it takes the two directions in which these differ most, and of the attributes
        those that decide, if any does.
        """
        d = points.shape[1]
        if dims is not None:
            columns: Indices = np.array(_checked(dims, d, caller))
            note = "" if d == 2 else f"Two of {d} attributes"
        else:
            columns = np.arange(d) if decides is None or not decides.any() else np.flatnonzero(decides)
            others = [name for j, name in enumerate(names) if j not in columns]
            note = f"Without {first_names(others, MOST_NAMED)}, irrelevant or covariates" if others else ""
        selected, used = np.eye(d)[:, columns], [names[j] for j in columns]
        if len(columns) < 3:
            of_height = height if len(columns) == 1 else (None, "")
            return cls(np.zeros(d), selected, of_height[0], (used[0], [*used, of_height[1]][1]), note)
        points = points[:, columns]
        apart = None if labels is None else _discriminant(points, labels)
        if apart is not None:
            origin, basis, unit = apart
            strongest = np.argsort(-np.abs(basis * unit[:, None]), axis=0, kind="stable")[:2].T
            titles = tuple(f"direction {i + 1}, mostly {used[a]}, {used[b]}" for i, (a, b) in enumerate(strongest))
            what = f"Directions in which the clusters differ most, of {len(used)} attributes"
        else:
            spreads = None if labels is None else spreads_of(points)
            origin, basis, shares = _principal(points, spreads)
            titles = tuple(
                f"principal component {i + 1} ({share:.0%} of the variance)" for i, share in enumerate(shares)
            )
            what = f"First two principal components of {len(used)} attributes" + ", standardised" * (
                spreads is not None
            )
        note = f"{what}\n{note}".strip()
        return cls(selected @ origin, selected @ basis, None, (titles[0], titles[1]), note)

    @property
    def keeps_space(self) -> bool:
        """Whether the plot shows the whole space (d = 2), so that a contour can be drawn in it."""
        return self.height is None and len(self.origin) == 2

    def __call__(self, Y: Array) -> Array:
        """Places of the rows of Y (m, d), (m, 2)."""
        Y = np.asarray(Y, dtype=np.float64)
        places = (Y - self.origin) @ self.basis
        if self.height is not None:
            places = np.column_stack([places, self.height(Y)])
        return places

    def lift(self, places: Array) -> Array:
        """Points (m, 2) of places (m, 2); only for d = 2."""
        return np.ascontiguousarray(places @ self.basis.T + self.origin)


def _checked(dims: tuple[int, int], d: int, caller: str) -> tuple[int, int]:
    try:
        i, j = (int(value) for value in dims)
        exact = [i, j] == list(dims)
    except (TypeError, ValueError):
        exact = False
    if not exact or not (0 <= i < d and 0 <= j < d and i != j):
        raise InvalidParameter(
            f"{caller}: dims must be two different coordinates between 0 and {d - 1}, got {dims!r}"
            + (" (there is one only: leave dims out)" if d == 1 else "")
        )
    return i, j


def spreads_of(points: Array) -> Array | None:
    """Standard deviations (d,), of constant attributes the largest one; None if they are similar."""
    spreads = points.std(axis=0, dtype=np.float64)
    spreads[spreads == 0.0] = spreads.max() or 1.0
    return spreads if spreads.max() > ALIKE * spreads.min() else None


def _discriminant(points: Array, labels: Labels) -> tuple[Array, Array, Array] | None:
    """Mean, two directions (d, 2) in which clusters differ most, and the spreads; None for less than two clusters.

    They maximise the variance between clusters over that inside (Fisher 1936), which a ridge keeps from 0, and have the
    unit of the standard deviation inside. Of two clusters the second one is that in which rows differ most beside the
    first. Of many attributes the first principal components are taken.
    """
    from scipy.linalg import eigh
    from sklearn.decomposition import PCA

    names, place = np.unique(labels[labels >= 0], return_inverse=True)
    if not 1 < len(names) < len(place):
        return None
    mean, unit = points.mean(axis=0, dtype=np.float64), points.std(axis=0, dtype=np.float64)
    unit[unit == 0.0] = 1.0
    Z, d = (points - mean) / unit, points.shape[1]
    wide = d > COMPONENTS
    axes = PCA(min(COMPONENTS, len(Z)), random_state=0).fit(Z).components_.T if wide else np.eye(d)
    Z = (Z @ axes)[labels >= 0]
    means = np.stack([Z[place == j].mean(axis=0) for j in range(len(names))])[place]
    rest, apart = Z - means, means - Z.mean(axis=0)
    within, between = rest.T @ rest / len(Z), apart.T @ apart / len(Z)
    within += np.eye(len(within)) * (RIDGE * np.trace(within + between) / len(within) + np.finfo(float).tiny)
    directions = eigh(between, within)[1][:, :-3:-1]
    if len(names) == 2:
        first = directions[:, :1] / np.linalg.norm(directions[:, :1])
        beside = Z - Z.mean(axis=0)
        beside -= beside @ first @ first.T
        directions = np.hstack([first, eigh(beside.T @ beside)[1][:, -1:]])
    directions = axes @ directions
    directions *= np.sign(directions[np.abs(directions).argmax(axis=0), [0, 1]])
    return mean, directions / unit[:, None], unit


def _principal(points: Array, spreads: Array | None) -> tuple[Array, Array, Array]:
    """Mean, first two principal directions (d, 2) and their shares of the variance; zeros without variance."""
    from sklearn.decomposition import PCA

    d = points.shape[1]
    basis, shares = np.zeros((d, 2)), np.zeros(2)
    count, unit = min(2, len(points)), np.ones(d) if spreads is None else spreads
    with np.errstate(divide="ignore", invalid="ignore"):  # equal points, or a single one, have no variance
        pca = PCA(count, random_state=0).fit(points if spreads is None else points / spreads)
    basis[:, :count] = pca.components_.T / unit[:, None]
    shares[:count] = np.nan_to_num(pca.explained_variance_ratio_)
    return pca.mean_ * unit, basis, shares


def draw_clusters(
    ax: Axes | None,
    rows: Array,
    labels: Labels,
    titles: Sequence[str],
    decides: Mask | None,
    model: object,
    dims: tuple[int, int] | None = None,
    *,
    legend: bool = True,
) -> Axes:
    """Draw rows (n, d) as `clusters` does, by the attributes that decide, (d,), where it is known which."""
    decides = decides if decides is not None and len(decides) == rows.shape[1] else None
    height = _ClusterRanks(labels), "cluster"
    projection = Projection.of(rows, titles, dims, "clusters", height=height, labels=labels, decides=decides)
    places = projection(rows)
    new_figure, ax = ax is None, axes_for(ax)
    handles = draw_points(ax, places, labels, model=model)
    title = [of_clusters(labels), projection.note]
    frame(ax, "\n".join(line for line in title if line), projection.names)
    if projection.height:
        _name_rows(ax, labels)
    return finish(ax, handles if legend else [], None if projection.height else places, new_figure=new_figure)


class _ClusterRanks:
    """Height of samples with one attribute: the rank of their cluster, noise lowest."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels

    def __call__(self, Y: Array) -> Array:
        return np.unique(self.labels, return_inverse=True)[1].reshape(-1).astype(np.float64)


def _name_rows(ax: Any, labels: Labels) -> None:
    names = np.unique(labels)
    step = -(-len(names) // 20)
    ax.set_yticks(range(0, len(names), step), ["noise" if label < 0 else str(label) for label in names[::step]])
    ax.set_ylim(-0.6, len(names) - 0.4)


AT_BOUND = 1e-9
"""Relative difference up to which a weight equals the bound C: solvers stop at a tolerance far above rounding, but set
bounded weights to C itself."""


def rows_of(X: Any, model: object) -> Array:
    """The rows (n, d) as floats, checked by scikit-learn; of a table that a model was fitted to, its features."""
    from sklearn.utils.validation import check_array

    from clusterkit.estimators.preparing import is_table
    from clusterkit.estimators.samples import only_numbers

    fitted = getattr(model, "preparation_", None)
    if fitted is not None and is_table(X):
        features: Array = attrs.evolve(fitted, coded=False).transform(X, quiet=True)
        return features
    with only_numbers(X) as plain:
        rows: Array = check_array(plain, dtype=[np.float64, np.float32], order="C")
    return rows


def deciding(model: object, roles: Mapping[str, str]) -> Mask | None:
    """Which attributes of a model say something of clusters by the roles of their columns, (d,); None if not known."""
    fitted = getattr(model, "preparation_", None)
    widths = dict.fromkeys(roles, 1)
    if fitted is not None:
        widths = {plan.name: len(plan.features) for plan in fitted.plans if plan.used}
    if not roles or not widths.keys() <= roles.keys():
        return None
    return np.repeat([roles[name] not in UNTELLING for name in widths], [*widths.values()])


def names_of(names: Sequence[str] | None, X: object, model: object, d: int, caller: str) -> list[str]:
    """Names of the attributes: `names`, the columns of a frame, the names or features of the fit, or ``X[:, 0]``."""
    if names is not None:
        chosen = [str(name) for name in names]
        if len(chosen) != d:
            raise InvalidParameter(f"{caller}: names must be one for each of the {d} attributes, got {len(chosen)}")
        return chosen
    fitted = getattr(model, "preparation_", None)
    for columns in (
        getattr(X, "columns", None),
        getattr(model, "feature_names_in_", None),
        getattr(fitted, "features", None),
    ):
        if columns is not None and len(columns) == d:
            return [str(name) for name in columns]
    return [f"X[:, {i}]" for i in range(d)]


@final
@attrs.frozen(eq=False)
class Supports:
    """The support vectors of a domain.

    Parameters
    ----------
    centres : ndarray of shape (s, d)
        Distinct support vectors.
    bounded : ndarray of shape (s,)
        Mask of the weights at their bound.
    counts : SupportCounts or None
        Numbers of support vectors, where each of several equal samples counts; None where the solver does not report
        them.
    """

    centres: Array
    bounded: Mask
    counts: SupportCounts | None

    @property
    def title(self) -> str:
        """Text for a title; "" if nothing is known."""
        if self.counts is None:
            return ""
        n_support, n_bounded = self.counts.n_support, self.counts.n_bounded
        bound = "" if n_bounded is None else f", {n_bounded or 'none'} at the bound"
        return counted(n_support, "support vector") + bound


@final
@attrs.frozen(eq=False)
class FittedDomain:
    """A fitted model whose outcome is a domain, with its rows.

    Parameters
    ----------
    model : estimator
    domain : Domain
    points : ndarray of shape (n, d)
        The rows in the coordinates of the domain.
    labels : ndarray of shape (n,)
    names : list of str
        Names of the coordinates.
    """

    model: Any
    domain: Domain
    points: Array
    labels: Labels
    names: list[str]

    @classmethod
    def of(cls, model: Any, X: Any, names: Any, caller: str) -> FittedDomain:
        """Check that `model` has a domain and that X has the rows of its fit.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        IncompatibleStages
            If its outcome is no domain.
        InvalidParameter
            If `model` is no estimator.
        InvalidData
            If X has other rows than the fit.
        """
        instead = "clusterkit.plots.clusters draws the labels of any method"
        if not is_model(model):
            raise InvalidParameter(
                f"{caller}: needs a fitted model with a domain, got {type(model).__name__}; {instead}"
            )
        if not hasattr(model, "labels_"):
            raise not_fitted(model, caller)
        domain, space = getattr(model, "outcome_", None), getattr(model, "space_", None)
        if not isinstance(domain, Domain) or space is None:
            has = "no outcome" if domain is None else f"{type(domain).__name__.lower()}"
            raise IncompatibleStages(
                f"{caller}: draws a domain, such as recipe 'svc' gives, and this {type(model).__name__} has {has}; "
                f"{instead}"
            )
        rows = rows_of(X, model)
        labels = labels_of(model, len(rows), caller)
        if rows.shape[1] != model.n_features_in_:
            raise InvalidData(
                f"{caller}: X has {rows.shape[1]} attributes and the model was fitted on {model.n_features_in_}"
            )
        points = space.coordinates(rows)
        raw = names_of(names, X, model, rows.shape[1], caller)
        return cls(model, domain, points, labels, _coordinate_names(raw, space.before, points.shape[1]))

    def supports(self) -> Supports | None:
        """The support vectors; None where the domain has none."""
        domain = self.domain
        known: Any = domain if isinstance(domain, KernelDomain) else getattr(domain, "function", None)
        if not hasattr(known, "centres") or not hasattr(known, "weights"):
            return None
        used = known.weights != 0
        centres, weights = known.centres[used], known.weights[used]
        counts = domain.support_counts or SupportCounts(len(centres))
        bounded = np.zeros(len(centres), dtype=bool)
        if counts.n_bounded:
            # By the optimality conditions the weight of a sample outside is at its bound, also where bounds differ or
            # equal samples share a centre. A sample whose weight is C may also lie on the border.
            bounded = domain.value(centres) < domain.level
            if counts.bound is not None and counts.bound < 1.0:
                bounded |= np.isclose(weights, counts.bound, rtol=AT_BOUND, atol=0.0)
        return Supports(centres, bounded, counts)

    def supports_title(self) -> str:
        """Text about the support vectors for a title."""
        supports = self.supports()
        if supports is not None:
            return supports.title
        none = np.empty((0, 1))
        return Supports(none, np.empty(0, dtype=bool), self.domain.support_counts).title


def _coordinate_names(raw: list[str], before: tuple[Any, ...], d: int) -> list[str]:
    """Names of the coordinates of the domain, which is defined behind the maps `before` the kernel."""
    if not before:
        return raw
    if len(raw) == d and all(getattr(step, "columnwise", False) for step in before):
        return [f"{name} (scaled)" for name in raw]
    return [f"mapped coordinate {i}" for i in range(d)]
