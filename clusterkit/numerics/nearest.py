"""When compiled loops find the nearest centres faster than products of matrices do."""

from __future__ import annotations

__all__ = ["compiled_pays"]

LEAST_WORK = 4_000_000
"""Coordinates compared in a pass, n k L, from which on compiled loops are used: below it a pass takes milliseconds, so
that loading the compiled code would cost more, and results keep the bits that products of matrices gave them."""
WIDEST = 128
"""Attributes up to which they are used: products of wider matrices keep the arithmetic units busier than loops do."""


def compiled_pays(n: int, width: int, k: int) -> bool:
    """Whether `clusterkit.numerics.nearest_jit` should compare n rows of `width` attributes with k centres.

    A function of these sizes alone, so that the same data meet the same arithmetic wherever they lie.

    Examples
    --------
    >>> compiled_pays(200_000, 20, 8), compiled_pays(150, 4, 3), compiled_pays(60_000, 784, 10)
    (True, False, False)
    """
    return width <= WIDEST and n * width * k >= LEAST_WORK
