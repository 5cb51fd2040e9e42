"""What a user may pass as samples: checked the scikit-learn way, and sparse rows made dense where a map takes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from clusterkit._typing import Array
from clusterkit.core import memory
from clusterkit.core.errors import NeedsMemory
from clusterkit.core.stages import FeatureMap

__all__ = ["checked"]

MOST_BYTES = 2**30
"""Of a dense copy of sparse samples."""


def checked(estimator: Any, X: Any, featuremap: FeatureMap | None, *, reset: bool) -> Array:
    """Samples as a dense C-ordered array (n, d) of float64 or float32.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets `n_features_in_` and `feature_names_in_` if `reset`, else is compared with them.
    X : array-like or sparse matrix of shape (n, d)
        Sparse only where the feature map says so; the points of a domain are dense, so it is made dense.
    featuremap : FeatureMap or None
    reset : bool
        Whether this is a fit.

    Raises
    ------
    NeedsMemory
        If the dense copy is above the memory cap, or above `MOST_BYTES`.
    """
    takes_sparse = featuremap is not None and featuremap.sparse
    # indices of sparse rows say nothing about order, but their values are checked like any others
    accept = "csr" if takes_sparse else False
    X = validate_data(estimator, X, dtype=[np.float64, np.float32], order="C", accept_sparse=accept, reset=reset)
    if not isinstance(X, np.ndarray):
        what = f"a dense copy of the {X.shape[0]} x {X.shape[1]} sparse samples"
        instead = "Reduce the attributes first, for example by sklearn.decomposition.TruncatedSVD."
        n_bytes = X.shape[0] * X.shape[1] * X.dtype.itemsize
        memory.require(n_bytes, what, instead)
        if n_bytes > MOST_BYTES:
            # it would fit, but distances in so many attributes take hours
            raise NeedsMemory(
                f"{what} needs {n_bytes:,} bytes ({memory.human(n_bytes)}), and more than {memory.human(MOST_BYTES)} "
                f"are not worked on: {instead}"
            )
        X = X.toarray()
    return X
