"""Validation of samples in the way of scikit-learn, with sparse samples as the feature map takes them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from clusterkit._typing import Array, Samples, SparseMatrix
from clusterkit.core import memory
from clusterkit.core.device_engine import ArrayRows
from clusterkit.core.errors import InvalidData
from clusterkit.core.rows import Rows
from clusterkit.core.stages import FeatureMap
from clusterkit.estimators.not_numbers import only_numbers
from clusterkit.estimators.unsuited import refuse_device, refuse_unsuited
from clusterkit.numerics.sparse_rows import SparseRows

__all__ = ["checked", "columns_of_the_fit", "new_rows"]

MOST_BYTES = 2**30
"""Largest dense copy (1 GiB) of sparse samples that is made where the feature map takes both kinds: above it distances
are faster from the stored entries, and a copy may not fit into memory."""


def checked(
    estimator: BaseEstimator,
    X: Samples,
    featuremap: FeatureMap | None,
    *,
    reset: bool,
    sparse: bool | None = None,
    dense_only: bool = False,
) -> Array:
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
    dense_only : bool
        Whether a later stage takes no sparse rows. Sparse samples then become dense, up to `MOST_BYTES`.

    Raises
    ------
    InvalidData
        If columns have texts, dates or gaps, which are named; if X is sparse, a stage takes no sparse rows, and a dense
        copy would have more than 1 GiB.
    IncompatibleStages
        In a fit, if a device is chosen for this process and the estimator does not say that it works there
        (``on_devices``).
    NeedsMemory
        If a dense copy is needed and above the memory cap.
    """
    if reset and not getattr(estimator, "on_devices", False):
        refuse_device(type(estimator).__name__)
    takes_sparse = featuremap is not None and featuremap.sparse and not dense_only
    # scikit-learn checks the stored values; the order of the indices in a row does not matter
    accept = "csr"
    shape = cast("SparseMatrix", X).shape if issparse(X) else (0, 0)
    if not takes_sparse and 8 * shape[0] * shape[1] > min(MOST_BYTES, memory.cap()):
        subject = "the samples" if featuremap is None else f"featuremap '{featuremap.name}'"
        raise InvalidData(
            f"{subject} must be dense here, got {shape[0]} x {shape[1]} sparse samples. Pass X.toarray() if that "
            "fits into memory, or start with a feature map that takes them, such as 'identity', 'log_tfidf' or 'pca'."
        )
    refuse_unsuited(X)
    # the check adds all values up, which for the largest numbers is inf - inf
    with only_numbers(X), np.errstate(invalid="ignore"):
        rows: Any = validate_data(
            estimator, X, dtype=[np.float64, np.float32], order="C", accept_sparse=accept, reset=reset
        )
    dense = isinstance(rows, np.ndarray)
    n_bytes = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize
    if not takes_sparse:
        return cast("Array", rows if dense else rows.toarray())
    if sparse is None:
        assert featuremap is not None or dense
        large = n_bytes > min(MOST_BYTES, memory.cap())
        sparse = not dense and (large or (featuremap is not None and featuremap.keeps_sparse))
    if sparse:
        return cast("Array", SparseRows.of(rows))
    if dense:
        return cast("Array", rows)
    memory.require(
        n_bytes, f"a dense copy of the {rows.shape[0]} x {rows.shape[1]} sparse samples", "Pass them in several parts."
    )
    return cast("Array", rows.toarray())


def columns_of_the_fit(estimator: BaseEstimator, rows: Rows) -> Rows:
    """Rows of an engine, if they have the columns that the estimator was fitted to.

    Raises
    ------
    InvalidData
        If their number differs, or their names and order where both have names.
    """
    names = getattr(estimator, "feature_names_in_", None)
    if rows.d != estimator.n_features_in_:
        raise InvalidData(f"X has {rows.d} columns, and the model was fitted to {estimator.n_features_in_}")
    if names is not None and rows.names is not None and tuple(names) != tuple(rows.names):
        raise InvalidData(
            f"the columns {', '.join(rows.names)[:200]} are not those of the fit in their order: "
            f"{', '.join(names)[:200]}; choose them by clusterkit.open(path, columns=[...])"
        )
    return rows


def new_rows(estimator: BaseEstimator, rows: Rows) -> Rows:
    """Rows of an engine for a fitted model, with the columns of the fit; of an array at least one row.

    Raises
    ------
    InvalidData
    """
    rows = columns_of_the_fit(estimator, rows)
    if isinstance(rows, ArrayRows) and rows.n == 0:  # a lazy frame would be read to count its rows
        raise InvalidData(
            f"Found array with 0 sample(s) (shape=(0, {rows.d})) while a minimum of 1 is required by "
            f"{type(estimator).__name__}"
        )
    return rows
