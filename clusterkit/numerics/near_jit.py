"""Gaussian kernel sums without the centres that are too far away to matter.

Neighbouring centres form blocks, and at a point only the blocks within a fixed distance are added up. In the scaled
coordinates used here the kernel is ``exp(-|x - y|²)``, the weights are >= 0 and sum to 1, and all terms left out are
together below ``exp(-far²)``.
"""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.numerics.exponential_jit import fast_exp
from clusterkit.numerics.gaussian_jit import FAST
from clusterkit.numerics.threads import over_rows

__all__ = ["SIZE", "Blocks", "block_terms", "far_enough", "near_blocks", "near_sum"]

SIZE = 128
"""Centres of a block: few enough to lie close together, enough for vector instructions.

Loops over a block read its length from an array: if the compiler knew the length, it would unroll the loops before it
vectorises them.
"""


@final
@attrs.frozen(eq=False)
class Blocks:
    """Centres in blocks of `SIZE`; the last block is padded with centres of weight 0.

    Parameters
    ----------
    centres : ndarray of shape (b, d, SIZE)
    weights : ndarray of shape (b, SIZE)
    middle : ndarray of shape (b, d)
        Middle of the box around each block.
    reach : ndarray of shape (b,)
        Distance from the middle beyond which no centre of the block matters.
    """

    centres: Array
    weights: Array
    middle: Array
    reach: Array

    @classmethod
    def of(cls, centres: Array, weights: Array, far: float) -> Blocks:
        """Arrange centres (s, d) with weights (s,) in blocks; `far` is the distance beyond which a centre is left out.

        O(s d log s).
        """
        centres = np.ascontiguousarray(centres, dtype=np.float64)
        s, d = centres.shape
        order = np.arange(s)
        _halve(centres, order)
        count = -(-s // SIZE)
        # the padding repeats a centre of the same block, so that no box grows
        padded = np.append(order, np.full(count * SIZE - s, order[-1]))
        shares = np.zeros(count * SIZE)
        shares[:s] = np.asarray(weights, dtype=np.float64)[order]
        blocks = centres[padded].reshape(count, SIZE, d)
        middle = 0.5 * (blocks.min(axis=1) + blocks.max(axis=1))
        radius = np.sqrt(np.square(blocks - middle[:, None]).sum(axis=2).max(axis=1))
        return cls(
            np.ascontiguousarray(blocks.transpose(0, 2, 1)),
            shares.reshape(count, SIZE),
            middle,
            radius * (1.0 + 1e-9) + far,
        )

    def unpacked(self) -> tuple[Array, Array]:
        """Centres (b SIZE, d) and weights (b SIZE,), including the padding."""
        return np.concatenate(list(self.centres.transpose(0, 2, 1))), self.weights.reshape(-1)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Argument `arrays` of the compiled functions: (centres, weights, middle, reach)."""
        return self.centres, self.weights, self.middle, self.reach

    def sums(self, Y: Array) -> Array:
        """The kernel sum at each row of Y (p, d), shape (p,)."""
        values = np.empty(len(Y))
        over_rows(lambda start, stop: _sums(Y, start, stop, self.arrays, values), len(Y), self.centres.size)
        return values

    def sums_gradients(self, Y: Array) -> tuple[Array, Array]:
        """The kernel sums and their gradients at the rows of Y, (p,) and (p, d)."""
        values, gradients = np.empty(len(Y)), np.empty(Y.shape)
        over_rows(
            lambda start, stop: _sums_gradients(Y, start, stop, self.arrays, values, gradients),
            len(Y),
            2 * self.centres.size,
        )
        return values, gradients


def _halve(centres: Array, order: Indices) -> None:
    """Sort `order` so that every `SIZE` successive centres are neighbours.

    Sets of centres are halved along their widest attribute, at multiples of `SIZE`. Not compiled: numpy does the work,
    and a sort takes a second to compile.
    """
    stack = [(0, len(order))]
    while stack:
        first, last = stack.pop()
        if last - first <= SIZE:
            continue
        part = order[first:last]
        best = int(np.argmax(np.ptp(centres[part], axis=0)))
        order[first:last] = part[np.argsort(centres[part, best], kind="stable")]
        middle = first + SIZE * max(1, (last - first) // (2 * SIZE))
        stack.append((first, middle))
        stack.append((middle, last))


@njit(fastmath=FAST)
def _squares(y: Any, centres: Any, out: Any) -> Any:
    """Write the squared distances from y to the centres of a block (d, SIZE) into `out` (SIZE,)."""
    d, size = len(y), len(out)
    rest = d % 4
    for s in range(size):
        out[s] = 0.0
    for c in range(0, d - rest, 4):
        y0, y1, y2, y3 = y[c], y[c + 1], y[c + 2], y[c + 3]
        x0, x1, x2, x3 = centres[c], centres[c + 1], centres[c + 2], centres[c + 3]
        for s in range(size):
            p, q, u, v = y0 - x0[s], y1 - x1[s], y2 - x2[s], y3 - x3[s]
            out[s] += (p * p + q * q) + (u * u + v * v)
    if rest >= 2:
        y0, y1, x0, x1 = y[d - rest], y[d - rest + 1], centres[d - rest], centres[d - rest + 1]
        for s in range(size):
            p, q = y0 - x0[s], y1 - x1[s]
            out[s] += p * p + q * q
    if rest % 2:
        y0, x0 = y[d - 1], centres[d - 1]
        for s in range(size):
            p = y0 - x0[s]
            out[s] += p * p


@njit
def near_blocks(y: Array, radius: float, arrays: tuple[Array, ...], near: Indices) -> int:
    """Write the blocks that matter somewhere in the ball around y into `near` (b,), and return how many they are."""
    middle, reach = arrays[2], arrays[3]
    count = 0
    for b in range(len(reach)):
        limit, total = reach[b] + radius, 0.0
        for c in range(len(y)):
            difference = y[c] - middle[b, c]
            total += difference * difference
        if total <= limit * limit:
            near[count] = b
            count += 1
    return count


@njit(fastmath=FAST)
def block_terms(y: Array, b: int, arrays: tuple[Array, ...], squares: Array, terms: Array) -> float:
    """Sum over block b at y; squared distances and terms are left in `squares` and `terms`, (SIZE,)."""
    _squares(y, arrays[0][b], squares)
    w, total, size = arrays[1][b], 0.0, len(terms)
    for s in range(size):
        terms[s] = w[s] * fast_exp(-squares[s])
        total += terms[s]
    return total


@njit(fastmath=FAST)
def near_sum(y: Array, arrays: tuple[Array, ...], squares: Array) -> float:
    """The kernel sum at y, the value that all tests of segments compare; `squares` (SIZE,) is work space."""
    centres, weights, middle, reach = arrays
    total, size = 0.0, len(squares)
    for b in range(len(reach)):
        off = 0.0
        for c in range(len(y)):
            difference = y[c] - middle[b, c]
            off += difference * difference
        if off <= reach[b] * reach[b]:
            _squares(y, centres[b], squares)
            w, part = weights[b], 0.0
            for s in range(size):
                part += w[s] * fast_exp(-squares[s])
            total += part
    return total


@njit
def _sums(Y: Any, start: Any, stop: Any, arrays: tuple[Array, ...], values: Any) -> Any:
    squares = np.empty(SIZE)
    for i in range(start, stop):
        values[i] = near_sum(Y[i], arrays, squares)


@njit(fastmath=FAST)
def _sums_gradients(Y: Any, start: Any, stop: Any, arrays: tuple[Array, ...], values: Any, gradients: Any) -> Any:
    squares, terms = np.empty(SIZE), np.empty(SIZE)
    near, size = np.empty(len(arrays[3]), dtype=np.int64), len(terms)
    for i in range(start, stop):
        y = Y[i]
        values[i] = 0.0
        gradients[i] = 0.0
        for n in range(near_blocks(y, 0.0, arrays, near)):
            values[i] += block_terms(y, near[n], arrays, squares, terms)
            block = arrays[0][near[n]]
            for c in range(len(y)):
                x, at, part = block[c], y[c], 0.0
                for s in range(size):
                    part += terms[s] * (x[s] - at)
                gradients[i, c] += 2.0 * part


def far_enough(level: float) -> float:
    """Distance from which on a kernel value and its first three derivatives are below 1e-12 times `level`."""
    return math.sqrt(max(1.0, 40.0 - math.log(level)))
