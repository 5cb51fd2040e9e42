"""A labeler that reads clusters from merge trees of communities: at one number, or at the level that stands out.

A layer is a cut of all trees of the same vertices at one similarity θ, for one least size s of a cluster. It is good if
it covers the rows, if the trees agree on it, and if no cut is near it::

    coverage^8 × (mean adjusted Rand index of two trees)² × mean width of ln(similarity + .02) around θ

Among the layers whose score is at least `NEAR` of the best, the one is taken that agrees best with all of them (the
medoid, weighted by the scores): where manifolds have no single right number, several layers nearly tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Floats, Labels, Rng
from clusterkit.contracts import Labeler, Labeling, Task
from clusterkit.contracts.labelings import NOISE, ClusterLayer, by_appearance
from clusterkit.contracts.outcomes import MergeTree, MergeTrees, Outcome
from clusterkit.contracts.params import choice
from clusterkit.numerics.neighbour_search import nearest_of
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples import Space
from clusterkit.samples.features import NeighbourGraph
from clusterkit.samples.transform import Transform

EQUAL = 1e-12
"""Squared distance from a training row, in units of that of the farthest neighbour that votes, up to which a row is
equal to it: the rounding of a row that is scaled to length one."""

FARTHEST_VOTE = 1e-3
"""Vote of the farthest neighbour, relative to that of a row at distance 0."""


@final
@attrs.frozen(eq=False)
class NearestVotes:
    """Labels raw rows by the votes of their nearest training rows; a frozen callable, so that a fit can be saved.

    A row at squared distance d² votes with ``1 - d² / d_k²``, d_k being the distance of the k-th. A row equal to a
    training row gets the label of that row.

    Parameters
    ----------
    transform : Transform
        Maps raw rows to the coordinates of `rows`.
    rows : ndarray of shape (n, L)
    labels : ndarray of shape (n,)
    n_neighbors : int
    """

    transform: Transform
    rows: Array = attrs.field(validator=array("n L"))
    labels: Labels = attrs.field(validator=array("n", least=-1, most="n"))
    n_neighbors: int = attrs.field(validator=scalar(least=1))

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (m, d) to (m,); noise where most of the votes are for noise."""
        votes = self._votes(Y)
        return np.asarray(np.argmax(votes, axis=1) - 1)

    def shares(self, Y: Array) -> Array:
        """Share of the votes for each cluster, (m, k); a row of noise alone has equal shares."""
        votes = self._votes(Y)[:, 1:]
        totals = votes.sum(axis=1, keepdims=True)
        return np.where(totals > 0.0, votes / np.where(totals > 0.0, totals, 1.0), 1.0 / max(1, votes.shape[1]))

    def _votes(self, Y: Array) -> Array:
        """Votes for noise and for each cluster, (m, 1 + k)."""
        squared, index = nearest_of(self.rows, self.transform(Y), self.n_neighbors)
        farthest = np.where(squared[:, -1:] > 0.0, squared[:, -1:], 1.0)
        weights = 1.0 - squared / farthest + FARTHEST_VOTE
        equal = squared <= EQUAL * squared[:, -1:]
        weights = np.where(equal.any(axis=1, keepdims=True), equal, weights)
        votes = np.zeros((len(squared), int(self.labels.max(initial=NOISE)) + 2))
        np.add.at(votes, (np.arange(len(votes))[:, None], self.labels[index] + 1), weights)
        return votes


@final
@attrs.frozen
class Layers(Labeler[MergeTrees]):
    """Cuts merge trees at one number of clusters, or at the level that is most stable and most persistent.

    Choose it behind the solver `paris`. A cut undoes the merges of a similarity below θ; a split counts where both
    sides have a least number of rows, and a smaller side falls out. Several least sizes and the widest gaps of each
    tree are tried. A layer is good if it covers the rows, if the trees of several layouts agree on it, and if no merge
    is near its level; of those nearly as good as the best the one is taken that agrees most with the others
    (`best_layer`). ``layers_`` of the estimator has them from coarse to fine.

    Parameters
    ----------
    outliers : {"nearest", "noise"}, default "nearest"
        Whether rows that fell out in most trees get the label of most weight among their neighbours in the graph, or
        are noise, label -1.

    Notes
    -----
    ``probabilities_`` are the shares of the weight of a row in the graph that lead to its own cluster, 0 for noise.
    ``outlier_scores_`` are ``1 / (1 + weight inside)``: near 1 for rows that share few neighbours with their cluster,
    as background between the clusters does. Clusters are numbered by first appearance; where a number is given, from
    the first rows too. Data without two clusters of ten rows are one cluster. New rows follow their nearest rows.
    """

    name: ClassVar[str] = "layers"
    synonyms: ClassVar[tuple[str, ...]] = ("persistence", "stability", "cut_tree")
    consumes: ClassVar[type[Outcome]] = MergeTrees
    finds_k: ClassVar[bool] = True
    takes_k: ClassVar[bool] = True

    outliers: Literal["nearest", "noise"] = choice("nearest", ("nearest", "noise"))

    def label(self, outcome: MergeTrees, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the chosen layer, with all layers, probabilities and outlier scores."""
        graph, trees = outcome.graph, outcome.trees
        layers = layers_of(trees)
        if task.n_clusters is not None:
            chosen = layer_of(trees, task.n_clusters)
        elif layers:
            chosen = best_layer(layers)
        else:
            none = np.zeros(graph.n, dtype=np.int64)
            chosen = Layer(labels=none, n_clusters=1, stability=1.0, persistence=0.0, coverage=1.0, least=graph.n)
        shown = distinct_layers(layers, chosen)
        strongest = max(max(layer.score for layer in shown), 1e-300)
        of_samples = [
            ClusterLayer(
                by_appearance(self._labels(outcome, layer)[graph.place]),
                layer.score / strongest,
                layer.stability,
                layer.persistence,
                layer is chosen,
            )
            for layer in shown
        ]
        labels = next(layer.labels for layer in of_samples if layer.chosen)
        share, inside = shares_inside(graph, labels[graph.rows])
        count = int(labels.max(initial=NOISE)) + 1
        facts: dict[str, object] = {
            "clusters": count,
            "stability": round(chosen.stability, 3),
            "persistence": round(chosen.persistence, 3),
            "layers": tuple(layer.n_clusters for layer in of_samples),
        }
        if self.outliers == "noise":
            facts["noise"] = int((labels == NOISE).sum())
        predict = NearestVotes(outcome.transform, outcome.rows, labels, min(graph.index.shape[1] or 1, graph.n))
        return Labeling(
            labels,
            predict,
            probabilities=np.where(labels == NOISE, 0.0, share[graph.place]),
            outlier_scores=1.0 / (1.0 + inside[graph.place]),
            layers=tuple(of_samples),
            facts=facts,
        )

    def _labels(self, outcome: MergeTrees, layer: Layer) -> Labels:
        """Labels of the vertices in a layer."""
        return fill(outcome.graph, layer.labels) if self.outliers == "nearest" else layer.labels


SHARES, LEAST = (2000, 800, 400, 200, 100, 40), 10
"""Smallest sizes of a cluster that are tried: these fractions of the rows, and never fewer than that many."""

WIDEST = 8
"""Number of the widest gaps of each tree in whose middles a cut is tried, for each smallest size."""

OFFSET = 0.02
"""Added to similarities before their logarithm: below it two clusters are as good as unconnected."""

COVERING, AGREEING = 8, 2
"""Powers of coverage and stability in the score of a layer. A level at which many small clusters have fallen out may be
very stable and persistent: of 200 classes of unlike sizes the 44 largest."""

NEAR = 0.3
"""Score of a layer that counts for the choice, relative to the best; see `best_layer`. From .2 to .4 the answers are as
good on digits, Semeion, Satimage and generated sets."""

COMPARED = 4096
"""Vertices on which layers are compared with each other; their order is random."""

SHOWN = 12
"""Largest number of layers that are shown."""

READ = 36
"""Layers beyond those near the best among which the shown ones are sought."""


@attrs.frozen(eq=False, kw_only=True)
class _Cut:
    """Facts about one cut of all trees; `Layer` has its labels."""

    stability: float
    persistence: float
    coverage: float
    least: int

    @property
    def score(self) -> float:
        """How good the layer is, by the formula on top of this file; only a comparison has a meaning."""
        return self.coverage**COVERING * max(self.stability, 0.0) ** AGREEING * self.persistence


@attrs.frozen(eq=False, kw_only=True)
class Layer(_Cut):
    """One cut of all trees.

    Parameters
    ----------
    labels : ndarray of shape (u,)
        Cluster of each vertex, numbered from 0; -1 where it fell out of its cluster in most trees.
    n_clusters : int
    stability : float
        Mean adjusted Rand index of the cuts of two trees; 1 for a single tree.
    persistence : float
        Width of the logarithm of the similarity around the cut: factor e for 1.
    coverage : float
        Share of the vertices that did not fall out.
    least : int
        Least size of a cluster.
    """

    labels: Labels
    n_clusters: int


@attrs.frozen(eq=False, kw_only=True)
class _Draft(_Cut):
    """A layer before the labels of its trees are put together.

    Parameters
    ----------
    trees : sequence of MergeTree
    of_communities : list of ndarray
        Labels of the communities of each tree: those of all vertices would take much room for a hundred drafts.
    agreement : ndarray of shape (m, m)
        Adjusted Rand index of every two of them.
    stability, persistence, coverage, least
        As in `Layer`.
    """

    trees: Sequence[MergeTree]
    of_communities: Sequence[Labels]
    agreement: Floats

    def layer(self) -> Layer:
        """The layer."""
        pairs = zip(self.trees, self.of_communities, strict=True)
        labels = _majority([labels[tree.community] for tree, labels in pairs], self.agreement)
        return Layer(
            labels=labels,
            n_clusters=int(labels.max(initial=-1)) + 1,
            stability=self.stability,
            persistence=self.persistence,
            coverage=self.coverage,
            least=self.least,
        )


def layers_of(trees: Sequence[MergeTree]) -> list[Layer]:
    """The layers of best score, best first; none where no tree has a split into two clusters.

    All that count for the choice, and as many as it takes for `SHOWN` numbers of clusters. Scores are compared before
    the labels of the trees are put together, which costs more.
    """
    n = trees[0].n
    drafts: list[_Draft] = []
    for least in sorted({max(LEAST, n // share) for share in SHARES}):
        cuts = _Cuts.of(trees, least)
        heights = cuts.heights
        if min(map(len, cuts.splits)) == 0:
            continue
        levels = []
        for ascending in heights:
            widest = np.argsort(-np.diff(ascending), kind="stable")[:WIDEST]
            levels += [(ascending[i] + ascending[i + 1]) / 2 for i in widest]
        if not levels:  # a single split in each tree
            levels = [heights[0][0] + 1.0]
        tried = set()
        for level in levels:
            opened = cuts.opened([int(np.searchsorted(ascending, level)) for ascending in heights])
            if min(opened) >= 1 and opened not in tried:
                tried.add(opened)
                drafts.append(cuts.draft(opened))
    drafts.sort(key=lambda draft: -draft.score)
    layers: list[Layer] = []
    for draft in drafts:
        few = len(layers) < READ and len({layer.n_clusters for layer in layers}) < SHOWN and draft.score > 0
        if few or draft.score >= NEAR * drafts[0].score:
            layers.append(draft.layer())
    return layers


def layer_of(trees: Sequence[MergeTree], n_clusters: int) -> Layer:
    """The best layer of a given number of clusters, or of the largest number that the trees allow."""
    n = trees[0].n
    layers: list[Layer] = []
    for least in sorted({1, *(max(LEAST, n // share) for share in SHARES)}, reverse=True):
        cuts = _Cuts.of(trees, least)
        if min(map(len, cuts.splits)) >= n_clusters - 1 or (least == 1 and not layers):
            layers.append(cuts.draft(cuts.opened([n_clusters - 1] * len(trees))).layer())
    return max(layers, key=lambda layer: layer.score) if len(layers) > 1 else layers[0]


def best_layer(layers: Sequence[Layer]) -> Layer:
    """The layer that agrees best with those of nearly the best score."""
    scores = np.array([layer.score for layer in layers])
    near = np.flatnonzero(scores >= NEAR * scores.max())
    agreement = _agreement([layers[int(i)].labels for i in near]) @ scores[near]
    return layers[int(near[np.argmax(agreement)])]


def distinct_layers(layers: Sequence[Layer], chosen: Layer) -> list[Layer]:
    """The chosen layer and the best one of each other number of clusters, coarse to fine."""
    best = {chosen.n_clusters: chosen}
    for layer in sorted(layers, key=lambda layer: -layer.score):
        if len(best) < SHOWN and layer.score > 0:
            best.setdefault(layer.n_clusters, layer)
    return [best[k] for k in sorted(best)]


def _agreement(labelings: Sequence[Labels]) -> Floats:
    """Adjusted Rand index of every two labelings, on some of the vertices, (m, m); -1 is a class."""
    from clusterkit.families.embeddings.communities_jit import adjusted_rand

    table = np.stack([labels[:COMPARED] + 1 for labels in labelings])
    return adjusted_rand(np.ascontiguousarray(table, dtype=np.int64))


@attrs.frozen(eq=False)
class _Cuts:
    """The condensed trees for one least size.

    Parameters
    ----------
    trees : sequence of MergeTree
    splits : list of ndarray
        Similarities of the splits of each tree, ascending.
    least : int
    """

    trees: Sequence[MergeTree]
    splits: Sequence[Floats]
    least: int

    @classmethod
    def of(cls, trees: Sequence[MergeTree], least: int) -> _Cuts:
        from clusterkit.families.embeddings.communities_jit import cut

        splits = []
        for tree in trees:
            labels = np.empty(len(tree.sizes), dtype=np.int64)
            splits.append(cut(tree.merges, tree.similarity, tree.sizes, least, len(labels), labels))
        return cls(trees, splits, least)

    @cached_property
    def heights(self) -> list[Floats]:
        """Logarithms of the splits of each tree, and of the similarity at which equal rows would part."""
        pairs = zip(self.trees, self.splits, strict=True)
        return [
            np.log(
                (splits if tree.top == np.inf else np.append(splits, max(tree.top, splits.max(initial=0.0)))) + OFFSET
            )
            for tree, splits in pairs
        ]

    def opened(self, counts: Sequence[int]) -> tuple[int, ...]:
        """Numbers of splits, each at most the number that its tree has."""
        return tuple(min(len(splits), count) for splits, count in zip(self.splits, counts, strict=True))

    def draft(self, opened: tuple[int, ...]) -> _Draft:
        """The layer of the first splits of each tree, so many of each."""
        from clusterkit.families.embeddings.communities_jit import cut

        of_communities, widths, covered = [], [], []
        for tree, count, ascending in zip(self.trees, opened, self.heights, strict=True):
            labels = np.zeros(len(tree.sizes), dtype=np.int64)
            if count:
                cut(tree.merges, tree.similarity, tree.sizes, self.least, count, labels)
                widths.append(ascending[min(count, len(ascending) - 1)] - ascending[count - 1])
            covered.append(tree.sizes[labels >= 0].sum() / tree.n)
            of_communities.append(labels)
        pairs = zip(self.trees, of_communities, strict=True)
        agreement = _agreement([labels[tree.community[:COMPARED]] for tree, labels in pairs])
        others = ~np.eye(len(of_communities), dtype=bool)
        return _Draft(
            trees=self.trees,
            of_communities=of_communities,
            agreement=agreement,
            stability=float(agreement[others].mean()) if len(of_communities) > 1 else 1.0,
            persistence=float(np.mean(widths)) if widths else 0.0,
            coverage=float(np.mean(covered)),
            least=self.least,
        )


def _majority(labelings: Sequence[Labels], agreement: Floats) -> Labels:
    """Labels of most labelings, named as in the one that agrees best with the others; -1 where most say so."""
    from scipy.optimize import linear_sum_assignment

    from clusterkit.families.embeddings.communities_jit import joint_counts, majority

    first = int(np.argmax(agreement.sum(axis=1)))
    reference = labelings[first]
    if len(labelings) == 1:
        return reference
    k = int(reference.max()) + 1
    counts = [int(labels.max()) + 1 for labels in labelings]
    names = np.full((len(labelings), max(counts) + 1), -1)  # the last entry is for -1
    for labels, count, name in zip(labelings, counts, names, strict=True):
        one, other = linear_sum_assignment(-joint_counts(labels, reference, count, k))
        name[one] = other
    merged = majority(np.stack(labelings), names, first)
    # a cluster of which most labelings know nothing is none
    known = np.bincount(merged + 1, minlength=k + 1)[1:] > 0
    number = np.append(np.where(known, np.cumsum(known) - 1, -1), -1)
    return number[merged]


def fill(graph: NeighbourGraph, labels: Labels) -> Labels:
    """Labels of all vertices, (u,): those of -1 take that of most weight among their neighbours, round by round.

    What no edge joins to a cluster goes to the largest one.
    """
    from clusterkit.families.embeddings.communities_jit import spread_labels

    labels = labels.astype(np.int64)
    k = int(labels.max(initial=-1)) + 1
    if k == 0:
        return np.zeros_like(labels)
    largest = int(np.argmax(np.bincount(labels[labels >= 0], minlength=k)))
    spread_labels(graph.starts, graph.tails, graph.weights, labels, k)
    labels[labels < 0] = largest
    return labels


def shares_inside(graph: NeighbourGraph, labels: Labels) -> tuple[Floats, Floats]:
    """Share of the weight of each vertex that leads to its own cluster, and that weight, (u,) each."""
    heads = np.repeat(np.arange(graph.n), np.diff(graph.starts))
    same = (labels[heads] == labels[graph.tails]) & (labels[heads] >= 0)
    weights = graph.weights.astype(np.float64)
    degrees = np.bincount(heads, weights, graph.n)
    inside: Floats = np.bincount(heads[same], weights[same], graph.n).astype(np.float64)
    return np.divide(inside, degrees, out=np.zeros(graph.n), where=degrees > 0), inside
