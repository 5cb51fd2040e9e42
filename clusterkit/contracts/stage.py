"""Members that all stages have in common, and the task: facts about the whole problem that stages receive.

The type parameters of the abstract stages are for type checkers: at run time a stage need not name any of them. One
that is left out counts as Any, so that ``class Mine(Labeler)`` is legal under strict checks too. Defaults of type
parameters are not yet in `typing` of the oldest supported Python; checkers know them from their own copy of
typing_extensions, which is therefore never imported.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import attrs

from clusterkit._typing import Array, Sizes
from clusterkit.contracts.links import LinkedGroups
from clusterkit.errors import UnknownName, nearest_names


@attrs.frozen
class Stage(ABC):
    """One part of an algorithm: immutable, comparable, constructible without arguments."""

    kind: ClassVar[str]
    name: ClassVar[str]
    synonyms: ClassVar[tuple[str, ...]] = ()
    """Other names that papers and libraries give it, by which it is found; it is not called by them."""
    tunable: ClassVar[frozenset[str]] = frozenset()
    """Parameters whose None a tuner may replace."""
    trial: ClassVar[Mapping[str, object]] = {}
    """Parameters that make a costly stage cheap enough for the many examples of the conformance kit."""

    @final
    def parameters(self) -> dict[str, object]:
        """Hyper-parameters by name."""
        return {field.name: getattr(self, field.name) for field in attrs.fields(type(self)) if field.init}

    @final
    def with_parameters(self, **changes: object) -> Self:
        """A copy with some parameters changed; unknown names are refused with the nearest ones."""
        known = self.parameters()
        for name in changes:
            if name not in known:
                raise UnknownName(f"{self.kind} '{self.name}' has no parameter {name!r}. {nearest_names(name, known)}")
        return attrs.evolve(self, **changes)


@attrs.frozen(eq=False)
class Task:
    """Facts about the whole problem that every stage receives.

    Later versions may add fields with defaults; construct it by keyword beyond the first two.

    Parameters
    ----------
    n : int
        Number of samples.
    n_clusters : int or None
        None where the labeler finds the number.
    bounds : (lo, hi) arrays of shape (k,), or None
        Least and greatest cluster sizes that the balancer will enforce.
    sample_weight : ndarray of shape (n,) or None
        How much each sample counts, float64, at least 0: one of weight 3 as much as three equal ones. None: all
        count 1. Only for stages that say that they are `weighted`.
    links : LinkedGroups or None
        Rows that belong together, and groups of rows that are apart. Only for stages that say that they are `linked`.
    """

    n: int
    n_clusters: int | None
    bounds: tuple[Sizes, Sizes] | None = None
    sample_weight: Array | None = None
    links: LinkedGroups | None = None

    @property
    def k(self) -> int:
        """The number of clusters; an error if the labeler is to find it."""
        if self.n_clusters is None:
            raise ValueError("this method needs n_clusters")
        return self.n_clusters


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from clusterkit.contracts.outcomes import Outcome
    from clusterkit.samples import Space

    OutcomeT = TypeVar("OutcomeT", bound=Outcome, contravariant=True, default=Any)
    SpaceT = TypeVar("SpaceT", bound=Space, contravariant=True, default=Any)
else:
    from typing import TypeVar

    OutcomeT = TypeVar("OutcomeT", contravariant=True)
    """Type of the outcome that a labeler reads."""
    SpaceT = TypeVar("SpaceT", contravariant=True)
    """The space of a path, or of what a partitioner splits."""
