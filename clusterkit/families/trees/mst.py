"""The minimum spanning tree of the samples: Euclidean, or of mutual reachability distances."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, final

import attrs

from clusterkit._typing import Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Ending, Outcome, Status, Tree
from clusterkit.errors import ClusterkitWarning, InvalidParameter
from clusterkit.samples import DistanceSpace, FeatureSpace, Space, memory
from clusterkit.samples.coding import Coded
from clusterkit.samples.limits import reuse
from clusterkit.samples.transform import IdentityMap

if TYPE_CHECKING:
    from clusterkit.numerics.spanning_trees.tree import SpanningTree


def _edges(value: object) -> str | None:
    return None if value == "all" or params.is_count(value, 2) else "an integer >= 2 or 'all'"


BYTES_A_ROW = 400
"""Largest number of bytes that a row takes besides its coordinates: lists of neighbours, edges, bounds, and the k-d
tree."""


@final
@attrs.frozen
class Mst(Solver):
    """The exact minimum spanning tree of ``w(i, j) = max(|x_i - x_j|, core_i, core_j)``, of which clusters are parts.

    Choose it for clusters of any shape that are separated by gaps or by thinner regions. Core distances keep single
    outliers and thin bridges from joining clusters; without them (``n_neighbors=1``) the tree is the Euclidean one,
    from which single linkage is read. The tree is in numerics/spanning_trees/tree.py (`minimum_spanning_tree`), the
    rounds of Borůvka's algorithm in numerics/spanning_trees/boruvka_jit.py (`search_task`, `merge`).

    Parameters
    ----------
    n_neighbors : int, default 5
        ``core_i`` is the distance of sample i to its `n_neighbors`-th nearest sample, where the sample itself counts
        as the first: scikit-learn's `min_samples`, and one more than that of the package hdbscan. 1 gives the
        Euclidean tree. With fewer samples it is lowered to their number, which `resolved_` reports.
    min_samples : int or None, default None
        The same number by its name in scikit-learn, in whose convention the sample counts; the package hdbscan does not
        count it, so its 5 is a 6 here. None leaves it to `n_neighbors`.
    edges : int or "all", default "all"
        A number takes the edges to so many nearest samples only, found as by the map `layout`: for embeddings of
        hundreds of attributes, where the exact tree looks at all pairs in double precision. 15 is enough. `resolved_`
        then has how neighbours were searched, with the share found, and the number of components, which are joined by
        the nearest samples of some of their rows.

    Notes
    -----
    The tree is exact for any data, repeated samples included, and the same for any number of threads. Of edges of
    equal weight the shorter one is preferred, so that the tree depends on the order of the samples only where distances
    tie as well; labelers that read merges of equal height as one merge do not depend on it at all. New rows follow the
    sample that is nearest by mutual reachability.

    About O(n log n) where the samples have few attributes or lie in clusters, at worst O(n² L) for L attributes; no
    n x n matrix. Memory: two copies of the samples in float64 and up to 400 bytes a sample. From precomputed distances
    O(n²).

    References
    ----------
    Borůvka (1926), O jistém problému minimálním. March, Ram, Gray (2010), Fast Euclidean minimum spanning tree, KDD.
    Campello, Moulavi, Zimek, Sander (2015), Hierarchical density estimates for data clustering, visualization, and
    outlier detection, ACM Transactions on Knowledge Discovery from Data 10(1).
    """

    name: ClassVar[str] = "mst"
    synonyms: ClassVar[tuple[str, ...]] = ("spanning_tree", "minimum_spanning_tree", "tree")

    n_neighbors: int = params.integer(5, at_least=1)
    min_samples: int | None = params.integer(None, at_least=1, optional=True)
    # not `params.choice`, because the laws would try every word, and they hold for the exact tree alone
    edges: int | Literal["all"] = params.free("all", _edges, invalid=(0, 1, 1.5, "some", None))

    @property
    def core_neighbors(self) -> int:
        """The neighbour to which core distances reach, by whichever name it was set."""
        return self.n_neighbors if self.min_samples is None else self.min_samples

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The solver works on features, and on all distances between the samples."""
        return {FeatureSpace: Path(_prepare, Tree), DistanceSpace: Path(_prepare_distances, Tree)}


def _prepare(spec: Mst, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """Keep the space; the features are computed by the solve."""
    memory.require(
        space.n * (16 * space.width + BYTES_A_ROW),
        f"the spanning tree of {space.n} x {space.width} features",
        "Use fewer rows, or fewer attributes by featuremap 'pca'.",
    )
    _warn_of_reach(spec, space.n)
    if spec.edges == "all":
        return _PreparedMst(spec, space, None, {})
    from clusterkit.numerics.spanning_trees.tree import tree_of_neighbours

    k = min(spec.core_neighbors, space.n)
    return _PreparedMst(spec, space, *tree_of_neighbours(space.rows(), k, spec.edges, rng))


def _prepare_distances(spec: Mst, space: DistanceSpace, task: Task, rng: Rng) -> Prepared:
    """Keep the distances."""
    if spec.edges != "all":
        raise InvalidParameter(
            f"solver 'mst': edges={spec.edges} searches neighbours among coordinates, and there are only distances; "
            "edges='all' takes them all"
        )
    memory.require(16 * space.n * space.n, f"the spanning tree of {space.n} x {space.n} distances", "Use fewer rows.")
    _warn_of_reach(spec, space.n)
    return _PreparedMst(spec, space, None, {})


def _warn_of_reach(spec: Mst, n: int) -> None:
    """Warn where core distances reach too far."""
    if spec.core_neighbors > n > 1:
        warnings.warn(
            f"solver 'mst': n_neighbors={spec.core_neighbors} is more than the {n} rows, so that the density at "
            "a row is that of all of them, and no group stands out; a smaller solver__n_neighbors may show clusters",
            ClusterkitWarning,
            stacklevel=3,
        )


@final
@attrs.frozen(eq=False)
class _PreparedMst(Prepared):
    """The spanning tree of the rows of a space.

    Parameters
    ----------
    spec : Mst
    space : FeatureSpace or DistanceSpace
    tree : SpanningTree or None
        The tree of the edges to the nearest rows; None where it is that of all pairs, which the solve makes.
    facts : mapping
        How the nearest rows were searched.
    """

    spec: Mst
    space: FeatureSpace | DistanceSpace
    tree: SpanningTree | None
    facts: Mapping[str, object]

    @property
    def resolved(self) -> Mapping[str, object]:
        n = self.space.n
        return {**({"n_neighbors": n} if self.spec.core_neighbors > n else {}), **self.facts}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Tree:
        """The tree; nothing in it is random."""
        from clusterkit.numerics.spanning_trees.tree import minimum_spanning_tree, tree_of_distances

        k, tree = min(self.spec.core_neighbors, self.space.n), self.tree
        kind = "Euclidean" if k == 1 else "mutual reachability"
        if isinstance(self.space, DistanceSpace):
            D = self.space.points
            tree = tree_of_distances(D, k)
            kind = "given" if k == 1 else kind
            status = Status(1, Ending.CONVERGED, f"exact minimum spanning tree, {kind} distances")
            return Tree(
                tree.edges, tree.weights, tree.core_distances, D, k, self.space.coordinates, True, status=status
            )
        rows = self.space.rows()
        if tree is not None:
            status = Status(1, Ending.CONVERGED, f"minimum spanning tree of the edges to {self.spec.edges} neighbours")
            return Tree(
                tree.edges, tree.weights, tree.core_distances, rows, k, self.space.transform, status=status
            )  # fmt: skip
        if isinstance(self.space.mapping, IdentityMap):  # the samples themselves: fits to them have the tree in common
            tree = reuse(self.space.points, ("spanning tree", k), lambda: minimum_spanning_tree(rows, k))
        else:
            tree = minimum_spanning_tree(rows, k)
        facts = {"length": tree.weights.sum()}
        status = Status(1, Ending.CONVERGED, f"exact minimum spanning tree, {kind} distances", facts=facts)
        transform = self.space.transform
        return Tree(tree.edges, tree.weights, tree.core_distances, rows, k, transform, status=status)
