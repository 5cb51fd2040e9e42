"""Labelers that read clusters from a spanning tree, by its merges in order of height.

* `Single`: cut the k - 1 highest merges. Gower, Ross (1969), Applied Statistics 18(1).
* `MassCut`: drop the k - 1 edges of largest mass, ``ln(height / birth) √size`` of the side that ends there.
* `Genie`: single linkage that continues with the smallest cluster where sizes become uneven. Gagolewski, Bartoszuk,
  Cena (2016), Information Sciences 363.
* `ExcessOfMass`: the most stable clusters of the condensed hierarchy (HDBSCAN). Campello, Moulavi, Zimek, Sander
  (2015), ACM Transactions on Knowledge Discovery from Data 10(1).

`Single` and `ExcessOfMass` read a hierarchy in which all merges of one height are one node; it is in
hierarchy_jit.py. The label of a new row follows a training row (`NearestRow`).

Layers are the most persistent cuts over all smallest sizes of a cluster (`persistent_cuts`). As the smallest size m
grows, clusters of the condensed hierarchy stop being divided and become leaves, until they are too small or their last
sibling is. A leaf lasts for the sizes in between; the persistence of a cut is the number of sizes that its leaves last,
in all. Cuts of locally largest persistence are the layers. Bot, Strobl, Aerts, McInnes (2025), Persistent multiscale
density-based clustering.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, ClassVar, NamedTuple, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels, Mask, Rng
from clusterkit.contracts import Labeler, Labeling, Task
from clusterkit.contracts.labelings import NOISE, by_appearance, cluster_sizes
from clusterkit.contracts.links import LinkedGroups
from clusterkit.contracts.outcomes import Outcome, Tree
from clusterkit.contracts.params import choice, flag, integer, real
from clusterkit.errors import ClusterkitWarning, InvalidData
from clusterkit.numerics.selection import distinct_rows
from clusterkit.numerics.shapes import array, scalar
from clusterkit.numerics.spanning_trees.tree import births, edge_masses, least_side, nearest_first
from clusterkit.samples import Space
from clusterkit.samples.transform import Transform

if TYPE_CHECKING:
    from clusterkit.families.trees.hierarchy_jit import Condensed

ROUNDING = 1e-10
"""Part of the largest coordinate of the training rows below which mapped rows do not differ."""


@final
@attrs.frozen(eq=False)
class NearestRow:
    """Labels raw rows; a frozen callable, so that a fit can be pickled.

    A row equal to a training row gets the label of that row, whatever is near it: as a new row it would count the
    training row among its neighbours. A map may round a row otherwise than the same row among others; coordinates
    closer than `ROUNDING` of the largest one count as equal there.

    Parameters
    ----------
    transform : Transform
        Maps raw rows to the coordinates of `rows`.
    rows : ndarray of shape (n, L)
        Training rows.
    core_distances : ndarray of shape (n,)
    n_neighbors : int
    labels : ndarray of shape (n,)
    farthest : ndarray of shape (k,) or None
        Mutual reachability distance to each cluster from which on a row is noise; None if no row is ever noise.
    precomputed : bool
        Whether raw rows are distances to the training rows, (m, n).
    degrees : ndarray of shape (n,) or None
        Degree to which each training row belongs to its cluster, where the method has degrees.
    wholly : ndarray of shape (k,) or None
        Mutual reachability distance to each cluster up to which a new row belongs to it with degree 1.
    """

    transform: Transform
    rows: Array = attrs.field(validator=array("n L"))
    core_distances: Array = attrs.field(validator=array("n", least=0))
    n_neighbors: int = attrs.field(validator=scalar(least=1, most="n"))
    labels: Labels = attrs.field(validator=array("n", least=NOISE, most="n"))
    farthest: Array | None = attrs.field(default=None, validator=array("k", finite=False))
    precomputed: bool = False
    degrees: Array | None = attrs.field(default=None, validator=array("n", least=0, most=1))
    wholly: Array | None = attrs.field(default=None, validator=array("k", least=0))

    def check_saved(self) -> None:
        """Raise ValueError unless each cluster has its distances, and distances are those between all rows."""
        for distances in (self.farthest, self.wholly):
            if distances is not None and self.labels.max(initial=-1) >= len(distances):
                raise ValueError("NearestRow: labels has a cluster without a distance in farthest or wholly")
        if (self.degrees is None) != (self.wholly is None):
            raise ValueError("NearestRow: degrees and wholly come together")
        if self.precomputed and self.rows.shape[0] != self.rows.shape[1]:
            raise ValueError(f"NearestRow: rows of the shape {self.rows.shape} are no distances between all rows")

    @classmethod
    def of(cls, tree: Tree, labels: Labels, farthest: Array | None = None, **degrees: Array) -> NearestRow:
        """The predictor of a labelling of a tree."""
        core, count = tree.core_distances, tree.n_neighbors
        return cls(tree.transform, tree.rows, core, count, labels, farthest, tree.precomputed, **degrees)

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (m, d) to (m,); O(log n) for each where the rows have few attributes."""
        return self._placed(Y)[0]

    def shares(self, Y: Array) -> Array:
        """Degree to which raw rows belong to each cluster, (m, k): only that to the cluster of the label is above 0."""
        labels, nearest, distances = self._placed(Y)
        degrees, wholly = self.degrees, self.wholly
        assert degrees is not None
        assert wholly is not None
        table = np.zeros((len(labels), len(wholly)))
        inside = np.flatnonzero(labels >= 0)
        of_nearest, far, least = degrees[nearest[inside]], distances[inside], wholly[labels[inside]]
        reached = np.divide(least, far, out=np.ones(len(far)), where=far > least)
        table[inside, labels[inside]] = np.where(far > 0, reached * (of_nearest > 0), of_nearest)
        return table

    def _placed(self, Y: Array) -> tuple[Labels, Indices, Array]:
        """Labels of raw rows, the training row that is nearest to each, and the distance from it, 0 of an equal one."""
        from clusterkit.numerics.spanning_trees.tree import nearest_by_reachability
        from clusterkit.numerics.structures_jit import find_rows

        points = self.transform(Y)
        if not self.precomputed:
            nearest = find_rows(self.rows, points)
            if self.transform.steps and len(new := np.flatnonzero(nearest < 0)):
                unit = ROUNDING * np.abs(self.rows).max(initial=1e-300)
                nearest[new] = find_rows(np.round(self.rows / unit), np.round(points[new] / unit))
        elif points.min(initial=0.0) < 0:
            raise InvalidData(f"distances of new rows are not negative, and there is {points.min():g}")
        else:
            nearest = np.where((points == 0).any(axis=1), np.argmin(points, axis=1), -1)
        labels = np.where(nearest >= 0, self.labels[nearest], NOISE)
        new, distances = np.flatnonzero(nearest < 0), np.zeros(len(labels))
        if len(new):
            nearest[new], distances[new] = nearest_by_reachability(
                self.rows, self.core_distances, self.n_neighbors, points[new], self.precomputed
            )
            labels[new] = self.labels[nearest[new]]
            if self.farthest is not None:
                inside = new[labels[new] >= 0]
                labels[inside[distances[inside] > self.farthest[labels[inside]]]] = NOISE
        return labels, nearest, distances


@final
@attrs.frozen(eq=False)
class LinkedTree:
    """A spanning tree with the links of its rows.

    Edges between rows that belong together come first; merges of components that are apart are refused. What is left
    are several trees, which merge above all other edges: there they are cut first.

    Parameters
    ----------
    merges : ndarray of shape (n - 1, 2)
    heights : ndarray of shape (n - 1,)
    parts : int
        Number of trees that are left.
    links : LinkedGroups or None
    """

    merges: Indices
    heights: Array
    parts: int = 1
    links: LinkedGroups | None = None

    @classmethod
    def of(cls, tree: Tree, links: LinkedGroups | None, together: float = 0.0) -> LinkedTree:
        """The tree, where rows that belong together merge at the height `together`."""
        if links is None or not links.m or len(tree.rows) < 2:
            return cls(tree.merges, tree.heights)
        from clusterkit.families.trees.hierarchy_jit import linked_forest
        from clusterkit.numerics.linked.apart_jit import neighbours_of

        order = np.argsort(links.groups, kind="stable")
        same = links.groups[order][1:] == links.groups[order][:-1]
        pairs = np.stack([links.rows[order][:-1][same], links.rows[order][1:][same]], axis=1).astype(np.int64)
        of_row = np.full(len(tree.rows), -1)
        of_row[links.rows] = links.groups
        starts, near = neighbours_of(np.ascontiguousarray(links.apart, dtype=np.int64), links.m)
        merges, heights, accepted = linked_forest(
            tree.merges.astype(np.int64), np.maximum(tree.heights, together), pairs, together, of_row, starts, near
        )
        return cls(merges, heights, len(tree.rows) - accepted, links)

    @property
    def between(self) -> Mask:
        """Mask of the merges of the trees that are left, (n - 1,)."""
        return np.arange(len(self.merges)) >= len(self.merges) + 1 - self.parts

    def kept_apart(self, name: str, labels: Labels, rows: Array, k: int) -> Labels:
        """The labels, or where more trees are left than clusters, those of trees put together under the links.

        Each part of a tree with one label goes to the cluster with the nearest mean, at least cost. If the trees cannot
        be put together so, they go to the nearest means, and then the rows with links are labelled at least cost.
        """
        links = self.links
        if links is None or (labels.max() < k and links.broken(labels) == (0, 0)):
            return labels
        from clusterkit.families.trees.hierarchy_jit import components
        from clusterkit.numerics.linked.labels import cheapest_labels

        trees = components(self.merges, self.between)
        pieces: Labels = np.unique(np.stack([trees, labels]), axis=1, return_inverse=True)[1].ravel()
        sizes, means = _means(rows, pieces)
        centres = means[np.argsort(-sizes, kind="stable")[:k]]
        costs = sizes[:, None] * ((means[:, None, :] - centres) ** 2).sum(axis=2)
        costs = np.pad(costs, ((0, 0), (0, k - costs.shape[1])), constant_values=costs.max() + 1.0)
        of_group = pieces[links.rows[np.unique(links.groups, return_index=True)[1]]]
        solved = cheapest_labels(costs, np.unique(np.sort(of_group[links.apart], axis=1), axis=0))
        if np.isfinite(solved.cost):
            joined: Labels = solved.labels[pieces]
            return joined
        joined = np.argmin(costs, axis=1)[pieces].astype(np.int64)
        sizes, centres = _means(rows, joined)
        distances = np.full((len(rows), k), np.inf)
        for j in np.flatnonzero(sizes):
            distances[:, j] = ((rows.astype(np.float64) - centres[j]) ** 2).sum(axis=1)
        distances[:, np.flatnonzero(np.isinf(distances[0]))] = distances[np.isfinite(distances)].max() + 1.0
        return links.cheapest(name, distances, joined)[0]


def _means(rows: Array, labels: Labels) -> tuple[Counts, Array]:
    """Sizes and means of the clusters that have rows, by their numbers 0..k-1."""
    sizes: Counts = np.bincount(labels)
    sums = np.stack([np.bincount(labels, weights=column) for column in rows.T.astype(np.float64)], axis=1)
    return sizes, sums / np.maximum(sizes, 1)[:, None]


@final
@attrs.frozen
class ExcessOfMass(Labeler[Tree]):
    """Finds the clusters of largest excess of mass, their number and the noise, at one density for each cluster.

    Choose it for an unknown number of clusters of any shape and of different densities, with noise. As the height of
    the tree falls, λ = 1 / height grows and clusters lose rows; a group of at least `min_cluster_size` rows that
    separates from another one is a new cluster. Chosen are the clusters, none within another, whose stabilities
    ``Σ (λ at which a row leaves - λ at which the cluster began)`` have the largest sum. The sweeps over the hierarchy
    are in hierarchy_jit.py.

    Parameters
    ----------
    min_cluster_size : int or None, default 15
        Fewest rows of a cluster. None takes the clusters that are not divided at the size at which they are most
        persistent, the strongest of ``layers_`` (PLSCAN); `resolved_` has that size.
    allow_single_cluster : bool, default False
        Whether all rows together may be the one cluster that is chosen; rows that leave it before its densest part ends
        are noise. Without it, data without a split are all noise.
    selection : {"excess", "leaf"}, default "excess"
        "leaf" takes the clusters that are not divided, which are more and of more even sizes; data without a split are
        noise.
    epsilon : float, default 0.0
        Height of the tree, a distance, below which no cluster begins: clusters that separate there are taken together,
        as DBSCAN with this radius would, while those that begin higher stay. Under ``metric="haversine"`` it is a
        straight line in a sphere of radius 1: kilometres divided by 6371.
    max_cluster_size : int or None, default None
        Clusters that begin with more rows are not taken, those into which they divide are; only with "excess".
    outliers : {"noise", "nearest"}, default "noise"
        "nearest" gives noise the cluster of the row that is nearest by mutual reachability, with probability 0. Noise
        whose links this would break stays noise.

    Notes
    -----
    Rows of no cluster are noise, label -1. ``probabilities_`` are λ at which a row leaves its cluster, over the largest
    such λ of the cluster; ``memberships_`` hold them in a table, and `predict_proba` gives it for new rows, by the λ
    at which they reach the sample that is nearest. ``outlier_scores_`` are the GLOSH scores, from 0 to 1,
    of noise as well. Clusters are numbered by first appearance. A new row gets the label of the sample that is nearest
    by mutual reachability, or is noise if that distance is above the height at which the cluster of the sample began.
    All merges of one height count as one, so that the order of the samples makes no difference. O(n) after the tree.

    References
    ----------
    Campello, Moulavi, Zimek, Sander (2015), Hierarchical density estimates for data clustering, visualization, and
    outlier detection, ACM Transactions on Knowledge Discovery from Data 10(1): rule, algorithm 2; scores, section 6.
    McInnes, Healy (2017), Accelerated hierarchical density based clustering, ICDM workshops: the condensed hierarchy.
    Bot, Strobl, Aerts, McInnes (2025), Persistent multiscale density-based clustering: no smallest size.
    Malzer, Baum (2020), A hybrid approach to hierarchical density-based cluster selection, IEEE MFI: epsilon.
    """

    name: ClassVar[str] = "excess_of_mass"
    synonyms: ClassVar[tuple[str, ...]] = ("eom", "hdbscan")
    consumes: ClassVar[type[Outcome]] = Tree
    linked: ClassVar[bool] = True
    finds_k: ClassVar[bool] = True

    min_cluster_size: int | None = integer(15, at_least=2, optional=True)
    allow_single_cluster: bool = flag(False)
    selection: str = choice("excess", ("excess", "leaf"))
    epsilon: float = real(0.0, at_least=0.0)
    max_cluster_size: int | None = integer(None, at_least=1, optional=True)
    outliers: str = choice("noise", ("noise", "nearest"))

    def label(self, outcome: Tree, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the chosen clusters, noise -1, with probabilities and outlier scores."""
        from clusterkit.families.trees.hierarchy_jit import excess_of_mass, hierarchy

        n = len(outcome.rows)
        positive = outcome.heights[outcome.heights > 0]
        linked = LinkedTree.of(outcome, task.links, float(positive[0]) if len(positive) else 0.0)
        tree = hierarchy(linked.merges, linked.heights)
        single = self.allow_single_cluster and linked.parts == 1
        least, leaves = self.min_cluster_size, self.selection == "leaf"
        if least is None:
            least = max(outcome.n_neighbors, 2)
            for cut in persistent_cuts(linked.merges, linked.heights, least, 1) if n > 1 else ():
                least, leaves = cut.least + 1, True
        extracted = excess_of_mass(
            tree,
            n,
            least,
            single,
            leaves=leaves,
            epsilon=self.epsilon,
            max_cluster_size=self.max_cluster_size,
        )
        labels = by_appearance(extracted.owner)
        k = int(labels.max()) + 1
        births = np.zeros(k)
        inside = labels != NOISE
        births[labels[inside]] = extracted.birth[extracted.owner[inside]]
        farthest: Array | None = np.divide(1.0, births, out=np.full(k, np.inf), where=births > 0)
        wholly = np.zeros(k)
        wholly[labels[inside]] = 1.0 / extracted.death[extracted.owner[inside]]
        facts: dict[str, object] = {"clusters": k, "noise": int(n - inside.sum()), "min_cluster_size": least}
        if k == 0:
            facts["reason"] = self._why_none(n, least)
        elif self.outliers == "nearest" and not inside.all():
            labels, joined = _without_noise(outcome, labels, task.links)
            facts, farthest = {**facts, "noise": int((labels < 0).sum()), "noise_joined": joined}, None
        return Labeling(
            labels,
            NearestRow.of(outcome, labels, farthest, degrees=extracted.probability, wholly=wholly),
            probabilities=extracted.probability,
            outlier_scores=extracted.outlier_score,
            facts=facts,
        )

    def _why_none(self, n: int, least: int) -> str:
        """The reason why all n rows are noise, for the facts of the labelling."""
        single = self.allow_single_cluster
        if n < (least if single else 2 * least):
            needed = f"a cluster has {least} rows" if single else f"two clusters have {2 * least} rows"
            return f"{needed} or more by labeler__min_cluster_size={least}; a smaller number may show clusters"
        return (
            f"no groups of labeler__min_cluster_size={least} rows separate; a smaller number, or fewer "
            "solver__n_neighbors, may show some, and labeler__allow_single_cluster=True makes all of them one"
        )


def _without_noise(tree: Tree, labels: Labels, links: LinkedGroups | None) -> tuple[Labels, int]:
    """Labels of noise by the nearest row in a cluster, and the number of rows that got one."""
    from clusterkit.numerics.spanning_trees.tree import nearest_by_reachability

    inside, outside = np.flatnonzero(labels >= 0), np.flatnonzero(labels < 0)
    # a row of noise is as sparse against all rows: among equals the nearest one counts
    queries = tree.rows[np.ix_(outside, inside)] if tree.precomputed else tree.rows[outside]
    nearest, _ = nearest_by_reachability(tree.rows[inside], tree.core_distances[inside], 1, queries, tree.precomputed)
    complete = labels.copy()
    complete[outside] = labels[inside[nearest]]
    if links is not None and links.m:
        first = np.unique(links.groups, return_index=True)[1]
        of_groups = complete[links.rows[first]]
        noisy = labels[links.rows[first]] < 0
        for a, b in links.apart.tolist():
            if of_groups[a] == of_groups[b]:  # of two that would share a cluster noise stays noise
                of_groups[b if noisy[b] else a] = NOISE
        complete[links.rows] = of_groups[links.groups]
    return complete, int((complete[outside] >= 0).sum())


@final
@attrs.frozen
class Genie(Labeler[Tree]):
    """Merges clusters along the edges of a spanning tree, the smallest ones first where sizes become too uneven.

    Choose it for k clusters of any shape whose sizes do not differ much. As in single linkage the shortest edge is
    taken, unless the Gini index of the m cluster sizes c is above `gini`::

        Σ_{i<j} |c_i - c_j| / ((m - 1) n) > gini

    Then the shortest edge with an end in a cluster of the smallest size is taken. The merges end at k clusters. The
    rule is in hierarchy_jit.py (`genie`).

    Parameters
    ----------
    gini : float, default 0.3
        The paper's threshold, from 0 to 1: 1 is single linkage, lower values give more even sizes.

    Notes
    -----
    The paper uses the Euclidean tree, ``n_neighbors=1`` of the solver `mst`. Unlike for the other labelers of trees,
    the labels depend on the order of the samples where distances tie, because edges of equal length must be taken one
    after the other: of equal ones that between the lowest rows. Equal samples are one cluster from the start, and a
    `ClusterkitWarning` tells if there are fewer distinct ones than clusters, and another one if the edges that are
    longest and those of largest mass part the same large clusters of other sizes. Clusters are numbered by first
    appearance; new rows get the label of the nearest sample. O(n log n) after the tree.

    References
    ----------
    Gagolewski, Bartoszuk, Cena (2016), Genie: a new, fast, and outlier-resistant hierarchical clustering algorithm,
    Information Sciences 363.
    """

    name: ClassVar[str] = "genie"
    consumes: ClassVar[type[Outcome]] = Tree
    linked: ClassVar[bool] = True

    gini: float = real(0.3, at_least=0.0, at_most=1.0)

    def label(self, outcome: Tree, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the k clusters at which the merges end."""
        from clusterkit.families.trees.hierarchy_jit import components, genie

        linked = LinkedTree.of(outcome, task.links)
        if linked.links is not None:
            first_equal: Indices = components(linked.merges, linked.heights > 0)
        elif outcome.n_neighbors == 1 and outcome.heights.size and outcome.heights[0] > 0:
            first_equal = np.arange(len(outcome.rows))  # equal rows would be joined at height 0
        else:
            first, inverse = distinct_rows(outcome.rows)
            first_equal = first[inverse]
        labels = by_appearance(genie(linked.merges, first_equal, task.k, self.gini, linked.parts))
        n = len(labels)
        plain = by_appearance(components(linked.merges, np.arange(n - 1) >= n - task.k))
        sizes = cluster_sizes(plain)
        even = (plain == labels).all() or min(sizes.values()) < least_side(n)
        if not even and np.array_equal(MassCut().label(outcome, space, task, rng).labels, plain):
            warnings.warn(
                f"labeler 'genie': the {task.k - 1} longest edges of the tree part clusters of "
                f"{', '.join(map(str, sorted(sizes.values(), reverse=True)))} rows, and gini={self.gini:g} does not "
                "allow sizes as uneven; recipe 'mass-cut' does, and a larger labeler__gini may",
                ClusterkitWarning,
                stacklevel=2,
            )
        labels = linked.kept_apart("labeler 'genie'", labels, outcome.rows, task.k)
        return Labeling(labels, NearestRow.of(outcome, labels))


@final
@attrs.frozen
class MassCut(Labeler[Tree]):
    """Drops the k - 1 edges of largest mass from a spanning tree of mutual reachability; clusters are what remains.

    Choose it for k clusters of any shape and of different densities, where outliers must not become clusters. Each
    cluster of the hierarchy is born at the least core distance of its rows. Where two clusters merge at height w, the
    one born later ends there, and the edge between them has the mass::

        ln(w / birth) √(rows of the smaller cluster)

    Edges with fewer than ``max(5, √n / 2)`` rows on a side count for nothing. The sweep over the edges is in
    numerics/structures_jit.py (`persistence`).

    Parameters
    ----------
    min_side : int or None, default None
        Fewest rows on a side of a cut. None: ``max(5, round(√n / 2))``.

    Notes
    -----
    No sample is noise: outliers follow the edges of the tree. If fewer than k - 1 edges have large enough sides, the
    others follow by their mass, and those without mass by their height; equal samples are never separated, and a
    `ClusterkitWarning` says how many clusters there are then. Core distances of 0 (equal samples, or
    ``n_neighbors=1``) count as the smallest positive one, or as the smallest height if there is none. Merges of
    equal height come in the order of the distance between their two samples, so that the order of the samples matters
    only where distances tie as well.

    The exponent 1/2 and the neighbours of the recipe were chosen on 28 shapes in the plane and space, eight further
    named shapes, and generated data. Clusters are numbered by first appearance; new rows get the label of the sample
    that is nearest by mutual reachability. O(n log n) after the tree.
    """

    name: ClassVar[str] = "mass_cut"
    consumes: ClassVar[type[Outcome]] = Tree
    linked: ClassVar[bool] = True

    min_side: int | None = integer(None, at_least=1, optional=True)

    def label(self, outcome: Tree, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the k clusters that remain after the edges of largest mass are cut."""
        from clusterkit.families.trees.hierarchy_jit import components

        linked, n = LinkedTree.of(outcome, task.links), len(outcome.rows)
        heights, between = linked.heights, linked.between
        merges = linked.merges[nearest_first(outcome.rows, linked.merges, heights, outcome.precomputed)]
        mass, side = edge_masses(merges, heights, births(outcome.core_distances, heights))
        least = least_side(n) if self.min_side is None else self.min_side
        # a distance of 0 between different samples is one whose square is below the smallest number
        apart = (outcome.rows[merges[:, 0]] != outcome.rows[merges[:, 1]]).any(axis=1) & (heights > 0)
        # order: by mass, later merges first on ties; merges with small sides come later, merges of equal samples never
        order = np.lexsort((np.arange(n - 1), mass, side >= least, apart, between))[::-1][: task.k - 1]
        dropped = np.zeros(n - 1, bool)
        dropped[order] = apart[order] | between[order]
        labels = linked.kept_apart(
            "labeler 'mass_cut'", by_appearance(components(merges, dropped)), outcome.rows, task.k
        )
        return Labeling(labels, NearestRow.of(outcome, labels))


@final
@attrs.frozen
class Single(Labeler[Tree]):
    """Cuts the k - 1 highest merges of a spanning tree: single linkage, or robust single linkage with core distances.

    Choose it where clusters are separated by gaps wider than any gap inside them, and there are no outliers: an outlier
    becomes a cluster of its own. `mass_cut` reads the same tree with regard to sizes.

    Parameters
    ----------
    distance_threshold : float or None, default None
        Height of the tree at or above which clusters are not merged, by its name in scikit-learn: it takes the place of
        the number of clusters. Equal samples stay together at 0 too.

    Notes
    -----
    Where more than two clusters merge at one height, the smallest of them stay with the largest one until the others
    are cut off, of equal sizes those that begin later. So there are always k clusters, except where equal samples
    would be separated: then a `ClusterkitWarning` says how many there are. Clusters are numbered by first appearance.
    New rows get the label of the sample that is nearest by mutual reachability. O(n) after the tree.

    References
    ----------
    Gower, Ross (1969), Minimum spanning trees and single linkage cluster analysis, Applied Statistics 18(1).
    Chaudhuri, Dasgupta (2010), Rates of convergence for the cluster tree, NIPS: core distances.
    """

    name: ClassVar[str] = "single"
    synonyms: ClassVar[tuple[str, ...]] = ("single_linkage", "hierarchical", "agglomerative", "cut_tree")
    consumes: ClassVar[type[Outcome]] = Tree
    linked: ClassVar[bool] = True

    distance_threshold: float | None = real(None, at_least=0.0, optional=True)

    @property
    def finds_k(self) -> bool:  # type: ignore[override] # a property for a class attribute
        """Whether a height says where to cut."""
        return self.distance_threshold is not None

    def label(self, outcome: Tree, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the k clusters of the highest merges."""
        from clusterkit.families.trees.hierarchy_jit import cut_off, hierarchy, trunks

        linked, n = LinkedTree.of(outcome, task.links), len(outcome.rows)
        tree = hierarchy(linked.merges, linked.heights)
        merged_at = np.append(tree.height[tree.parent[:-1]], 0.0)
        allowed = merged_at > 0
        allowed[trunks(tree)[n:]] = False
        _, inverse = distinct_rows(outcome.rows)
        allowed[:n] &= np.bincount(inverse)[inverse] == 1  # equal rows are siblings, and must stay together
        places = np.flatnonzero(allowed)
        level = self.distance_threshold
        if level is not None:
            top = linked.heights[-1] if linked.parts > 1 else level  # trees that are apart are cut whatever the height
            k = int((merged_at[places] >= min(level, top)).sum()) + 1
        else:
            k = task.k
        if 0 < k - 1 < len(places):  # sort only those that can be among the k - 1 highest
            places = places[merged_at[places] >= np.partition(merged_at[places], 1 - k)[1 - k]]
        order = np.lexsort((tree.first[places], -tree.size[places], -merged_at[places]))
        cuts = np.zeros(len(tree.parent), bool)
        cuts[places[order[: k - 1]]] = True
        labels = linked.kept_apart("labeler 'single'", by_appearance(cut_off(tree, cuts, n)), outcome.rows, k)
        return Labeling(labels, NearestRow.of(outcome, labels))


class Cut(NamedTuple):
    """The leaves at one smallest size.

    `labels` (n,) are numbers of clusters of the condensed hierarchy, -1 for noise; they are the same from the smallest
    size `least` to below `end`. `persistence` is the number of sizes that they last, in all.
    """

    labels: Labels
    least: int
    end: int
    persistence: float


def persistent_cuts(merges: Indices, heights: Array, floor: int, most: int) -> list[Cut]:
    """At most `most` cuts of the largest persistence, from coarse to fine; O(n), and O(n) for each.

    Parameters
    ----------
    merges : ndarray of shape (n - 1, 2)
    heights : ndarray of shape (n - 1,)
        Ascending.
    floor : int
        Smallest size of a cluster, at least 2.
    most : int
    """
    from scipy.signal import find_peaks

    from clusterkit.families.trees.hierarchy_jit import condense, hierarchy, highest

    n = len(merges) + 1
    condensed = condense(hierarchy(merges, heights), n, floor)
    least, end = _lasting(condensed, n, floor)
    leaves = np.flatnonzero((least < end) & (condensed.above >= 0))
    if not len(leaves):
        return []
    lasts = end[leaves] - least[leaves]
    sizes = np.unique(np.concatenate([least[leaves], end[leaves]]))
    begin, finish = np.searchsorted(sizes, least[leaves]), np.searchsorted(sizes, end[leaves])
    change = np.zeros(len(sizes) + 1)
    np.add.at(change, begin, lasts)
    np.add.at(change, finish, -lasts)
    trace = np.cumsum(change)[:-1]
    peaks: Indices = find_peaks(np.concatenate([[0.0], trace, [0.0]]))[0] - 1
    peaks = peaks[np.argsort(-trace[peaks], kind="stable")[:most]]
    cuts = []
    for peak in sorted(peaks.tolist(), reverse=True):
        size = sizes[peak]
        chosen = (least <= size) & (size < end) & (condensed.above >= 0)
        within = np.full(len(chosen), -1)
        highest(condensed.above, chosen, within)
        labels = within[condensed.cluster[:n]]
        following = int(sizes[peak + 1]) if peak + 1 < len(sizes) else n
        cuts.append(Cut(labels, int(size), following, float(trace[peak])))
    return cuts


def _lasting(condensed: Condensed, n: int, floor: int) -> tuple[Counts, Counts]:
    """The smallest sizes from which each cluster is a leaf, and up to below which; it may never be one."""
    above, size = condensed.above, condensed.size
    count = len(above)
    order = np.lexsort((-size, above))
    place = np.arange(count) - np.searchsorted(above[order], above[order])  # among the siblings, the largest first
    end = size.copy()
    firsts = np.flatnonzero(place == 0)
    seconds = np.minimum(firsts + 1, count - 1)
    paired = place[seconds] == 1
    end[order[firsts[paired]]] = size[order[seconds[paired]]]
    end[0] = n
    least = np.full(count, floor)
    for c in range(count - 1, 0, -1):  # clusters below have higher numbers
        least[above[c]] = max(least[above[c]], least[c], end[c])
    return least, end
