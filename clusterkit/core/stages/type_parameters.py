"""What the abstract stages are generic in, for type checkers: at run time a stage need not name any of these.

A type that is left out counts as Any, so that ``class Mine(Labeler)`` is legal under strict checks too. Defaults of
type parameters are not yet in `typing` of the oldest supported Python; checkers know them from their own copy of
typing_extensions, which is therefore never imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from clusterkit.core.outcomes import Outcome
    from clusterkit.core.spaces import Space
    from clusterkit.core.stages.solver import Solver

    OutcomeT = TypeVar("OutcomeT", bound=Outcome, contravariant=True, default=Any)
    SolverT = TypeVar("SolverT", bound=Solver, contravariant=True, default=Any)
    SpaceT = TypeVar("SpaceT", bound=Space, contravariant=True, default=Any)
else:
    from typing import TypeVar

    OutcomeT = TypeVar("OutcomeT", contravariant=True)
    """What a labeler reads."""
    SolverT = TypeVar("SolverT", contravariant=True)
    """The solver of a path."""
    SpaceT = TypeVar("SpaceT", contravariant=True)
    """The space of a path, or of what a partitioner splits."""

__all__ = ["OutcomeT", "SolverT", "SpaceT"]
