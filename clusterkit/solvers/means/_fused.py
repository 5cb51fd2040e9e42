"""An iteration of k-means on a block of PyTorch by two kernels of Triton, without tables of all distances.

The first kernel finds the nearest centre of each row and how much farther the second nearest is, tile by tile of the
centres. The second adds up the rows of each class: chunks of `CHUNK` rows as products with the unit vectors of their
labels, and the chunks by a sum in float64. No number is added by an atomic operation, so that every run has the same
bits. Loaded late: Triton comes with PyTorch for graphics processors. Without one its interpreter runs the kernels
(``TRITON_INTERPRET=1``), which the tests use.
"""

# PyTorch and Triton are not there where types are checked, and kernels are no Python that mypy reads
# mypy: ignore-errors

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

__all__ = ["class_sums", "nearest_two"]

CHUNK = 4096
"""Rows that are added in the type of the data, as by products without these kernels; beyond it sums are float64."""


@triton.jit
def _differences(X, origin, rows, inside, columns, d, row_stride):
    """Some columns of some rows less the origin, 0 outside of the table."""
    there = inside[:, None] & (columns < d)[None, :]
    x = tl.load(X + rows.to(tl.int64)[:, None] * row_stride + columns[None, :], mask=there, other=0.0)
    centre = tl.load(origin + columns, mask=columns < d, other=0.0)
    return tl.where(there, x - centre[None, :], 0.0)


@triton.jit
def _nearest_two(
    X, origin, doubled, lengths, labels, best, gap, n, d, k, row_stride, error,
    ROWS: tl.constexpr, WIDTH: tl.constexpr, CENTRES: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = rows < n
    squares = tl.zeros((ROWS,), dtype=X.dtype.element_ty)
    for first in range(0, d, WIDTH):
        x = _differences(X, origin, rows, inside, first + tl.arange(0, WIDTH), d, row_stride)
        squares += tl.sum(x * x, axis=1)
    # a row at distance 0 of several centres has the first of them: scores do not exceed this limit
    limit = squares - error
    largest = tl.full((ROWS,), float("-inf"), dtype=X.dtype.element_ty)
    second = tl.full((ROWS,), float("-inf"), dtype=X.dtype.element_ty)
    winner = tl.zeros((ROWS,), dtype=tl.int64)
    for start in range(0, k, CENTRES):
        numbers = start + tl.arange(0, CENTRES)
        scores = tl.zeros((ROWS, CENTRES), dtype=X.dtype.element_ty)
        for first in range(0, d, WIDTH):
            columns = first + tl.arange(0, WIDTH)
            x = _differences(X, origin, rows, inside, columns, d, row_stride)
            known = (columns < d)[:, None] & (numbers < k)[None, :]
            c = tl.load(doubled + columns[:, None] * k + numbers[None, :], mask=known, other=0.0)
            scores += tl.dot(x, c, input_precision="ieee", out_dtype=X.dtype.element_ty)
        scores -= tl.load(lengths + numbers, mask=numbers < k, other=float("inf"))[None, :]
        scores = tl.where(scores > limit[:, None], limit[:, None], scores)
        top = tl.max(scores, axis=1)
        place = tl.argmax(scores, axis=1)
        rest = tl.where(tl.arange(0, CENTRES)[None, :] == place[:, None], float("-inf"), scores)
        following = tl.max(rest, axis=1)
        # the second of both parts: the smaller of the two largest, or the second of either
        second = tl.maximum(tl.maximum(second, following), tl.minimum(largest, top))
        winner = tl.where(top > largest, start + place.to(tl.int64), winner)
        largest = tl.maximum(largest, top)
    tl.store(labels + rows, winner, mask=inside)
    tl.store(best + rows, tl.where(largest >= limit, 0.0, largest - squares), mask=inside)
    tl.store(gap + rows, largest - second, mask=inside)


@triton.jit
def _class_sums(
    X, labels, sums, counts, n, d, k, row_stride,
    CHUNK: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr, CENTRES: tl.constexpr,
):  # fmt: skip
    chunk = tl.program_id(0)
    numbers = tl.program_id(1) * CENTRES + tl.arange(0, CENTRES)
    columns = tl.program_id(2) * WIDTH + tl.arange(0, WIDTH)
    total = tl.zeros((CENTRES, WIDTH), dtype=X.dtype.element_ty)
    count = tl.zeros((CENTRES,), dtype=tl.int32)
    for first in range(0, CHUNK, ROWS):
        rows = chunk * CHUNK + first + tl.arange(0, ROWS)
        label = tl.load(labels + rows, mask=rows < n, other=-1)
        hits = numbers[:, None] == label[None, :]
        there = (rows < n)[:, None] & (columns < d)[None, :]
        x = tl.load(X + rows.to(tl.int64)[:, None] * row_stride + columns[None, :], mask=there, other=0.0)
        total += tl.dot(hits.to(x.dtype), x, input_precision="ieee", out_dtype=X.dtype.element_ty)
        count += tl.sum(hits.to(tl.int32), axis=1)
    place = (chunk.to(tl.int64) * k + numbers)[:, None] * d + columns[None, :]
    tl.store(sums + place, total, mask=(numbers < k)[:, None] & (columns < d)[None, :])
    if tl.program_id(2) == 0:
        tl.store(counts + chunk.to(tl.int64) * k + numbers, count, mask=numbers < k)


def _tile(size: int, most: int) -> int:
    """The power of two from 16 to `most` that holds `size` numbers with the fewest tiles."""
    return min(most, max(16, triton.next_power_of_2(size)))


def nearest_two(H: Any, origin: Any, doubled: Any, lengths: Any, error: float) -> tuple[Any, Any, Any]:
    """Labels of the rows, (b,), int64, their scores, (b,), and the gaps to the second largest scores, (b,).

    Parameters
    ----------
    H : tensor of shape (b, L)
    origin, doubled, lengths : tensors
        As `NearestMeans.sent` has them.
    error : float
        Squared distances below this value count as 0.
    """
    H = H if H.stride(1) == 1 else H.contiguous()
    (n, d), k = H.shape, doubled.shape[1]
    labels = torch.empty(n, dtype=torch.int64, device=H.device)
    best, gap = torch.empty(n, dtype=H.dtype, device=H.device), torch.empty(n, dtype=H.dtype, device=H.device)
    _nearest_two[(triton.cdiv(n, 64),)](
        H, origin, doubled.contiguous(), lengths, labels, best, gap, n, d, k, H.stride(0), error,
        ROWS=64, WIDTH=_tile(d, 32), CENTRES=_tile(k, 128),
    )  # fmt: skip
    return labels, best, gap


def class_sums(H: Any, labels: Any, k: int) -> tuple[Any, Any]:
    """Sums of the rows of each class, (k, L), float64, and class sizes, (k,), int64."""
    H = H if H.stride(1) == 1 else H.contiguous()
    n, d = H.shape
    chunks = triton.cdiv(n, CHUNK)
    sums = torch.empty((chunks, k, d), dtype=H.dtype, device=H.device)
    counts = torch.empty((chunks, k), dtype=torch.int32, device=H.device)
    centres, width = _tile(k, 64), _tile(d, 64)
    _class_sums[(chunks, triton.cdiv(k, centres), triton.cdiv(d, width))](
        H, labels, sums, counts, n, d, k, H.stride(0), CHUNK=CHUNK, ROWS=32, WIDTH=width, CENTRES=centres,
    )  # fmt: skip
    return torch.sum(sums, dim=0, dtype=torch.float64), torch.sum(counts, dim=0, dtype=torch.int64)
