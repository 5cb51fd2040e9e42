"""The abstract solver, how it works on a type of space, and what it becomes when bound to one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, final

import attrs

from clusterkit._typing import Rng
from clusterkit.contracts.outcomes import Outcome
from clusterkit.contracts.pass_solver import Prepared
from clusterkit.contracts.stage import SpaceT, Stage, Task
from clusterkit.samples import Space
from clusterkit.samples.coding import Coding

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    SolverT = TypeVar("SolverT", bound="Solver", contravariant=True, default=Any)
else:
    from typing import TypeVar

    SolverT = TypeVar("SolverT", contravariant=True)
    """The solver of a path."""


@attrs.frozen
class Path(Generic[SolverT, SpaceT]):
    """How a solver works on one type of space.

    Parameters
    ----------
    prepare : callable
        ``prepare(solver, space, task, rng) -> Prepared``, a module-level function.
    gives : type of Outcome
    inductive : bool
        Whether the outcome extends to new samples.
    sparse : bool
        Whether it also works where the features, or the points of the kernel, are `SparseRows`.
    square : bool
        Whether it keeps a matrix of n x n inner products or kernel values, so that too many samples are refused
        before any work.
    passes : {"never", "anywhere"}
        Where samples outside memory can be fitted: there `prepare` gives a `PassSolver`, which reads the features by
        `FeatureSpace.reduce` alone.
    instead : str
        Advice for errors: which parameters to change so that the solver runs by passes.
    weighted : bool
        Whether it counts the samples by `Task.sample_weight` and `Coded.weights`.
    """

    prepare: Callable[[SolverT, SpaceT, Task, Rng], Prepared]
    gives: type[Outcome]
    inductive: bool = True
    sparse: bool = False
    square: bool = False
    passes: Literal["never", "anywhere"] = "never"
    weighted: bool = False
    instead: str = ""


class Solver(Stage):
    """Finds scores, an embedding or a domain in a space."""

    kind: ClassVar[str] = "solver"
    codings: ClassVar[frozenset[Coding]] = frozenset()
    """Codings of labels that the solver learns from; none for a solver that learns from no labels."""
    targets: ClassVar[Literal["never", "start", "every_iteration"]] = "never"
    """When the solver learns from labels: never, from those of the start alone, or anew in each iteration."""
    default_balancer: ClassVar[str | None] = None
    """Name that balancer="auto" means for this solver; None: no balancer."""
    linked_balancer: ClassVar[str] = "links"
    """Balancer that keeps links where there is none; one that keeps sizes too, for a solver that does so."""
    default_labeler: ClassVar[str | Mapping[str, object] | None] = None
    """Labeler that labeler="auto" means for this solver; None if the type of its outcome decides."""
    own_balance: ClassVar[bool] = False
    """True if the solver enforces size bounds itself.

    The bounds are then always in `Task.bounds`: the balancer's, else the bounds of ``band(0.03)``.
    """
    columns: ClassVar[bool] = False
    """True if several starts are solved together as more columns."""
    has_objective: ClassVar[bool] = False
    """True if `Prepared.objective` gives values, which n_init > 1 and pooling need."""
    nonnegative: ClassVar[bool] = False
    """True if the solver accepts nonnegative features only."""
    accuracy: ClassVar[float] = 0.0
    """Largest difference that the default tolerance may leave between two runs, for scores of order 1.

    0 means rounding only. Read by the laws.
    """
    monotone: ClassVar[bool] = False
    """True if the objective never rises from one iteration to the next; a law tests it.

    The law holds without a balancer, and for labels whose targets are nearest to the scores: not with a bias that a
    labeler chooses by a loss of its own.
    """

    max_clusters: ClassVar[int | None] = None
    """The most clusters that the solver can tell apart; None if there is no such limit."""

    chooses_number: ClassVar[bool] = False
    """True if the solver chooses the number of clusters where none is given, between its parameters `least_clusters`
    and `most_clusters`."""

    @property
    @abstractmethod
    def paths(self) -> Mapping[type[Space], Path]:
        """Spaces it works on."""

    @final
    def path(self, space: type[Space]) -> Path | None:
        """The path for a type of space, or None."""
        paths = self.paths
        return next((paths[kind] for kind in space.__mro__ if kind in paths), None)

    @final
    def prepare(self, space: Space, task: Task, rng: Rng) -> Prepared:
        """Do all that does not depend on targets."""
        path = self.path(type(space))
        if path is None:
            raise TypeError(f"solver '{self.name}' has no path for a {type(space).__name__}")
        return path.prepare(self, space, task, rng)
