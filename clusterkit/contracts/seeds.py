"""One random stream per slot, all from one seed, none disturbed by what another slot draws."""

from __future__ import annotations

import zlib
from types import ModuleType

import attrs
import numpy as np

from clusterkit._typing import RandomState, Rng
from clusterkit.errors import InvalidParameter

__all__ = ["Seeds"]


@attrs.frozen
class Seeds:
    """The streams of one fit.

    Parameters
    ----------
    entropy : int
        Number that all streams derive from.
    path : tuple of int
        Position of this object in the tree of streams.
    """

    entropy: int
    path: tuple[int, ...] = ()

    @classmethod
    def of(cls, random_state: RandomState | ModuleType) -> Seeds:
        """Seeds from an int, a numpy Generator, a RandomState (both are advanced), or None for fresh entropy."""
        if random_state is None:
            return cls(int(np.random.SeedSequence().entropy))  # type: ignore[arg-type]
        if isinstance(random_state, np.random.Generator):
            return cls(int(random_state.integers(2**63)))
        if isinstance(random_state, np.random.RandomState):
            return cls(int(random_state.randint(2**31 - 1)))
        if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
            if random_state >= 0:
                return cls(int(random_state))
        elif random_state is np.random:
            return cls(int(np.random.randint(2**31 - 1)))  # noqa: NPY002 (scikit-learn's spelling of the global stream)
        raise InvalidParameter(
            f"random_state must be a non-negative integer, a numpy Generator or RandomState, or None, "
            f"got {random_state!r}"
        )

    def child(self, *keys: str | int) -> Seeds:
        """The seeds of a part, for example one random map of several."""
        numbers = tuple(zlib.crc32(key.encode()) if isinstance(key, str) else key for key in keys)
        return Seeds(self.entropy, self.path + numbers)

    def stream(self, *keys: str | int) -> Rng:
        """A fresh generator for a slot; equal keys give equal streams."""
        part = self.child(*keys)
        return np.random.default_rng(np.random.SeedSequence(part.entropy, spawn_key=part.path))

    def of_starts(self, slot: str, starts: int) -> list[Rng]:
        """The streams of a slot, one a start; that of the first one is the stream of the slot itself."""
        return [self.stream(slot, start) if start else self.stream(slot) for start in range(starts)]

    def integer(self, *keys: str | int) -> int:
        """A 31-bit seed for libraries that take one."""
        return int(self.stream(*keys).integers(2**31 - 1))
