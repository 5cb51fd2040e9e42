"""Sums of Gaussian kernels at many points, without the matrix of kernel values.

The centres are columns of an array (d, s), so that the loop over centres becomes vector instructions. The value at a
point depends on that point and the centres alone, not on the block, thread or batch that contains it.

`fast_exp` is an exponential function for these inner loops. ``math.exp`` costs a function call for each number; this
polynomial is arithmetic only, so the compiler turns a loop over it into vector instructions. The arguments must be
<= 0, as they are in Gaussian kernels.

`near_sum` leaves out centres that are too far away to matter. Neighbouring centres form blocks, and at a point only the
blocks within a fixed distance are added up. In its scaled coordinates the kernel is ``exp(-|x - y|²)``, the weights are
>= 0 and sum to 1, and all terms left out are together below ``exp(-far²)``.
"""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np
from numba import types
from numba.core import cgutils  # noqa: F401  (numba's intrinsics need the module loaded)
from numba.extending import intrinsic, overload

from clusterkit._jit import njit
from clusterkit._typing import Array, Indices
from clusterkit.numerics.threads import over_rows

_LOG2E = 1.4426950408889634
"""1 / ln 2."""
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 as a sum of two numbers: the first has trailing zeros, so that its product with an exponent is exact."""
_LEAST = -708.0
"""Smallest argument: below it the exponential is subnormal, and the shifted exponent would be wrong."""

_LN2_HIGH_32, _LN2_LOW_32 = 0.693359375, -2.12194440e-4
"""ln 2 as a sum of two numbers, as above, for float32."""
_LEAST_32 = -87.0
"""Smallest argument for float32."""


@intrinsic
def _double_of_bits(typing: Any, bits: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # pragma: no cover - for the compiler
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), build


@intrinsic
def _single_of_bits(typing: Any, bits: Any) -> Any:
    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # pragma: no cover - for the compiler
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.int32), build


def fast_exp(x: float) -> float:
    """``exp(x)`` for x <= 0, up to some rounding errors of the argument; constant below -708 (float32: -87).

    Compiled functions use a polynomial (`_exp_64`, `_exp_32`); the body here serves the interpreter.
    """
    return math.exp(x)


@overload(fast_exp, inline="never")
def _fast_exp(x: Any) -> Any:  # pragma: no cover - for the compiler
    if x == types.float32:
        return _exp_32
    return _exp_64


# Both functions round by conversion to an integer, because a caller compiled with fastmath would simplify the usual
# addition and subtraction of 1.5 * 2^52. With x = k ln 2 + r they return 2^k times a Taylor polynomial of exp(r).
def _exp_64(x: Any) -> Any:  # pragma: no cover - runs compiled only
    x = max(x, _LEAST)
    k = types.int64(x * _LOG2E - 0.5)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return p * _double_of_bits((k + types.int64(1023)) << types.int64(52))


def _exp_32(x: Any) -> Any:  # pragma: no cover - runs compiled only
    x = max(x, types.float32(_LEAST_32))
    k = types.int32(x * types.float32(_LOG2E) - types.float32(0.5))
    f = types.float32(k)
    r = (x - f * types.float32(_LN2_HIGH_32)) - f * types.float32(_LN2_LOW_32)
    p = types.float32(0.001388888888888889)
    p = p * r + types.float32(0.008333333333333333)
    p = p * r + types.float32(0.041666666666666664)
    p = p * r + types.float32(0.16666666666666666)
    p = p * r + types.float32(0.5)
    p = p * r + types.float32(1.0)
    p = p * r + types.float32(1.0)
    return p * _single_of_bits(types.int32((k + types.int32(127)) << types.int32(23)))


CENTRES = 256
"""Centres of one pass of the inner loop: their distances stay in the first-level cache."""


def gaussian_sums(Y: Array, centres: Array, weights: Array, gamma: float, threads: int | None = None) -> Array:
    """``Σ_s weights_s exp(-gamma |centres_s - y|²)`` for each row y of Y.

    Parameters
    ----------
    Y : ndarray of shape (p, d)
    centres : ndarray of shape (s, d)
    weights : ndarray of shape (s,)
        Positive or negative.
    gamma : float
    threads : int, optional
        Most threads to use; None: as many as this process may use cores.

    Returns
    -------
    ndarray of shape (p,), float64
        Kernel values are computed in the common type of Y and `centres`, and sums of 256 of them are added in float64.

    Notes
    -----
    O(p s d) time, O(p + s d) memory. On one core about 1 ns for each kernel value in float64 if d = 2, 3 ns if d = 16.
    """
    Y, columns = _same_type(Y, centres)
    weights = np.ascontiguousarray(weights, dtype=Y.dtype)
    values = np.empty(len(Y))
    over_rows(
        lambda start, stop: _sums(Y, start, stop, columns, weights, Y.dtype.type(gamma), values),
        len(Y),
        columns.size,
        threads,
    )
    return values


def gaussian_block(A: Array, B: Array, gamma: float) -> Array:
    """Kernel values between all rows of A (p, d) and of B (s, d), shape (p, s), in their common type."""
    A, columns = _same_type(A, B)
    K = np.empty((len(A), len(B)), dtype=A.dtype)
    over_rows(lambda start, stop: _block(A, start, stop, columns, A.dtype.type(gamma), K), len(A), columns.size)
    return K


def _same_type(A: Array, B: Array) -> tuple[Array, Array]:
    if A.shape[1] != B.shape[1]:  # compiled loops would read beyond the end
        raise ValueError(f"points of {A.shape[1]} coordinates and of {B.shape[1]}")
    dtype = np.float32 if A.dtype == B.dtype == np.float32 else np.float64
    return np.ascontiguousarray(A, dtype=dtype), np.ascontiguousarray(B.T, dtype=dtype)


FAST = {"reassoc", "contract", "nsz", "arcp"}
"""Freedom of the compiler in these loops. "nnan" and "ninf" are left out: callers may compare with infinity."""


@njit(fastmath=FAST)
def gaussian_sum(y: Array, columns: Array, weights: Array, gamma: float, distances: Array) -> float:
    """The kernel sum at a point y (d,); `columns` (d, s) are the centres, `distances` (CENTRES,) is work space."""
    total: Any = 0.0
    for first in range(0, len(weights), CENTRES):
        size = min(CENTRES, len(weights) - first)
        distances_to(y, columns, first, size, distances)
        part = y.dtype.type(0.0)
        w = weights[first : first + size]
        for s in range(size):
            part += w[s] * fast_exp(-gamma * distances[s])
        total += part
    return total


@njit(fastmath=FAST)
def product(a: Array, b: Array) -> float:
    """The inner product of two vectors of equal length."""
    total = 0.0
    for s in range(len(a)):
        total += a[s] * b[s]
    return total


@njit(fastmath=FAST)
def distances_to(y: Array, columns: Array, first: int, size: int, distances: Array) -> None:
    """Write the squared distances from y to the `size` centres from number `first` on.

    Four attributes are added in one pass, because every pass has to store all distances.
    """
    d = len(y)
    rest = d % 4
    out = distances[:size]
    for s in range(size):
        out[s] = 0.0
    for c in range(0, d - rest, 4):
        y0, y1, y2, y3 = y[c], y[c + 1], y[c + 2], y[c + 3]
        x0 = columns[c, first : first + size]
        x1 = columns[c + 1, first : first + size]
        x2 = columns[c + 2, first : first + size]
        x3 = columns[c + 3, first : first + size]
        for s in range(size):
            a, b, e, f = y0 - x0[s], y1 - x1[s], y2 - x2[s], y3 - x3[s]
            out[s] += (a * a + b * b) + (e * e + f * f)
    if rest >= 2:
        y0, y1 = y[d - rest], y[d - rest + 1]
        x0 = columns[d - rest, first : first + size]
        x1 = columns[d - rest + 1, first : first + size]
        for s in range(size):
            a, b = y0 - x0[s], y1 - x1[s]
            out[s] += a * a + b * b
    if rest % 2:
        y0 = y[d - 1]
        x0 = columns[d - 1, first : first + size]
        for s in range(size):
            a = y0 - x0[s]
            out[s] += a * a


@njit
def _sums(Y: Any, start: Any, stop: Any, columns: Any, weights: Any, gamma: Any, values: Any) -> Any:
    distances = np.empty(CENTRES, dtype=Y.dtype)
    for i in range(start, stop):
        values[i] = gaussian_sum(Y[i], columns, weights, gamma, distances)


@njit(fastmath=FAST)
def _block(A: Any, start: Any, stop: Any, columns: Any, gamma: Any, K: Any) -> Any:
    distances = np.empty(CENTRES, dtype=A.dtype)
    for i in range(start, stop):
        for first in range(0, columns.shape[1], CENTRES):
            size = min(CENTRES, columns.shape[1] - first)
            distances_to(A[i], columns, first, size, distances)
            row = K[i, first : first + size]
            for s in range(size):
                row[s] = fast_exp(-gamma * distances[s])


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
        over_rows(lambda start, stop: _near_sums(Y, start, stop, self.arrays, values), len(Y), self.centres.size)
        return values

    def sums_gradients(self, Y: Array) -> tuple[Array, Array]:
        """The kernel sums and their gradients at the rows of Y, (p,) and (p, d)."""
        values, gradients = np.empty(len(Y)), np.empty(Y.shape)
        over_rows(
            lambda start, stop: _near_sums_gradients(Y, start, stop, self.arrays, values, gradients),
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
def _near_sums(Y: Any, start: Any, stop: Any, arrays: tuple[Array, ...], values: Any) -> Any:
    squares = np.empty(SIZE)
    for i in range(start, stop):
        values[i] = near_sum(Y[i], arrays, squares)


@njit(fastmath=FAST)
def _near_sums_gradients(Y: Any, start: Any, stop: Any, arrays: tuple[Array, ...], values: Any, gradients: Any) -> Any:
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
