"""A solver bound to a space, and solvers whose iterations are sums over the rows.

`Prepared` is any solver bound to a space, `PassSolver` one whose iterations are sums over the rows. An iteration of
every method that is linear in n is additive: the part of each block of features, the sum of all parts, a solve of the
size of the features, and then a frozen function from features to scores. A solver that is written so has one
implementation: `solve_by_sums` runs it on a space in memory, and an engine (`clusterkit.samples.engines`) runs the same
parts where the rows lie. The engine reads the labels of a block from the function of the iteration before, so that no
state of n rows passes from iteration to iteration.

`Summing` is for solvers that learn from labels. `Iterating` is for solvers that learn from none (fuzzy c-means, matrix
factorisation): they have a state of their own instead, which is a small function of a row (centres, a basis).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast, final, runtime_checkable

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts.iteration import Iteration, Iterations, Start, solve
from clusterkit.contracts.outcomes import Ending, Extension, Outcome, Scores, Status
from clusterkit.samples import FeatureSpace
from clusterkit.samples.array_libraries import BlockFunction
from clusterkit.samples.coding import Coded
from clusterkit.samples.sums import Addable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "Adder",
    "Finished",
    "Iterating",
    "PartOfIteration",
    "PartOfLabels",
    "PassSolver",
    "Prepared",
    "RowFunction",
    "Step",
    "Summing",
    "adder_of",
    "solve_by_iterations",
    "solve_by_sums",
]


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    PartT = TypeVar("PartT", bound=Addable, default=Any)
else:
    from typing import TypeVar

    PartT = TypeVar("PartT")
    """Total that a solver adds up over the blocks."""


class Prepared(ABC):
    """A solver bound to a space: whatever does not depend on targets has been done once.

    In general it needs all samples at once. A solver whose iterations are sums over the rows is a `PassSolver`
    (`clusterkit.contracts.pass_solver`).
    """

    concurrent: ClassVar[bool] = False
    """Whether starts may be solved in several threads at once: `solve` and `leap` draw nothing and keep nothing."""

    @property
    def resolved(self) -> Mapping[str, object]:
        """Parameters that the preparation decided, for `resolved_`; by default none."""
        return {}

    @abstractmethod
    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Outcome:
        """One iteration. `targets` is None for a solver that learns from none."""

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """Objective of ``outcome = solve(targets)``, one value a start, lower is better; None if it has none.

        By default the one that the status of the outcome has.
        """
        value = None if outcome.status is None else outcome.status.last_objective
        return None if value is None else np.array([value])

    @property
    def objective_factor(self) -> float:
        """Factor of the objective that depends on the complexity but not on the labels, > 0: C, where there is one.

        Objectives divided by it can be compared between feature maps and data sets; 1 where there is no such factor.
        """
        return 1.0

    def leap(self, targets: Coded) -> Generator[tuple[float, Labels], None, str | float | None] | None:
        """Iterations in memory without a table of scores, for labels that are columns of the largest scores; or None.

        Yield the objective of the labels of one start and the next labels (n,), a fresh array each time. The values are
        those of `solve`, `objective` and argmax up to rounding. Only for monotone solvers: labels cannot come back
        while the objective falls, so nobody looks out for cycles. The generator ends before an iteration that would
        change no label, would not lower the objective, or is better made in full. It returns the reason if that
        iteration is the last one by a tolerance of the solver, the objective of the labels if it would change none of
        them, and None otherwise.
        """
        return None


class RowFunction(Extension, Protocol):
    """Function that scores raw rows, as every extension does, or rows whose features are known already."""

    def on(self, H: Array) -> Array:
        """Scores of a block of features, (b, L) to (b, q): those of `__call__`, without a second mapping.

        Written against the namespace of the block (`clusterkit.samples.array_libraries`).
        """


@final
@attrs.frozen(eq=False)
class Finished:
    """Result of an iteration: small, and all that the next iteration and the prediction need.

    Parameters
    ----------
    extend : RowFunction
        Function from features to scores.
    objective : ndarray of shape (R,)
        Objective of the labels that were added up, from the sums alone.
    status : Status or None
        A warning, or that the labels may be regarded as final, as in an `Outcome`.
    """

    extend: RowFunction
    objective: Array
    status: Status | None = None


class Adder(Protocol):
    """Computes the parts that an iteration adds up; this is sent to the place of the rows."""

    def part(self, H: Array, targets: Coded, scores: Array | None) -> Addable:
        """The contribution of a block of rows, see `Summing.part`."""


def adder_of(summing: Summing) -> Adder:
    """The part of a solver's iteration that is sent to the rows: its `adder`, or all of it."""
    adder: Adder = getattr(summing, "adder", summing)
    return adder


@runtime_checkable
class Summing(Protocol[PartT]):
    """Iterations of a solver as sums: frozen, small and picklable, because an engine sends the object to the rows.

    An optional attribute `resolved` has parameters that were decided on the way, for `resolved_`. An optional attribute
    `adder` with the same `part` lacks what only `finish` needs, such as a factorisation: it is
    then sent in place of the whole. An optional method ``labelled_part(H, function)`` does two steps at once for a
    block on a device: the labels (b,), which are the columns of the largest scores of the function, the class sizes
    (k,), and the part; or None.

    Values of all rows that are needed before the first iteration (the Gram matrix of ridge regression, the mean and the
    spread of k-means) are read by the function `Path.prepare` through `FeatureSpace.reduce`, which is a pass of the
    engine too.
    """

    def part(self, H: Array, targets: Coded, scores: Array | None) -> PartT:
        """The contribution of a block; zero if it has no rows.

        Parameters
        ----------
        H : array of shape (b, L)
            Written against the namespace of the block.
        targets : Coded
            Labels (R, b) of these rows.
        scores : array of shape (b, q) or None
            The scores that the labels were read from, where there is such a table: the value of ``previous.on(H)``.
        """

    def finish(self, total: PartT, previous: RowFunction | None) -> Finished | Summing:
        """End of the iteration from the sum of all parts; or the next pass over the same labels, until one ends it.

        Parameters
        ----------
        total : Addable
            Sum of the parts.
        previous : RowFunction or None
            The function of the iteration before.
        """


@final
@attrs.frozen(eq=False)
class PartOfLabels(BlockFunction):
    """Contribution of a block with known labels."""

    adder: Adder
    targets: Coded

    def __call__(self, rows: slice, H: Array) -> Addable:
        """The contribution of a block of features."""
        return self.adder.part(H, self.targets.of(rows), None)


def solve_by_sums(
    summing: Summing, space: FeatureSpace, targets: Coded, previous: RowFunction | None = None
) -> Finished:
    """One iteration in memory, for given labels (R, n): one pass, seldom more."""
    step: Finished | Summing = summing
    while not isinstance(step, Finished):
        step = step.finish(space.reduce(PartOfLabels(adder_of(step), targets)), previous)
    return step


@final
@attrs.frozen(eq=False)
class Step:
    """Result of an iteration.

    Parameters
    ----------
    following : RowFunction
        The function of the next iteration.
    objective : float
        Objective of the function whose sums were taken.
    settled : str or None
        Reason why that function is the answer; None to go on.
    change : str
        Change in the iteration as text, for the sentence at the largest number of iterations.
    """

    following: RowFunction
    objective: float
    settled: str | None = None
    change: str = ""


@runtime_checkable
class Iterating(Protocol[PartT]):
    """The iterations of a solver that learns from no labels: frozen, small and picklable, as `Summing`."""

    @property
    def name(self) -> str:
        """Name in reports of progress."""

    @property
    def k(self) -> int:
        """Columns of the scores."""

    @property
    def max_iter(self) -> int:
        """Largest number of iterations."""

    def begin(self, space: FeatureSpace, rng: Rng) -> RowFunction:
        """The first function; the samples are read by ``space.reduce`` and by single rows."""

    def part(self, H: Array, function: RowFunction, before: RowFunction | None, weights: Array | None) -> PartT:
        """The contribution of a block under a function, and under the one before it if needed; zero without rows.

        Parameters
        ----------
        H : array of shape (b, L)
        function, before : RowFunction
            `before` is None in the first iteration.
        weights : ndarray of shape (b,) or None
            How much each row counts.
        """

    def finish(self, total: PartT, function: RowFunction) -> Step:
        """The end of an iteration from the sum of all parts."""


@final
@attrs.frozen(eq=False)
class PartOfIteration(BlockFunction):
    """Contribution of a block of features to an iteration, as an engine sends it."""

    iterations: Iterating
    function: RowFunction
    before: RowFunction | None
    weights: Array | None = None

    def __call__(self, rows: slice, H: Array) -> Addable:
        """The contribution of the block."""
        weights = None if self.weights is None else self.weights[rows]
        return self.iterations.part(H, self.function, self.before, weights)


@attrs.frozen(eq=False)
class StateIterations(Iterations[RowFunction]):
    """Iterations of a solver with a state of its own, on a space in memory or on one whose rows an engine reads.

    Parameters
    ----------
    iterations : Iterating
    space : FeatureSpace
    weights : ndarray of shape (n,) or None
        How much each sample counts.
    """

    iterations: Iterating
    space: FeatureSpace
    weights: Array | None = None

    sentences: ClassVar[Mapping[Ending, str]] = {
        Ending.INTERRUPTED: "interrupted after {n} iterations: those so far are kept"
    }

    @property
    def name(self) -> str:  # type: ignore[override] # a property for a class attribute
        """Name of the solver, for progress reports."""
        return self.iterations.name

    def advance(self, active: list[Start[RowFunction]]) -> Iterator[Iteration[RowFunction]]:
        """One pass."""
        [start] = active
        function, before = cast("tuple[RowFunction, RowFunction | None]", start.state)
        step = self.iterations.finish(
            self.space.reduce(PartOfIteration(self.iterations, function, before, self.weights)), function
        )
        start.judge(step.objective)
        ending = None if step.settled is None else Ending.SETTLED
        yield Iteration(function, (step.following, function), ending, step.settled or step.change)


def solve_by_iterations(
    iterations: Iterating, space: FeatureSpace, rng: Rng, weights: Array | None = None
) -> tuple[RowFunction, Status]:
    """All iterations from a random start.

    Returns
    -------
    (function, status)
        The function of the last iteration that was complete; after Ctrl-C too, unless none was.
    """
    run = StateIterations(iterations, space, weights)
    return solve(run, Start(0, (iterations.begin(space, rng), None), keeps_best=False), iterations.max_iter)


SCORES = "scores of all rows, which the labeler needs on the host"
"""Name of a table of scores in errors."""


@attrs.frozen(eq=False)
class PassSolver(Prepared):
    """A solver by passes over the features of its space, wherever these are.

    In memory it may have a faster way of its own to the same outcome.

    Parameters
    ----------
    space : FeatureSpace
    iterations : Summing or Iterating
        Rules of the iterations: over labels, or over a state of the solver's own.
    weights : ndarray of shape (n,) or None
        How much each sample counts, for iterations of a state.
    """

    space: FeatureSpace
    iterations: Summing | Iterating
    weights: Array | None = attrs.field(default=None, kw_only=True)

    @property
    def resolved(self) -> Mapping[str, object]:
        """Parameters that the iterations decided."""
        decided: Mapping[str, object] = getattr(self.iterations, "resolved", {})
        return decided

    @property
    def objective_factor(self) -> float:
        """Factor of the iterations' objective; 1 if they have none."""
        factor: float = getattr(self.iterations, "objective_factor", 1.0)
        return factor

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        """Scores of all samples after one iteration over labels, or after all of a solver with a state of its own."""
        if isinstance(self.iterations, Iterating):
            return self._solve_by_iterations(self.iterations, rng)
        assert targets is not None
        before = previous.extend if isinstance(previous, Scores) else None
        finished = solve_by_sums(self.iterations, self.space, targets, before)  # type: ignore[arg-type] # it made that one
        table = self._table(finished.extend, targets.starts * targets.codebook.shape[1])
        return Scores(table, finished.extend, starts=targets.starts, status=finished.status, carry=finished.objective)

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """Objective of the targets, (R,), from the sums of an iteration."""
        if isinstance(self.iterations, Iterating):
            return super().objective(targets, outcome)
        assert isinstance(outcome, Scores)
        assert isinstance(outcome.carry, np.ndarray)
        return outcome.carry

    def _solve_by_iterations(self, iterations: Iterating, rng: Rng) -> Scores:
        function, status = solve_by_iterations(iterations, self.space, rng, self.weights)
        return Scores(self._table(function, iterations.k), function, status=status)

    def _table(self, function: RowFunction, columns: int) -> Array:
        return self.space.table(function.on, columns, SCORES)
