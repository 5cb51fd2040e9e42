"""Rows that know how they were read."""

from __future__ import annotations

import attrs
import numpy as np


@attrs.frozen(eq=False)
class Watched:
    """Rows with the lengths of all that is read of them (`reads`), and of what passes read alone (`passed`)."""

    X: np.ndarray
    reads: list[int] = attrs.field(factory=list)
    passed: list[int] = attrs.field(factory=list)
    names: tuple[str, ...] | None = None

    n = property(lambda self: len(self.X))
    d = property(lambda self: self.X.shape[1])
    dtype = property(lambda self: self.X.dtype)

    def read(self, rows):
        self.reads.append(rows.stop - rows.start)
        self.passed.append(rows.stop - rows.start)
        return self.X[rows].copy()

    def gather(self, index):
        self.reads.append(len(index))
        return self.X[index]
