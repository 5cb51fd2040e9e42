"""What a solver adds up over the rows: a turn as sums, a small solve, and a function of one row.

A turn of every method that is linear in n is additive: the part of each block of features, the sum of all parts, a
solve of the size of the features, and then a frozen function from features to scores. A solver that is written so has
one implementation. `solve_by_sums` runs it on a space in memory; an engine (`clusterkit.core.engines`) runs the same
parts where the rows lie, and reads the labels of a block from the function of the turn before, so that no state of n
rows passes from turn to turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, final, runtime_checkable

import attrs

from clusterkit._typing import Array
from clusterkit.core.coding import Coded
from clusterkit.core.namespaces import BlockFunction
from clusterkit.core.outcomes import Extension, Status
from clusterkit.core.spaces import FeatureSpace
from clusterkit.core.sums import Addable

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    PartT = TypeVar("PartT", bound=Addable, default=Any)
else:
    from typing import TypeVar

    PartT = TypeVar("PartT")
    """What a solver adds up."""

__all__ = ["Adder", "Finished", "Learner", "PartOfLabels", "RowFunction", "Summing", "adder_of", "solve_by_sums"]


class RowFunction(Extension, Protocol):
    """Scores of rows that can be had from raw rows, as every extension, or from features that are there already."""

    def on(self, H: Array) -> Array:
        """Scores of a block of features, (b, L) to (b, q): those of `__call__`, without a second mapping.

        Written against the namespace of the block (`clusterkit.core.namespaces`).
        """


@final
@attrs.frozen(eq=False)
class Finished:
    """What a turn leaves behind: small, and all that the next turn and the prediction need.

    Parameters
    ----------
    extend : RowFunction
        Features to scores.
    objective : ndarray of shape (R,)
        Objective of the labels that were added up, from the sums alone.
    status : Status or None
        As of an `Outcome`: a warning, or that the labels may be regarded as final.
    """

    extend: RowFunction
    objective: Array
    status: Status | None = None


class Adder(Protocol):
    """What adds up in a turn, as it is sent to where the rows lie."""

    def part(self, H: Array, targets: Coded, scores: Array | None) -> Addable:
        """As of `Summing`."""


def adder_of(summing: Summing) -> Adder:
    """The part of a solver's turn that is sent: its `adder`, or all of it."""
    adder: Adder = getattr(summing, "adder", summing)
    return adder


@runtime_checkable
class Summing(Protocol[PartT]):
    """The turns of a solver as sums: frozen, small and picklable, because an engine sends it to where the rows lie.

    It may have an attribute `adder` with the same `part` and without what only `finish` needs, such as a factorisation:
    that is then sent in its place.

    What must be known of all rows before the first turn (the Gram matrix of ridge regression, the mean and the spread
    of k-means) is read by the function `Path.prepare` through `FeatureSpace.reduce`, which is a pass of the engine too.
    """

    @property
    def resolved(self) -> Mapping[str, object]:
        """Parameters that were decided on the way, for `resolved_`."""

    def part(self, H: Array, targets: Coded, scores: Array | None) -> PartT:
        """What a block adds; nothing if it has no rows.

        Parameters
        ----------
        H : array of shape (b, L)
            Written against the namespace of the block.
        targets : Coded
            Labels (R, b) of these rows.
        scores : array of shape (b, q) or None
            What the labels were read from, where there is such a table: the value of ``previous.on(H)``.
        """

    def finish(self, total: PartT, previous: RowFunction | None) -> Finished | Summing:
        """The end of the turn from the sum of all parts; or one more pass over the same labels, which then ends it.

        Parameters
        ----------
        total : Addable
            Sum of the parts.
        previous : RowFunction or None
            The function of the turn before.
        """


@runtime_checkable
class Learner(Protocol):
    """A solver by sums that goes on with samples that come later, for `partial_fit`: frozen, and small."""

    @property
    def turns(self) -> Summing:
        """The turns, with what is known of all samples so far."""

    def more(self, space: FeatureSpace, weights: Array | None) -> Learner:
        """The learner that knows the samples of another space too, under the same map; `weights` count them."""


@final
@attrs.frozen(eq=False)
class PartOfLabels(BlockFunction):
    """The part of a block whose labels are known."""

    adder: Adder
    targets: Coded

    def __call__(self, rows: slice, H: Array) -> Addable:
        """What the solver adds up of a block of features."""
        return self.adder.part(H, self.targets.of(rows), None)


def solve_by_sums(
    summing: Summing, space: FeatureSpace, targets: Coded, previous: RowFunction | None = None
) -> Finished:
    """One turn in memory, for labels (R, n) that are there already: one pass, seldom more."""
    step: Finished | Summing = summing
    while not isinstance(step, Finished):
        step = step.finish(space.reduce(PartOfLabels(adder_of(step), targets)), previous)
    return step
