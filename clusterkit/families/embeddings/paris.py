"""Merge trees of the communities of a graph of shared neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Ending, MergeTrees, Outcome, Status
from clusterkit.families.embeddings.merge_trees import joined_by_distance, merge_tree, neighbour_graph
from clusterkit.numerics.graph_records import MergeTree, NeighbourGraph
from clusterkit.numerics.threads import available, thread_pool
from clusterkit.samples import EmbeddedSpace, FeatureSpace, Space, memory
from clusterkit.samples.coding import Coded
from clusterkit.samples.limits import Report, notify, reuse

__all__ = ["Paris"]

BYTES_A_NEIGHBOUR = 48
"""Bytes that a row takes for each neighbour while its tree is made: lists of the nearest, and edges in both
directions."""


@final
@attrs.frozen
class Paris(Solver):
    """Small communities of the graph and the tree in which they merge, by the similarity of the Paris algorithm.

    Choose it for rows in many attributes, behind the map `layout`: then there is one tree for each layout, read from
    the graph of shared neighbours in the layout. On other features it is the tree of the graph of their own shared
    neighbours. Communities of about a hundred rows or fewer maximise modularity at a high resolution (Louvain); two
    clusters a, b merge in the order of ``W_ab Σ W / (vol_a vol_b)``. O(n k²) time, O(n k) memory. The moves are
    in communities_jit.py (`move_all`), the merges beside them (`merge_all`). The labeler `Layers`
    (layers.py) reads the trees.

    Parameters
    ----------
    n_neighbors : int, default 15
        Neighbours in the graph; behind `layout` those of the map count.

    References
    ----------
    Blondel, Guillaume, Lambiotte, Lefebvre (2008), Fast unfolding of communities in large networks, Journal of
    Statistical Mechanics P10008. Bonald, Charpentier, Galland, Hollocou (2018), Hierarchical graph clustering using
    node pair sampling, MLG workshop, arXiv:1806.01664.
    """

    name: ClassVar[str] = "paris"
    synonyms: ClassVar[tuple[str, ...]] = ("louvain", "communities", "modularity")

    n_neighbors: int = params.integer(15, at_least=2)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The solver works on features."""
        return {FeatureSpace: Path(_prepare, MergeTrees)}


def _prepare(spec: Paris, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Keep the space and its graph, or make the graph of its features."""
    memory.require(
        space.n * spec.n_neighbors * BYTES_A_NEIGHBOUR * available(),
        f"the edges of the trees of {space.n} rows",
        "Fit a sample of the rows.",
    )
    if isinstance(space, EmbeddedSpace) and space.graph is not None:
        return _PreparedParis(spec, space, space.graph, space.points, task.n_clusters)
    seed = int(rng.integers(2**31 - 1))
    rows = space.rows()
    key = ("shared neighbours of features", spec.n_neighbors, seed)
    graph = reuse(space, key, lambda: neighbour_graph(rows, spec.n_neighbors, np.random.default_rng(seed)))
    return _PreparedParis(spec, space, graph, None, task.n_clusters)


@final
@attrs.frozen(eq=False)
class _PreparedParis(Prepared):
    """The merge trees of a graph; `points` are the samples of which it is the graph, None for the features."""

    spec: Paris
    space: FeatureSpace
    graph: NeighbourGraph
    points: Array | None
    n_clusters: int | None

    @property
    def resolved(self) -> Mapping[str, object]:
        return {} if self.points is not None else self.graph.facts

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> MergeTrees:
        """One tree for each layout, made side by side by threads."""
        from clusterkit.families.embeddings.layout_jit import DIMENSIONS

        notify(Report("paris", 1, 1))
        graph, rows = self.graph, self.space.rows() if self.points is None else self.points
        placed: list[Array | None] = [None]
        if self.points is not None:
            H = self.space.rows(graph.rows).astype(np.float32, copy=False)
            placed = [np.ascontiguousarray(H[:, q : q + DIMENSIONS]) for q in range(0, H.shape[1], DIMENSIONS)]
        seeds = rng.integers(2**31 - 1, size=len(placed))
        made: dict[int, MergeTree] = {}

        def make(begin: int, end: int) -> None:
            for number in range(begin, end):
                tree = merge_tree(graph, placed[number], np.random.default_rng(seeds[number]))
                # else all merges without an edge are undone, whatever their order
                is_open = (tree.similarity == 0.0).sum() >= (self.n_clusters or np.inf)
                made[number] = joined_by_distance(tree, rows[graph.rows]) if is_open else tree

        with thread_pool() as over:
            over(make, 0, len(placed), 10**9)
        trees = tuple(made[number] for number in range(len(placed)))
        counts = [int(tree.community.max(initial=0)) + 1 for tree in trees]
        reason = f"merge trees of {' and '.join(map(str, counts))} communities"
        status = Status(1, Ending.CONVERGED, reason)
        if self.points is None:
            return MergeTrees(trees, graph, rows, self.space.transform, status=status)
        return MergeTrees(trees, graph, rows, self.space.coordinates, True, status=status)

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """None: trees are not compared."""
        return None
