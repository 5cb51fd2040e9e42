"""Columns of rows beside their products in pairs, in which a Gaussian density has a linear logarithm.

Weighted sums of rows and of their products, and quadratic forms of rows, are one product of matrices each for any
number of weights or forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array

CELLS = 2**22
"""Numbers that are kept from call to call; more are computed anew in every pass, in blocks of rows."""

BLOCK = 2**16
"""Numbers of a block."""


@final
@attrs.frozen(eq=False)
class PairProducts:
    """Rows with the products of their columns.

    Parameters
    ----------
    J : ndarray of shape (n, m)

    Examples
    --------
    >>> rows = PairProducts(np.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> [sums.tolist() for sums in rows.sums(np.array([[1.0], [1.0]]))]
    [[[1.0, 5.0]], [[[1.0, 2.0], [2.0, 13.0]]]]
    """

    J: Array

    def sums(self, P: Array) -> tuple[Array, Array]:
        """Sums (k, m) of the rows, and (k, m, m) of their products, with weights (n, k)."""
        m = self.J.shape[1]
        i, j = np.tril_indices(m)
        sums = np.sum([P[rows].T @ features for rows, features in self._blocks()], axis=0)
        second = np.empty((len(sums), m, m))
        second[:, i, j] = second[:, j, i] = sums[:, m:]
        return sums[:, :m], second

    def values(self, forms: Array, linear: Array, constants: Array) -> Array:
        """``c + b'x - 1/2 x'Qx`` of all rows, (n, k), for symmetric Q (k, m, m), b (k, m) and c (k,)."""
        i, j = np.tril_indices(self.J.shape[1])
        weights = np.hstack([linear, forms[:, i, j] * np.where(i == j, -0.5, -1.0)]).T
        return np.vstack([features @ weights for _, features in self._blocks()]) + constants

    @property
    def are_kept(self) -> bool:
        """Whether the products are so few that they are computed once."""
        return self.J.size * (self.J.shape[1] + 3) <= 2 * CELLS

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        n, m = self.J.shape
        if self.are_kept:
            yield slice(0, n), self._whole
            return
        size = max(1, BLOCK // m**2)
        for start in range(0, n, size):
            yield slice(start, start + size), _with_products(self.J[start : start + size])

    @cached_property
    def _whole(self) -> Array:
        return _with_products(self.J)


def _with_products(J: Array) -> Array:
    return np.hstack([J, *(J[:, : i + 1] * J[:, i : i + 1] for i in range(J.shape[1]))])
