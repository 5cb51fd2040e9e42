"""Comparisons that several laws use: equal bits, equal up to rounding, equal outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from clusterkit._typing import AnyArray, Array
from clusterkit.core import sums, transform
from clusterkit.core.outcomes import Domain, Embedding, Outcome, Tree
from clusterkit.core.spaces import Space

__all__ = ["close", "numbers", "same_bits", "small_blocks", "small_groups"]


def same_bits(one: AnyArray, other: AnyArray, what: str) -> None:
    """Equal shape, type and values, nan included."""
    assert one.dtype == other.dtype, f"{what}: {one.dtype} against {other.dtype}"
    np.testing.assert_array_equal(one, other, err_msg=what, strict=True)


def close(one: AnyArray, other: AnyArray, what: str, *, digits: int = 0, scale: float = 0.0) -> None:
    """Equal up to rounding, relative to the larger array or to `scale`; ``digits`` decimal digits may be lost."""
    assert one.shape == other.shape, f"{what}: shape {one.shape} against {other.shape}"
    if not one.size:
        return
    narrow = any(a.dtype == np.float32 for a in (one, other))
    eps = float(np.finfo(np.float32 if narrow else np.float64).eps)
    largest = max(float(np.abs(one).max()), float(np.abs(other).max()), scale)
    np.testing.assert_allclose(
        one.astype(np.float64), other.astype(np.float64), rtol=0, atol=1e3 * 10**digits * eps * largest, err_msg=what
    )


def numbers(outcome: Outcome, space: Space) -> Array:
    """All numbers of an outcome about the samples, as one array."""
    if isinstance(outcome, Embedding):
        return outcome.rows
    if isinstance(outcome, Tree):
        return np.concatenate([outcome.heights, outcome.core_distances, outcome.merges.ravel()])
    assert isinstance(outcome, Domain), f"an outcome is an Embedding, a Domain or a Tree: {type(outcome).__name__}"
    return np.append(outcome.value(space.points), outcome.level)


@contextmanager
def small_blocks() -> Iterator[None]:
    """Blocks of 64 rows, so that a few hundred samples already take several."""
    usual = transform.BLOCK_BYTES
    transform.BLOCK_BYTES = 0
    try:
        yield
    finally:
        transform.BLOCK_BYTES = usual


@contextmanager
def small_groups(rows: int) -> Iterator[None]:
    """Groups of so many rows, so that a few hundred samples already take several."""
    usual = sums.GROUP
    sums.GROUP = rows
    try:
        yield
    finally:
        sums.GROUP = usual
