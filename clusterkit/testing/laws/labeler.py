"""Laws of labelers: labels are numbers in order, equal samples are in one cluster, predictions repeat labels.

Laws of codecs (`CODEC_LAWS`): coding and decoding gives the same labels, and costs alone decide a label.
"""

from __future__ import annotations

import copy
from typing import Any, final

import attrs
import numpy as np
from hypothesis import strategies as st

from clusterkit._typing import Array, Indices
from clusterkit.contracts import Codec, Labeler, Labeling, Task, array
from clusterkit.contracts.labelings import by_appearance
from clusterkit.contracts.outcomes import (
    Domain,
    Embedding,
    Ending,
    FunctionDomain,
    KernelDomain,
    MergeTrees,
    MixtureScores,
    Outcome,
    Scores,
    Status,
    Tree,
)
from clusterkit.families.embeddings.layout import neighbour_graph
from clusterkit.families.embeddings.paris import merge_tree
from clusterkit.families.shared.rbf import Rbf
from clusterkit.numerics.spanning_trees.tree import minimum_spanning_tree
from clusterkit.samples import KernelSpace
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.transform import Transform
from clusterkit.testing.compare import copies, same_bits
from clusterkit.testing.law import Law, law
from clusterkit.testing.strategies import Case, cases, scores

LAWS: list[Law] = []
"""The laws of every labeler, in the order in which they stand below; filled by the decorator `law`."""


@final
@attrs.frozen(eq=False)
class Projected:
    """An embedding that extends: raw rows times a matrix, added up in one order for any number of rows."""

    B: Array = attrs.field(validator=array("d q"))

    def __call__(self, Y: Array) -> Array:
        """Rows of Y."""
        return np.stack([sum(Y[:, i] * b for i, b in enumerate(column)) for column in self.B.T], axis=1)

    def columns(self, index: slice | Indices) -> Projected:
        """The extension of some columns."""
        return Projected(self.B[:, index])


@final
@attrs.frozen(eq=False)
class KernelSum:
    """Values of a domain that is no kernel domain."""

    domain: KernelDomain

    def __call__(self, Y: Array) -> Array:
        """The kernel sum."""
        return self.domain.value(Y)


@attrs.frozen(eq=False)
class _Bench:
    """An outcome for a labeler to read."""

    stage: Any
    outcome: Outcome
    space: KernelSpace
    task: Task
    case: Case

    @property
    def most(self) -> int | None:
        """The number of clusters, of which some may have no samples; None where the labeler counts those that have."""
        columns = self.outcome.q if isinstance(self.outcome, MixtureScores) else None
        return self.task.n_clusters if columns is None else columns

    @classmethod
    def of(cls, stage: Labeler, case: Case, share: float = 1.0) -> _Bench:
        X = case.X
        k = max(stage.min_clusters, min(case.k, stage.max_clusters or case.k))
        spread = float(X.var(dtype=np.float64)) or 1.0
        space = KernelSpace(X, Gaussian(2.0 / spread))
        task = Task(case.n, None if stage.finds_k else k)
        return cls(stage, _outcome(stage, space, k, share, case), space, task, case)

    def label(self) -> Labeling:
        labeling: Labeling = self.stage.label(self.outcome, self.space, self.task, self.case.rng("labeler"))
        return labeling


def _outcome(stage: Labeler, space: KernelSpace, k: int, share: float, case: Case) -> Outcome:
    """The plainest outcome of the type that the labeler reads; a domain contains a fraction `share` of the samples."""
    wanted, X = stage.consumes, space.points
    if issubclass(wanted, Embedding):
        q = stage.codebook(k).shape[1] if isinstance(stage, Codec) else k
        extend = Projected(case.rng("embedding").standard_normal((case.d, q)).astype(X.dtype))
        if issubclass(wanted, MixtureScores):
            return MixtureScores(extend(X), extend)
        return (Scores if issubclass(wanted, Scores) else Embedding)(extend(X), extend)
    if issubclass(MergeTrees, wanted):
        return _merge_trees(X, 2 if share < 1.0 else 1, space.coordinates, case)
    if issubclass(Tree, wanted):
        return _tree(X, 3 if share < 1.0 else 1, space.coordinates)
    assert issubclass(wanted, Domain), f"consumes {wanted.__name__}, which no solver gives"
    centres = X.astype(np.float64)
    status = Status(1, Ending.CONVERGED, "made for the laws")
    domain = KernelDomain(centres, np.full(case.n, 1.0 / case.n), space.kernel, level=0.0, status=status)
    values = np.sort(domain.value(X))
    level = float(values[min(case.n - 1, int((1.0 - share) * case.n))])
    # a hair below, so that rounding puts no sample outside the contour it defines
    domain = attrs.evolve(domain, level=level - 1e-6 * abs(level))
    if issubclass(KernelDomain, wanted):
        return domain
    return FunctionDomain(KernelSum(domain), level=domain.level, status=status)


def _tree(X: Array, n_neighbors: int, transform: Transform) -> Tree:
    """The spanning tree of the samples: Euclidean, or with core distances."""
    tree = minimum_spanning_tree(X, n_neighbors)
    k = min(n_neighbors, len(X))
    return Tree(tree.edges, tree.weights, tree.core_distances, X, k, transform)


def _merge_trees(X: Array, count: int, transform: Transform, case: Case) -> MergeTrees:
    """Merge trees of the shared neighbours of the samples, one or two of them."""
    graph = neighbour_graph(X, 5, case.rng("graph"))
    trees = tuple(merge_tree(graph, None, case.rng(f"tree {number}")) for number in range(count))
    return MergeTrees(trees, graph, X, transform)


SHARES = st.sampled_from([1.0, 0.7])
"""Share of the samples inside the contour: all of them, or so few that labelers must treat samples outside.

For labelers of trees: the Euclidean tree, or one with core distances, in which many merges have one height; one merge
tree, or two."""


@law(LAWS, case=cases(), share=SHARES)
def labels_are_numbers_in_range(stage: Labeler, case: Case, share: float) -> None:
    """One integer a sample: 0..k-1; or from 0 without gaps, and -1 for noise, if the labeler counts them.

    Of the components of a mixture the label is the column, and a fit takes out those without samples. Degrees of
    membership are from 0 to 1, and 0 for noise; outlier scores are not negative.
    """
    bench = _Bench.of(stage, case, share)
    labeling = bench.label()
    labels = labeling.labels
    assert labels.shape == (case.n,)
    assert labels.dtype.kind in "iu", f"labels of type {labels.dtype}"
    if bench.most is not None:
        assert labels.min() >= 0
        assert labels.max() < bench.most
        if labeling.costs is not None:
            assert labeling.costs.shape == (case.n, bench.most)
            assert np.isfinite(labeling.costs).all()
    else:
        numbers = np.unique(labels[labels >= 0])
        np.testing.assert_array_equal(numbers, np.arange(len(numbers)), err_msg="numbers are left out")
        assert labels.min() >= -1
    degrees, outliers = labeling.probabilities, labeling.outlier_scores
    if degrees is not None:
        assert degrees.shape == (case.n,)
        assert ((degrees >= 0) & (degrees <= 1)).all()
        assert (degrees[labels < 0] == 0).all()
    assert outliers is None or (outliers.shape == (case.n,) and (outliers >= 0).all())


def _counts(stage: Labeler) -> bool:
    return stage.finds_k and not issubclass(stage.consumes, MixtureScores)


@law(LAWS, case=cases(), share=SHARES, applies=_counts)
def numbers_follow_first_appearance(stage: Labeler, case: Case, share: float) -> None:
    """Clusters whose number the labeler decides are numbered in the order of their first samples."""
    labels = _Bench.of(stage, case, share).label().labels
    first = [int(np.flatnonzero(labels == number)[0]) for number in range(labels.max() + 1)]
    assert first == sorted(first), f"first samples of the clusters in order of number: {first}"


@law(LAWS, case=cases(["duplicates", "grid", "equal_rows"]), share=SHARES)
def equal_samples_share_a_label(stage: Labeler, case: Case, share: float) -> None:
    """Equal samples have equal labels."""
    labels = _Bench.of(stage, case, share).label().labels
    _, group = np.unique(case.X, axis=0, return_inverse=True)
    for members in (labels[group.ravel() == g] for g in range(group.max() + 1)):
        assert len(np.unique(members)) == 1, f"equal rows got the labels {sorted(set(members.tolist()))}"


@law(LAWS, case=cases(), share=SHARES)
def same_seed_same_labels(stage: Labeler, case: Case, share: float) -> None:
    """Equal outcomes and equal streams give equal labels, and change neither the outcome nor the points."""
    bench = _Bench.of(stage, case, share)
    rows = bench.outcome.rows.copy() if isinstance(bench.outcome, Embedding) else None
    same_bits(bench.label().labels, _Bench.of(stage, case, share).label().labels, "two labellings")
    same_bits(bench.space.points, case.X, "the points after labelling")
    if rows is not None and isinstance(bench.outcome, Embedding):
        same_bits(bench.outcome.rows, rows, "the rows after labelling")


@law(LAWS, case=cases(), share=SHARES)
def predicting_the_samples_repeats_their_labels(stage: Labeler, case: Case, share: float) -> None:
    """`predict` of the samples gives `labels` where the labelling says that it is exact."""
    labeling = _Bench.of(stage, case, share).label()
    assert (labeling.predict is not None) == stage.inductive, f"inductive = {stage.inductive}"
    if labeling.predict is not None and labeling.exact:
        np.testing.assert_array_equal(labeling.predict(case.X), labeling.labels)


@law(LAWS, case=cases(), share=SHARES, applies=lambda stage: stage.inductive)
def predicts_any_rows_after_pickling_and_saving(stage: Labeler, case: Case, share: float) -> None:
    """New rows, far ones included, get labels that exist, the same from a pickled or a saved predictor."""
    bench = _Bench.of(stage, case, share)
    labeling = bench.label()
    assert labeling.predict is not None
    Y = np.concatenate([case.X, case.X + 0.01, case.X[:1] + 1e3, case.X[:1] - 1e3]).astype(case.dtype)
    labels = labeling.predict(Y)
    assert labels.shape == (len(Y),)
    assert labels.min() >= -1
    assert labels.max() <= (labeling.labels.max() if bench.most is None else bench.most - 1)
    for how, again in copies(labeling.predict, Projected, KernelSum):
        np.testing.assert_array_equal(again(Y), labels, err_msg=how)


def _reads_trees(stage: Labeler) -> bool:
    return issubclass(stage.consumes, Tree)


@law(LAWS, case=cases(["blobs"], dtypes=["float64"]), applies=_reads_trees)
def order_of_the_samples_does_not_matter(stage: Labeler, case: Case) -> None:
    """Samples in another order are in the same clusters of a tree, where no two distances are equal."""
    order = case.rng("order").permutation(case.n)
    one, other = _Bench.of(stage, case), _Bench.of(stage, case)
    other = attrs.evolve(other, outcome=_tree(case.X[order], 1, one.space.coordinates))
    labels, moved = one.label().labels[order], other.label().labels
    np.testing.assert_array_equal(by_appearance(labels), by_appearance(moved))


CODEC_LAWS: list[Law] = []
"""The laws of every codec, in the order in which they stand below; filled by the decorator `law`."""


def clusters(stage: Codec) -> st.SearchStrategy[int]:
    """The numbers of clusters that a labeler can return."""
    return st.integers(max(2, stage.min_clusters), stage.max_clusters or 5)


@st.composite
def _rows(draw: st.DrawFn, stage: Codec) -> tuple[int, Array]:
    """A number of clusters and scores for it."""
    k = draw(clusters(stage))
    return k, draw(scores(draw(st.integers(1, 20)), stage.codebook(k).shape[1]))


@law(CODEC_LAWS, k=clusters)
def decoding_inverts_encoding(stage: Codec, k: int) -> None:
    """decode(encode(labels)) = labels; the codebook has a different row for each label."""
    labels = np.arange(3 * k) % k
    coded = stage.encode(labels, k)
    book = stage.codebook(k)
    assert book.ndim == 2
    assert len(book) == k
    assert len(np.unique(book, axis=0)) == k, "two labels share a target"
    assert coded.coding is stage.coding
    np.testing.assert_array_equal(stage.decode(coded.targets(), k), labels)


@law(CODEC_LAWS, drawn=_rows)
def costs_are_finite(stage: Codec, drawn: tuple[int, Array]) -> None:
    """Finite scores have finite costs, one for each label, and keep their number type or widen it."""
    k, rows = drawn
    costs = stage.calibrate(rows, Task(len(rows), k)).costs(rows, k)
    assert costs.shape == (len(rows), k)
    assert np.isfinite(costs).all()
    assert costs.dtype.kind == "f"


@law(CODEC_LAWS, drawn=_rows)
def costs_of_a_row_depend_on_it_alone(stage: Codec, drawn: tuple[int, Array]) -> None:
    """After `calibrate` the costs of a row depend on its scores alone: those of some rows are a part of all costs."""
    k, rows = drawn
    codec = stage.calibrate(rows, Task(len(rows), k))
    np.testing.assert_array_equal(codec.costs(rows[::2], k), codec.costs(rows, k)[::2])


@law(CODEC_LAWS, drawn=_rows)
def label_is_the_cheapest_ties_lowest(stage: Codec, drawn: tuple[int, Array]) -> None:
    """The label is the first of the cheapest, in `decode` and in `label` alike."""
    k, rows = drawn
    task = Task(len(rows), k)
    codec = stage.calibrate(rows, task)
    costs = codec.costs(rows, k)
    lowest = np.array([np.flatnonzero(row == row.min())[0] for row in costs])
    np.testing.assert_array_equal(codec.decode(rows, k), lowest)
    labeling = stage.label(Scores(rows, None), _anywhere(len(rows)), task, np.random.default_rng(0))
    np.testing.assert_array_equal(labeling.labels, lowest)
    np.testing.assert_array_equal(labeling.costs, costs)
    assert labeling.predict is None, "these scores do not extend, so there is nothing to predict with"


@law(CODEC_LAWS, drawn=_rows)
def calibrating_changes_nothing_in_place(stage: Codec, drawn: tuple[int, Array]) -> None:
    """`calibrate` gives a codec of the same coding and changes neither this codec nor the scores."""
    k, rows = drawn
    before, copied = copy.deepcopy(stage), rows.copy()
    codec = stage.calibrate(rows, Task(len(rows), k))
    assert type(codec) is type(stage)
    assert codec.coding is stage.coding
    assert stage == before, "calibrate changed the codec it was called on"
    np.testing.assert_array_equal(rows, copied)


def _anywhere(n: int) -> KernelSpace:
    """A space for codecs, which read nothing from it."""
    space = Rbf(gamma=1.0).space_of(np.zeros((n, 1)), Task(n, None), np.random.default_rng(0))
    assert isinstance(space, KernelSpace)
    return space
