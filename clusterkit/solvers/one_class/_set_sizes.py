"""The set sizes at which the solver of the Gaussian dual switches its strategy."""

from __future__ import annotations

from typing import final

import attrs

__all__ = ["SET_SIZES", "SetSizes"]


@final
@attrs.frozen
class SetSizes:
    """Set sizes at which the solver switches its strategy: all points, working sets, samples.

    Parameters
    ----------
    max_direct : int
        Up to this many points, pairs move over all of them.
    min_candidates : int
        A working set has at least this many candidates to grow, and as many to shrink.
    candidate_divisor : int
        Of n points, a working set has at least ``n / candidate_divisor`` candidates of each kind.
    max_free : int
        Most variables off their bounds in a working set.
    sample_divisor : int
        A sample has ``n / sample_divisor`` of n points.
    """

    max_direct: int = 2048
    min_candidates: int = 512
    candidate_divisor: int = 16
    max_free: int = 2048
    sample_divisor: int = 8

    def candidates(self, n: int) -> int:
        """Candidates of each kind in a working set of n points."""
        return max(self.min_candidates, n // self.candidate_divisor)


SET_SIZES = SetSizes()
"""The sizes in use. They decide how fast the optimum is reached, not which; the tests use small ones."""
