"""Validation of samples in the way of scikit-learn, with sparse samples as the feature map takes them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from clusterkit._typing import Array
from clusterkit.core import memory
from clusterkit.core.errors import InvalidData
from clusterkit.core.stages import FeatureMap
from clusterkit.estimators.unsuited import refuse_unsuited
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["checked"]

MOST_BYTES = 2**30
"""Largest dense copy (1 GiB) of sparse samples that is made where the feature map takes both kinds: above it distances
are faster from the stored entries, and a copy may not fit into memory."""


def checked(estimator: Any, X: Any, featuremap: FeatureMap | None, *, reset: bool, sparse: bool | None = None) -> Array:
    """Samples as a dense C-ordered array (n, d) of float64 or float32, or as sparse rows.

    The declared type is the array, for which `SparseRows` stand in wherever a feature map takes them.

    Parameters
    ----------
    estimator : BaseEstimator
        If `reset`, its `n_features_in_` and `feature_names_in_` are set; otherwise X is compared with them.
    X : array-like or sparse matrix of shape (n, d)
        Sparse only where the feature map takes sparse samples.
    featuremap : FeatureMap or None
        If its `keeps_sparse` is set, sparse samples stay sparse; otherwise they become dense up to `MOST_BYTES`.
    reset : bool
        Whether this is a fit.
    sparse : bool or None
        Whether the samples have to be sparse rows, to match the fitted ones; None decides by the feature map and by
        size.

    Raises
    ------
    InvalidData
        If X is sparse and the feature map takes none.
    NeedsMemory
        If a dense copy is needed and above the memory cap.
    """
    takes_sparse = featuremap is not None and featuremap.sparse
    # scikit-learn checks the stored values; the order of the indices in a row does not matter
    accept = "csr" if takes_sparse else False
    if not takes_sparse and issparse(X):
        subject = "the samples" if featuremap is None else f"featuremap '{featuremap.name}'"
        raise InvalidData(
            f"{subject} must be dense here, got {X.shape[0]} x {X.shape[1]} sparse samples. Pass X.toarray() if that "
            "fits into memory, or start with a feature map that takes them, such as 'identity', 'log_tfidf' or 'pca'."
        )
    refuse_unsuited(X)
    X = validate_data(estimator, X, dtype=[np.float64, np.float32], order="C", accept_sparse=accept, reset=reset)
    dense = isinstance(X, np.ndarray)
    n_bytes = X.shape[0] * X.shape[1] * X.dtype.itemsize
    if sparse is None:
        assert featuremap is not None or dense
        large = n_bytes > min(MOST_BYTES, memory.cap())
        sparse = not dense and (large or (featuremap is not None and featuremap.keeps_sparse))
    if sparse:
        return cast("Array", SparseRows.of(X))
    if dense:
        return cast("Array", X)
    memory.require(
        n_bytes, f"a dense copy of the {X.shape[0]} x {X.shape[1]} sparse samples", "Pass them in several parts."
    )
    return cast("Array", X.toarray())
