"""The functions of the library that an array belongs to, by the array API standard."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["array_namespace"]


def array_namespace(H: object) -> ModuleType:
    """numpy for its arrays and for sparse rows, at the cost of a comparison of types; else what the array names.

    The functions of a block (the part of a sum, the scores of rows) are written against this namespace, so that they
    run where the block lies. Nothing is imported for arrays of numpy.

    Examples
    --------
    >>> array_namespace(np.zeros((2, 2))) is np
    True
    """
    if isinstance(H, np.ndarray | SparseRows):
        return np
    try:
        from array_api_compat import array_namespace as of
    except ImportError:
        # typed as an array of numpy, of which 1.26 does not have it
        named: ModuleType = H.__array_namespace__()  # type: ignore[attr-defined]
        return named
    namespace: ModuleType = of(H)
    return namespace
