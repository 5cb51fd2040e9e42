"""The abstract labeler, and the codec: the labeler of scores, which puts a table of costs between scores and labels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, Generic, TypeAlias, final

import attrs
import numpy as np

from clusterkit._typing import Array, Floats, Labels, Rng
from clusterkit.contracts.labelings import ClusterLayer
from clusterkit.contracts.outcomes import Domain, Embedding, MergeTrees, Outcome, Scores, Tree
from clusterkit.contracts.stage import OutcomeT, Stage, Task
from clusterkit.numerics.shapes import array, scalar
from clusterkit.numerics.threads import each_block
from clusterkit.samples import Space
from clusterkit.samples.array_libraries import BlockFunction, array_namespace, is_device_array, to_device_of
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.transform import block_plan

Predict: TypeAlias = Callable[[Array], Labels]
"""Raw rows (m, d) to labels (m,); a frozen callable, so that a fit can be saved."""


@attrs.frozen(eq=False)
class Labeling:
    """Labels of the samples that a labeler read from an outcome, and what belongs to them.

    Parameters
    ----------
    labels : ndarray of shape (n,)
    predict : callable or None
        Raw rows to labels; None where the method is transductive.
    costs : ndarray of shape (n, k) or None
        Price of giving a sample a label, for balancers; only differences within a row have a meaning.
    exact : bool
        Whether `predict` on the training rows gives `labels`.
    interrupted : bool
        Whether Ctrl-C ended the labelling early: the labels are those found so far.
    memberships : ndarray of shape (n, k) or None
        Degree to which each sample belongs to each cluster, rows that sum to 1, where the method has such degrees.
    outlier_scores : ndarray of shape (n,) or None
        The larger, the further outside all clusters, where the method tells.
    probabilities : ndarray of shape (n,) or None
        Degree, from 0 to 1, to which each sample belongs to its own cluster, 0 for noise, where the method has one
        degree a sample; `memberships` are then left out.
    layers : tuple of ClusterLayer
        Clusterings from coarse to fine, where the method has several; `labels` are one of them.
    facts : mapping
        The labeler's report, for `resolved_`: decisions, or the limit that ended a search, for example.
    """

    labels: Labels
    predict: Predict | None
    costs: Floats | None = None
    exact: bool = True
    interrupted: bool = False
    memberships: Floats | None = attrs.field(default=None, kw_only=True)
    outlier_scores: Floats | None = attrs.field(default=None, kw_only=True)
    probabilities: Floats | None = attrs.field(default=None, kw_only=True)
    layers: tuple[ClusterLayer, ...] = attrs.field(default=(), kw_only=True)
    facts: Mapping[str, object] = attrs.field(factory=dict, kw_only=True)


class Labeler(Stage, Generic[OutcomeT]):
    """Reads labels from an outcome of the type `consumes`: ``Labeler[Domain]`` reads domains."""

    kind: ClassVar[str] = "labeler"
    consumes: ClassVar[type[Outcome]]
    """The type of outcome that `label` reads."""
    finds_k: ClassVar[bool] = False
    """True if the number of clusters may be left out, because the labeler finds it."""
    takes_k: ClassVar[bool] = False
    """True if a labeler that finds the number of clusters also accepts a given one."""
    min_clusters: ClassVar[int] = 1
    """The fewest clusters that the labeler gives."""
    max_clusters: ClassVar[int | None] = None
    """The most clusters that the labeler gives; None if there is no such limit."""
    inductive: ClassVar[bool] = True
    """True if the labeler also gives a function that labels new rows."""
    scores_alone: ClassVar[bool] = False
    """For labelers of embeddings: True if `label` looks at the rows of the embedding and not at the space.

    Samples on a device can then be labelled on the host, from rows of the embedding that are brought there.
    """
    linked: ClassVar[bool] = False
    """True if the labels keep the links of the task (`Task.links`); for codecs the balancer does."""

    @abstractmethod
    def label(self, outcome: OutcomeT, space: Space, task: Task, rng: Rng) -> Labeling:
        """Labels of the samples, and how to label new ones."""


@attrs.frozen
class Codec(Labeler[Scores]):
    """A labeler of scores: labels to targets, scores to costs; between solver and labels stands a cost table."""

    consumes: ClassVar[type[Outcome]] = Scores
    coding: ClassVar[Coding]
    """How labels become targets."""
    largest: ClassVar[bool] = False
    """True if the label is always the column of the largest score, the lowest at ties.

    A solver may then compute labels without the table of scores (`Prepared.leap`).
    """
    array_api: ClassVar[bool] = False
    """True if `costs` is written against the namespace of the scores (`clusterkit.samples.array_libraries`)."""
    rowwise: ClassVar[bool] = False
    """True if `calibrate` gives the codec itself whatever the scores: the label of a row then follows from its scores
    alone, and labels may be read block by block."""

    @abstractmethod
    def codebook(self, k: int) -> Array:
        """Targets of the labels, (k, q)."""

    @abstractmethod
    def costs(self, rows: Array, k: int) -> Array:
        """Price of each label for each row of scores, (n, k); the label is the cheapest, ties the lowest."""

    @abstractmethod
    def calibrate(self, rows: Array, task: Task) -> Codec:
        """This codec fitted to the scores (a bias, for example); a new object, or itself."""

    @final
    def encode(self, labels: Labels, k: int, weights: Array | None = None) -> Coded:
        """Labels (n,) or (R, n) in coded form, with the weights of the samples, (n,), where they have some."""
        return Coded(np.atleast_2d(labels), self.coding, k, self.codebook(k), weights)

    @final
    def decode(self, rows: Array, k: int) -> Labels:
        """Labels of rows of scores, on their device."""
        xp = array_namespace(rows)
        if self.largest:
            return xp.argmax(rows, axis=1)  # a table of costs would be one more to write
        return xp.argmin(self.costs(rows, k), axis=1)

    @final
    def label(self, outcome: Scores, space: Space, task: Task, rng: Rng) -> Labeling:
        """Cheapest label for each sample."""
        codec = self.calibrate(outcome.rows, task)
        rows = outcome.rows if outcome.scale is None else outcome.rows * outcome.scale
        costs = codec.costs(rows, task.k)
        return codec._labeling(outcome, np.argmin(costs, axis=1), costs, task.k)

    @final
    def label_unpriced(self, outcome: Scores, task: Task) -> Labeling:
        """The labels of `label` without a table of costs, for where no balancer asks for it."""
        codec, scores = self.calibrate(outcome.rows, task), outcome.rows
        labels = np.empty(len(scores), dtype=np.intp)
        blocks = ((rows, scores[rows]) for rows in block_plan(len(scores), task.k, np.float64))
        for rows, cheapest in each_block(_Decoding(codec, outcome.scale, task.k), blocks, len(scores), task.k):
            labels[rows] = cheapest
        return codec._labeling(outcome, labels, None, task.k)

    @final
    def _labeling(self, outcome: Scores, labels: Labels, costs: Array | None, k: int) -> Labeling:
        """The labels with how to label new samples."""
        predict = None if outcome.extend is None else Decoder(self, outcome.extend, outcome.scale, k)
        memberships = outcome.rows if outcome.are_memberships else None
        return Labeling(labels, predict, costs, outcome.exact_on_training, memberships=memberships)


@final
@attrs.frozen(eq=False)
class _Decoding:
    """The labels of a block of scores, (b,)."""

    codec: Codec
    scale: Array | None
    k: int

    def __call__(self, rows: slice, scores: Array) -> Labels:
        """Labels of the rows of the block, (b,)."""
        return self.codec.decode(scores if self.scale is None else scores * self.scale, self.k)


@final
@attrs.frozen(eq=False)
class Decoder(BlockFunction):
    """Predicts by scores and a codec; a frozen callable, so that a fit pickles."""

    codec: Codec
    extend: Callable[[Array], Array]
    scale: Array | None = attrs.field(validator=array("q"))
    k: int = attrs.field(validator=scalar(least=1))
    offsets: Array | None = attrs.field(default=None, validator=array("k"))

    @property
    def table_columns(self) -> int:
        """Scores and costs have k columns."""
        return max(self.k, super().table_columns)

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, on their device."""
        rows = self.extend(Y)
        scale, offsets = self.scale, self.offsets
        if is_device_array(rows):
            scale, offsets = (None if array is None else to_device_of(array, rows) for array in (scale, offsets))
        costs = self.codec.costs(rows if scale is None else rows * scale, self.k)
        return array_namespace(rows).argmin(costs if offsets is None else costs + offsets, axis=1)


def outcome_labeler(gives: type[Outcome], codings: frozenset[Coding], k: int | None) -> str:
    """Name of the labeler that labeler="auto" means for a type of outcome."""
    if issubclass(gives, Scores) and codings:
        two = k is None or k <= 2
        if two and Coding.SIGNED in codings:
            return "threshold"
        if codings != {Coding.SIGNED}:
            return "argmax"
    if issubclass(gives, Embedding):
        return "rows_kmeans"
    if issubclass(gives, Tree):
        return "excess_of_mass" if k is None else "mass_cut"
    if issubclass(gives, MergeTrees):
        return "layers"
    assert issubclass(gives, Domain)
    return "complete_graph"
