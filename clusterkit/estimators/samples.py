"""Validation of samples in the way of scikit-learn, with sparse samples as the feature map takes them.

Samples with text, dates or gaps get one error, which names the columns and the functions that take such tables
(`only_numbers`). Samples that scikit-learn would convert without a word are refused (`refuse_unsuited`): those not yet
computed, with a mask, or on another device. Wide data get the coordinates in which the rows differ (`RowSpan`), fewer
than the rows, with the same distances.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self, cast, final

import attrs
import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from clusterkit._typing import Array, Labels
from clusterkit.contracts import FeatureMap, Predict
from clusterkit.contracts.arguments import SamplesLike
from clusterkit.contracts.driver import FitResult
from clusterkit.contracts.providers import VARIABLE, where
from clusterkit.contracts.registry import registry
from clusterkit.errors import IncompatibleStages, InvalidData
from clusterkit.fitting.device_paths import with_device_path
from clusterkit.numerics.shapes import array
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import devices, memory
from clusterkit.samples.device_engine import ArrayRows
from clusterkit.samples.rows import Rows
from clusterkit.samples.transform import ChosenColumns, Transform


@contextmanager
def only_numbers(X: object) -> Iterator[object]:
    """Context of scikit-learn's validation: refuse samples with columns that are not finite numbers, naming these.

    It gives the samples as scikit-learn takes them: of a data frame all names are texts, and integers of 128 bits,
    which NumPy has not, are floats.

    Dates in data frames are refused at once, because some libraries turn them into counts of microseconds or
    nanoseconds without a word, which then outweigh every other column. For everything else nothing is computed unless
    scikit-learn has refused the samples.

    Raises
    ------
    InvalidData
        If X is a data frame with dates, times or durations, or a table that is no data frame; if the block raises a
        TypeError or ValueError, and a column of X has texts, NaN or infinite values, or X is no table at all.
    """
    from clusterkit.tables.reading.frames import plain_frame, why_no_numbers

    plain = X if isinstance(X, np.ndarray | list | tuple) else plain_frame(X)
    try:
        yield plain
    except InvalidData:
        raise
    except (TypeError, ValueError):
        if (reason := why_no_numbers(X)) is None:
            raise
        raise InvalidData(reason) from None


LAZY_FRAMES = ("polars", "pyspark", "dask", "ibis", "duckdb", "narwhals", "vaex", "modin")
"""Packages whose frames or relations may be a table that is not in memory yet."""


ON_HOST = ("cpu", "CPU_DEVICE")
"""Devices of other libraries whose arrays scikit-learn can convert without the array API dispatch."""


def refuse_unsuited(X: object) -> None:
    """Refuse samples that scikit-learn's validation would convert without a word.

    Raises
    ------
    InvalidData
        If X is a Dask collection or a lazy frame (it would be computed and pulled into memory), an array with masked
        values (the mask would be lost), an array of dates or durations (they would become numbers of an arbitrary
        unit), or, with scikit-learn's array API dispatch switched on, an array of another library (it would stay on
        its device, where the compiled loops cannot work).
    """
    if isinstance(X, Rows) and not isinstance(X, np.ndarray):
        raise InvalidData(
            f"rows that are read block by block ({type(X).__name__}) are for `fit` and `predict` of recipes that make "
            "one fit. Other methods and estimators take arrays: rows.read(slice(0, rows.n)) if all "
            "fit into memory, or a part of the rows, and `predict` for the others."
        )
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.vstack(X)  # an array made of a list of rows has no mask
    if isinstance(X, np.ma.MaskedArray):
        if np.ma.getmaskarray(X).any():
            count = int(np.ma.getmaskarray(X).sum())
            raise InvalidData(
                f"X has {count} masked values, and a mask says that they are missing. Fill them (X.filled(value)) or "
                "leave out their rows or columns first."
            )
        return
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "mM":
            raise InvalidData(
                f"X has the type {X.dtype}, whose values would become counts of days or of fractions of a second. If "
                "that is meant, pass X.astype(float), after a choice of the unit."
            )
        return
    kind = type(X)
    package = kind.__module__.partition(".")[0]
    if hasattr(X, "__dask_graph__"):
        if registry.find("engine", package) is None:
            plugin = where("engine", package, VARIABLE) or "A plugin may provide one."
            hint = f"To fit it where it lies needs an engine. {plugin}"
        else:
            hint = "`fit` and `predict` take it as it is, for recipes that make one fit and for MinMaxModularSVC."
        raise InvalidData(
            f"X is a Dask {kind.__name__}, which would be computed{_size(X)} and kept in memory. If that is meant, "
            f"pass X.compute(); otherwise a part of the rows, and label the others by predict. {hint}"
        )
    if package == "pyarrow" and hasattr(X, "to_table"):
        raise InvalidData(
            f"X is a {kind.__name__} of pyarrow, whose files would be read and kept in memory. If that is meant, pass "
            "X.to_table(); otherwise the path: clusterkit.open('part-*.parquet') is read block by block."
        )
    if package in LAZY_FRAMES and (hasattr(X, "collect") or hasattr(X, "execute")) and not hasattr(X, "__array__"):
        raise InvalidData(
            f"X is a {kind.__name__} of {package}, a query that would be run and kept in memory. If that is meant, "
            "pass its result (X.collect()); otherwise a part of the rows, and label the others by predict."
        )
    if package in devices.LIBRARIES and hasattr(X, "device") and not _dispatches():
        place = devices.Device.of(X)
        if place.name not in ON_HOST:
            raise InvalidData(
                f"X lies on the device {place}, and scikit-learn's array API dispatch is switched off. To fit it where "
                "it lies: SCIPY_ARRAY_API=1 in the environment, and sklearn.set_config(array_api_dispatch=True). Or "
                "pass a copy in memory."
            )
    if (hasattr(X, "__array_namespace__") or package in devices.LIBRARIES) and _dispatches():
        raise InvalidData(
            f"X is a {kind.__name__} of {package}, and scikit-learn's array API dispatch is switched on; this "
            "computes with numpy, and single fits of `recipe` or `Pipeline` take arrays of "
            f"{', '.join(devices.LIBRARIES)} as they are. Pass numpy.asarray(X), from a device after moving it to the "
            "host, or switch the dispatch off: sklearn.set_config(array_api_dispatch=False)."
        )


def refuse_device(what: str) -> None:
    """Refuse a fit of many parts while a device is chosen for this process.

    Raises
    ------
    IncompatibleStages
        If a device is chosen; names the stages that have a path on a device.
    """
    if (device := devices.current()) is not None:
        raise IncompatibleStages(
            f"{what} has no path on the device {device}; fits of `Pipeline` have one with these stages: "
            f" {with_device_path()}. Or compute on the host: clusterkit.config(device='cpu')"
        )


def _size(X: object) -> str:
    """The size of a Dask array in words, where it is known."""
    n_bytes = None
    with contextlib.suppress(Exception):  # frames of Dask have the attribute, which raises an error
        n_bytes = X.nbytes  # type: ignore[attr-defined] # an object without it has no size here
    return f" ({memory.human(n_bytes)})" if isinstance(n_bytes, int) else ""


def _dispatches() -> bool:
    return devices.dispatches()


MOST_BYTES = 2**30
"""Largest dense copy (1 GiB) of sparse samples that is made where the feature map takes both kinds: above it distances
are faster from the stored entries, and a copy may not fit into memory."""


def checked(
    estimator: BaseEstimator,
    X: SamplesLike,
    featuremap: FeatureMap | None,
    *,
    reset: bool,
    sparse: bool | None = None,
    dense_only: bool = False,
) -> Array:
    """Samples as a dense C-ordered array (n, d) of float64 or float32, or as sparse rows.

    The declared type is the array; `SparseRows` replace it wherever a feature map takes them.

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
        Raised in a fit, if a device is chosen for this process and the estimator does not say that it works there
        (``_on_devices``).
    NeedsMemory
        If a dense copy is needed and above the memory cap.
    """
    if reset and not getattr(estimator, "_on_devices", False):
        refuse_device(type(estimator).__name__)
    takes_sparse = featuremap is not None and featuremap.sparse and not dense_only
    # scikit-learn checks the stored values; the order of the indices in a row does not matter
    accept = "csr"
    shape: tuple[int, ...] = cast("Any", X).shape if issparse(X) else ()
    if not takes_sparse and len(shape) == 2 and 8 * shape[0] * shape[1] > min(MOST_BYTES, memory.cap()):
        subject = "the samples" if featuremap is None else f"featuremap '{featuremap.name}'"
        raise InvalidData(
            f"{subject} must be dense here, got {shape[0]} x {shape[1]} sparse samples. Pass X.toarray() if that "
            "fits into memory, or start with a feature map that takes them, such as 'identity', 'log_tfidf' or 'pca'."
        )
    refuse_unsuited(X)
    # the check adds all values up, which for the largest numbers is inf - inf
    with _pairs(estimator, X, featuremap, reset), only_numbers(X) as plain, np.errstate(invalid="ignore"):
        rows: Any = validate_data(
            estimator, plain, dtype=[np.float64, np.float32], order="C", accept_sparse=accept, reset=reset
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


@contextmanager
def _pairs(estimator: BaseEstimator, X: object, featuremap: FeatureMap | None, reset: bool) -> Iterator[None]:
    """Context for the check of an X of values of pairs: it refuses a sparse X and explains what new rows are."""
    kind = "" if featuremap is None else featuremap.takes_pairs
    what = "distances" if kind == "distances" else "kernel values"
    if kind and issparse(X):
        raise InvalidData(
            f"the {what} between samples must be a dense matrix: what a sparse one leaves out would be 0. Pass "
            "X.toarray() if that is meant"
        )
    try:
        yield
    except ValueError as error:
        if not kind or reset or "features as input" not in str(error):
            raise
        n = estimator.n_features_in_
        raise InvalidData(
            f"{error}: new rows are the {what} between them and the {n} rows of the fit, an m x {n} matrix"
        ) from None


def index_of(X: object) -> object:
    """The index of a data frame whose rows have labels; None for anything else."""
    return X.index if hasattr(X, "iloc") and hasattr(X, "index") else None


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


@final
@attrs.frozen(eq=False)
class RowSpan:
    """Row map: an orthogonal rotation onto the span of the rows of the fit, or its principal axes, about their mean.

    In the whole span distances between these rows do not change, and those from a new row to all of them change by one
    common amount of their squares, so that methods that look at distances find the same clusters. O(n² d).

    Parameters
    ----------
    axes : ndarray of shape (d, r)
        Orthonormal.
    mean : ndarray of shape (d,)
    """

    axes: Array = attrs.field(validator=array("d r"))
    mean: Array = attrs.field(validator=array("d"))

    @classmethod
    def of(cls, X: Array, most: int | None = None, *, centred: bool = True) -> Self:
        """The span of the rows of X, (n, d), or `most` axes along which they differ most; about 0 if not centred."""
        mean = X.mean(axis=0, dtype=np.float64) * centred
        _, values, axes = np.linalg.svd(X - mean, full_matrices=False)
        r = max(1, int((values[:most] > len(X) * np.finfo(np.float64).eps * values[0]).sum()))
        # a singular vector may have either sign; its largest entry is positive here
        signs = np.sign(axes[np.arange(r), np.abs(axes[:r]).argmax(axis=1)])
        return cls(np.ascontiguousarray((axes[:r] * signs[:, None]).T), mean)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(self.axes.shape[1])

    def __call__(self, Y: Array) -> Array:
        """Coordinates, (m, d) to (m, r), in the type of Y."""
        coordinates: Array = ((Y - self.mean) @ self.axes).astype(Y.dtype, copy=False)
        return coordinates

    def inverse(self, H: Array) -> Array:
        """Rows in the span with these coordinates."""
        return H @ self.axes.T + self.mean


@final
@attrs.frozen(eq=False)
class SpanPredictor:
    """Labels of new rows by a fit in the coordinates of a span, or to some of the columns.

    Parameters
    ----------
    span : RowSpan, ChosenColumns or Transform
    predict : callable
        Coordinates to labels.
    """

    span: RowSpan | ChosenColumns | Transform
    predict: Predict

    def __call__(self, Y: Array) -> Labels:
        """Labels of the rows of Y, (m, d)."""
        return self.predict(self.span(Y))


def of_rows(fit: FitResult, span: RowSpan | ChosenColumns | Transform) -> FitResult:
    """A fit to the coordinates of a span, or to some columns, as one of the rows: predictions take whole rows."""
    predict = None if fit.predict is None else SpanPredictor(span, fit.predict)
    space: Any = fit.space
    if space is not None:
        steps = span.steps if isinstance(span, Transform) else (span,)
        space = attrs.evolve(space, before=(*steps, *space.before))
    return attrs.evolve(fit, predict=predict, space=space)
