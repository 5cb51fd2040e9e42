"""The segment test for points of another library of the array API: values of the domain at blocks of points."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Mask
from clusterkit.core.kernel_products import rows_at
from clusterkit.core.namespaces import as_type, move_to, row_chunks, to_host
from clusterkit.core.outcomes import Domain
from clusterkit.level_sets.segment_test import fractions

__all__ = ["SegmentsOfBlocks"]


@final
@attrs.frozen(eq=False)
class SegmentsOfBlocks:
    """Tests of points and segments against a domain that takes points of any library; answers are on the host.

    Parameters
    ----------
    domain : Domain
    n_segment_points : int
    """

    domain: Domain
    n_segment_points: int

    def inside(self, Y: Array) -> Mask:
        """Whether the rows of Y (p, d) are inside, (p,)."""
        inside: Mask = to_host(self.domain.value(Y)) >= self.domain.level
        return inside

    def connected(self, A: Array, B: Array) -> Mask:
        """Whether the segments from A[i], of any library, to B[i], of numpy, both (p, d) and inside, stay inside."""
        connected = np.zeros(len(B), dtype=np.bool_)
        for rows, part in row_chunks(A):
            connected[rows] = self._connected(as_type(part, np.float64), B[rows])
        return connected

    def _connected(self, A: Array, B: Array) -> Mask:
        remaining = np.arange(len(B))
        steps: Array = move_to(B, A, np.float64) - A
        for fraction in fractions(self.n_segment_points).tolist():
            stay = self.inside(A + fraction * steps)
            if not stay.all():
                index = np.flatnonzero(stay)
                remaining, A, steps = remaining[index], rows_at(A, index), rows_at(steps, index)
            if not len(remaining):
                break
        connected = np.zeros(len(B), dtype=np.bool_)
        connected[remaining] = True
        return connected
