"""One set of clusters in a fit: those that have rows, under the same numbers in labels, predictor and tables.

A cluster that was asked for and that no row has is none: its column is taken out of scores, memberships and their
extension to new rows, so that column j of each table with a column for each cluster is cluster j, and no new row gets
it. Memberships are then those among the others. Two kinds of numbers stay, and may have no rows: those that seeds name,
and the places along the one score of a codec.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices, Labels
from clusterkit.contracts import Decoder, Predict
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.links import LinkedGroups
from clusterkit.contracts.outcomes import Scores
from clusterkit.fitting.label_iterations import BalancedLabeling
from clusterkit.numerics.shapes import array
from clusterkit.samples.array_libraries import (
    BlockFunction,
    array_namespace,
    class_counts,
    is_device_array,
    to_device_of,
    to_host,
)
from clusterkit.samples.engines import Engine
from clusterkit.samples.rows import Rows

H = TypeVar("H", BalancedLabeling, FitResult)


@final
@attrs.frozen(eq=False)
class Renumbered(BlockFunction):
    """Labels raw rows as another predictor does, with other numbers of the clusters; noise stays noise.

    Parameters
    ----------
    base : callable
    numbers : ndarray of shape (k,)
        The number of each cluster.
    """

    base: Predict
    numbers: Labels = attrs.field(validator=array("k", least=-1))

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (m,)."""
        labels = self.base(Y)
        if labels.max(initial=-1) >= len(self.numbers):
            raise ValueError(f"a label is none of {len(self.numbers)} clusters")
        return np.where(labels >= 0, self.numbers[labels], labels)


@final
@attrs.frozen(eq=False)
class RenumberedBlocks(BlockFunction):
    """Labels of a block of rows with other numbers of the clusters, on their device.

    Parameters
    ----------
    label : callable
        Rows of a block and their values to labels, none of them noise.
    numbers : ndarray of shape (k,)
    """

    label: Callable[[slice, Array], Labels]
    numbers: Labels

    def __call__(self, rows: slice, X: Array) -> Labels:
        """Labels of a block, (b,)."""
        labels = self.label(rows, X)
        if is_device_array(labels):
            taken: Labels = array_namespace(labels).take(to_device_of(self.numbers, labels), labels, axis=0)
            return taken
        return self.numbers[labels]


@final
@attrs.frozen(eq=False)
class _Counted(BlockFunction):
    """Number of rows of each cluster in a block."""

    label: Any
    k: int

    def __call__(self, rows: slice, X: Array) -> Counts:
        return class_counts(self.label(rows, X), self.k)


def sizes_of(labels: Labels, label: object, k: int, engine: Engine, rows: Rows, width: int) -> Counts:
    """Number of rows of each of k clusters, from their labels, or where these are lazy by a pass of `label`."""
    if isinstance(labels, np.ndarray) or is_device_array(labels):
        return to_host(class_counts(labels, k))
    return np.asarray(engine.reduce(_Counted(label, k), rows, width))


def numbering(
    sizes: Counts, links: LinkedGroups | None = None, labels: Labels | None = None, *, fixed: bool = False
) -> Labels | None:
    """The number of each of k clusters with these sizes, -1 for those left out; None where all stay as they are.

    Clusters with rows keep their order, unless seeds name their numbers; with `fixed` none is left out.

    Examples
    --------
    >>> numbering(np.array([3, 0, 2])).tolist(), numbering(np.array([3, 2]))
    ([0, -1, 1], None)
    """
    k, present = len(sizes), (sizes > 0) | fixed
    numbers: Labels = np.where(present, np.cumsum(present) - 1, -1)
    if links is not None and labels is not None and (links.seeds >= 0).any():
        sown = links.numbers(labels, k)
        numbers = np.arange(k) if sown is None else sown[:k]
        numbers = np.where(numbers <= numbers[present].max(initial=-1), numbers, -1)
    return None if np.array_equal(numbers, np.arange(k)) else numbers


def renumbered(labeling: H, numbers: Labels, columns: bool) -> H:
    """A labelling, or a fit, with other numbers of its clusters in scores, memberships and predictor.

    The caller renumbers its labels, because it knows their device.

    Parameters
    ----------
    labeling : BalancedLabeling or FitResult
    numbers : ndarray of shape (k,)
        As `numbering` gives them.
    columns : bool
        Whether the columns of the scores are the clusters.
    """
    outcome: Any = labeling.outcome
    predict, memberships = labeling.predict, labeling.memberships
    present = np.flatnonzero(numbers >= 0)
    order = present[np.argsort(numbers[present])]
    table = None
    if columns and isinstance(outcome, Scores):
        table = _columns(outcome.rows, order, outcome.are_memberships)
    if isinstance(predict, Decoder) and columns:
        extend: Any = predict.extend
        extend = extend.columns(order)
        scale, offsets = (None if each is None else each[order] for each in (predict.scale, predict.offsets))
        predict = attrs.evolve(predict, extend=extend, scale=scale, offsets=offsets, k=len(order))
    elif predict is not None:
        predict = Renumbered(predict, numbers)
    if memberships is not None:
        same = outcome is not None and memberships is getattr(outcome, "rows", None)
        memberships = table if same and table is not None else _columns(memberships, order, True)
    if table is not None:
        extend = None if outcome.extend is None else outcome.extend.columns(order)
        scale = None if outcome.scale is None else outcome.scale[order]
        outcome = attrs.evolve(outcome, rows=table, extend=extend, scale=scale, carry=None)
    return attrs.evolve(labeling, outcome=outcome, predict=predict, memberships=memberships)


def _columns(table: Array, order: Indices, shares: bool) -> Array:
    """Some columns; shares, which sum to 1, become those among these columns."""
    part = np.ascontiguousarray(table[:, order])
    if not shares or len(order) == table.shape[1]:
        return part
    part = np.maximum(part, np.finfo(part.dtype).tiny)  # a balancer may choose clusters of which a row has no share
    divided: Array = part / part.sum(axis=1, keepdims=True)
    return divided
