"""A labeler that reads clusters from merge trees of communities: at one number, or at the level that stands out."""

from __future__ import annotations

from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import Labeler, Labeling, Task
from clusterkit.contracts.labelings import NOISE, ClusterLayer, by_appearance
from clusterkit.contracts.outcomes import MergeTrees, Outcome
from clusterkit.contracts.params import choice
from clusterkit.families.embeddings.layer_scores import (
    Layer,
    best_layer,
    distinct_layers,
    fill,
    layer_of,
    layers_of,
    shares_inside,
)
from clusterkit.numerics.neighbour_search import nearest_of
from clusterkit.numerics.shapes import array, scalar
from clusterkit.samples import Space
from clusterkit.samples.transform import Transform

__all__ = ["Layers", "NearestVotes"]

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
    (`best_layer` in layer_scores.py). ``layers_`` of the estimator has them from coarse to fine.

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
