"""The corpus of awkward data: every set is a name, a function of a random generator, and what is expected of a fit.

`PATTERNS` are ordinary numbers with ties, duplicates, constants, degenerate shapes and unusual geometry; `SHIFTED` and
`EXTREMES` are scales, offsets, denormals and values one rounding apart, up to the ends of the range of numbers; `UNFIT`
is what no fit may accept. `CONTAINERS` are types and memory layouts that carry the same values, as a user may pass for
X.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts.arguments import SamplesLike

__all__ = [
    "CONTAINERS",
    "EXTREMES",
    "PATTERNS",
    "SHIFTED",
    "UNFIT",
    "WITHOUT_REFERENCE",
    "AwkwardSet",
    "Pattern",
    "Unfit",
    "awkward_sets",
    "blobs",
    "needs_pandas",
    "plain",
    "stream",
]

Pattern: TypeAlias = Callable[[Rng], Array]
"""Function from a random generator to values, shape (n, d)."""


def blobs(rng: Rng, n: int = 36, d: int = 2, k: int = 3, spread: float = 0.3) -> Array:
    """Groups of nearly equal sizes around the points (8j, 0, ...) and (0, 8j, ...) of a cross, rows in random order."""
    centres = np.zeros((k, d))
    for j in range(k):
        centres[j, j % d] = 8.0 * (1 + j // d) * (-1) ** j
    return centres[rng.permutation(n) % k] + spread * rng.standard_normal((n, d))


def _grid(rng: Rng) -> Array:
    rows = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2)
    return rows[rng.permutation(36)]


def _mostly_zeros(rng: Rng, n: int = 30, d: int = 20, share: float = 0.1) -> Array:
    X = rng.random((n, d)) * (rng.random((n, d)) < share)
    X[np.arange(n), rng.integers(d, size=n)] += 0.5
    return X


def _circle(rng: Rng) -> Array:
    angles = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)
    return np.column_stack([np.cos(angles), np.sin(angles)])[rng.permutation(32)]


def _rings(rng: Rng) -> Array:
    angles = rng.uniform(0.0, 2.0 * np.pi, 40)
    radius = np.repeat([1.0, 4.0], 20) + 0.05 * rng.standard_normal(40)
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles)])


def _moons(rng: Rng) -> Array:
    t = np.linspace(0.0, np.pi, 20)
    upper, lower = np.column_stack([np.cos(t), np.sin(t)]), np.column_stack([1.0 - np.cos(t), 0.5 - np.sin(t)])
    return np.vstack([upper, lower]) + 0.03 * rng.standard_normal((40, 2))


def _hubs(rng: Rng) -> Array:
    spokes = np.vstack([np.eye(10), -np.eye(10)])
    return np.vstack([np.zeros((4, 10)), spokes])[rng.permutation(24)]


def _repeated(rng: Rng, distinct: int, n: int) -> Array:
    rows = rng.standard_normal((distinct, 2))
    numbers = np.concatenate([np.arange(distinct), rng.integers(distinct, size=n - distinct)])
    return rows[rng.permutation(numbers)]


def _with_column(rng: Rng, column: Array | float) -> Array:
    X = blobs(rng)
    return np.column_stack([X, np.broadcast_to(column, len(X))])


def _outlier(rng: Rng, distance: float) -> Array:
    X = blobs(rng)
    X[rng.integers(len(X))] = distance
    return X


def _sizes(rng: Rng, *sizes: int) -> Array:
    X = np.zeros((sum(sizes), 2))
    X[:, 0] = np.repeat(10.0 * np.arange(len(sizes)), sizes)
    return (X + 0.3 * rng.standard_normal(X.shape))[rng.permutation(len(X))]


PATTERNS: Mapping[str, Pattern] = {
    "blobs": blobs,
    "blobs in one column": lambda rng: blobs(rng, d=1, k=2),
    "blobs in five columns": lambda rng: blobs(rng, d=5, k=4),
    "two blobs": lambda rng: blobs(rng, n=30, k=2),
    "six small blobs": lambda rng: blobs(rng, n=42, k=6, spread=0.1),
    "overlapping blobs": lambda rng: blobs(rng, spread=4.0),
    "one blob": lambda rng: rng.standard_normal((30, 2)),
    "uniform": lambda rng: rng.uniform(size=(40, 3)),
    "two rings": _rings,
    "two moons": _moons,
    "points on a circle": _circle,
    "points on a line": lambda rng: np.linspace(0.0, 1.0, 25)[:, None] * np.array([1.0, 2.0]),
    "equidistant numbers": lambda rng: np.arange(24.0)[:, None],
    "simplex": lambda rng: np.eye(12),
    "cross polytope with a hub": _hubs,
    "integer grid": _grid,
    "rounded blobs": lambda rng: np.round(blobs(rng)),
    "two values": lambda rng: rng.integers(2, size=(30, 3)).astype(float),
    "one hot rows": lambda rng: np.eye(4)[rng.integers(4, size=28)],
    "alternating signs": lambda rng: np.array([[1.0, -1.0], [-1.0, 1.0]] * 12),
    "exponential spacing": lambda rng: np.exp2(np.arange(20.0))[:, None],
    "heavy tails": lambda rng: rng.standard_cauchy((36, 2)),
    "lognormal": lambda rng: np.exp(2.0 * rng.standard_normal((36, 3))),
    "counts": lambda rng: rng.poisson(2.0, size=(30, 6)).astype(float),
    "mostly zeros": _mostly_zeros,
    "rows of zeros among counts": lambda rng: np.vstack([np.zeros((3, 5)), rng.poisson(3.0, size=(24, 5))]).astype(
        float
    ),
    "probabilities": lambda rng: rng.dirichlet(np.ones(4), size=30),
    "unit length": lambda rng: (lambda X: X / np.linalg.norm(X, axis=1, keepdims=True))(rng.standard_normal((30, 3))),
    "sorted rows": lambda rng: np.sort(blobs(rng), axis=0),
    "reversed order": lambda rng: np.sort(blobs(rng), axis=0)[::-1],
    "alternating groups": lambda rng: np.tile([[0.0], [9.0]], (15, 2)) + 0.1 * rng.standard_normal((30, 2)),
    "random walk": lambda rng: np.cumsum(rng.standard_normal((40, 2)), axis=0),
    "sine": lambda rng: np.column_stack([np.arange(40.0), np.sin(np.arange(40.0))]),
    "unequal sizes": lambda rng: _sizes(rng, 2, 30),
    "a group of one": lambda rng: _sizes(rng, 1, 15, 15),
    "many groups of two": lambda rng: _sizes(rng, *[2] * 14),
    "equal pairs": lambda rng: np.repeat(rng.standard_normal((14, 2)), 2, axis=0),
    "each row ten times": lambda rng: np.repeat(rng.standard_normal((3, 2)), 10, axis=0),
    "many duplicates": lambda rng: _repeated(rng, 6, 30),
    "two distinct rows": lambda rng: _repeated(rng, 2, 20),
    "three distinct rows": lambda rng: _repeated(rng, 3, 21),
    "all rows but one equal": lambda rng: np.vstack([np.full((19, 2), 2.5), [[3.0, -1.0]]]),
    "all rows equal": lambda rng: np.full((16, 3), 4.25),
    "all zero": lambda rng: np.zeros((16, 2)),
    "all one": lambda rng: np.ones((16, 2)),
    "negative zeros": lambda rng: (
        np.where(rng.random((20, 2)) < 0.5, -0.0, 0.0) + np.repeat([[0.0], [1.0]], 10, axis=0)
    ),
    "a constant column": lambda rng: _with_column(rng, 7.3),
    "a column of zeros": lambda rng: _with_column(rng, 0.0),
    "a column twice": lambda rng: (lambda X: np.column_stack([X, X[:, 0]]))(blobs(rng)),
    "a column and its negative": lambda rng: (lambda X: np.column_stack([X, -X[:, 0]]))(blobs(rng)),
    "a binary column": lambda rng: _with_column(rng, np.arange(36.0) % 2),
    "a column of row numbers": lambda rng: _with_column(rng, np.arange(36.0)),
    "collinear columns": lambda rng: blobs(rng, d=1) * np.array([1.0, 2.0, -3.0]),
    "rank one": lambda rng: np.outer(rng.random(24), rng.random(6)),
    "orthogonal rows": lambda rng: np.linalg.qr(rng.standard_normal((20, 20)))[0],
    "one row": lambda rng: rng.standard_normal((1, 3)),
    "one number": lambda rng: rng.standard_normal((1, 1)),
    "two rows": lambda rng: rng.standard_normal((2, 2)),
    "two equal rows": lambda rng: np.full((2, 2), 1.5),
    "two numbers": lambda rng: np.array([[0.0], [1.0]]),
    "three rows": lambda rng: rng.standard_normal((3, 2)),
    "three rows, two equal": lambda rng: np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 1.0]]),
    "four rows": lambda rng: rng.standard_normal((4, 1)),
    "five rows": lambda rng: rng.standard_normal((5, 2)),
    "one column": lambda rng: rng.standard_normal((25, 1)),
    "more columns than rows": lambda rng: rng.standard_normal((6, 40)),
    "two rows, many columns": lambda rng: rng.standard_normal((2, 60)),
    "hundreds of columns": lambda rng: blobs(rng, n=24, d=300),
    "a prime number of rows": lambda rng: blobs(rng, n=37),
    "just above a block": lambda rng: blobs(rng, n=65),
    "a hundred rows": lambda rng: blobs(rng, n=100, k=4),
    "an outlier at 30": lambda rng: _outlier(rng, 30.0),
    "an outlier at 1e6": lambda rng: _outlier(rng, 1e6),
}
"""The patterns by name. None is larger than a hundred rows, so that slow methods see many of them."""


DENORMAL = 5e-324
"""The smallest positive number: its half is 0."""


def _scaled(scale: float) -> Pattern:
    return lambda rng: blobs(rng) * scale


def _offset(offset: float) -> Pattern:
    return lambda rng: blobs(rng) + offset


def _one_rounding_apart(rng: Rng) -> Array:
    """Numbers that differ in the last bits."""
    return 1.0 + np.spacing(1.0) * rng.integers(8, size=(24, 2))


def _with_first(rng: Rng, value: float) -> Array:
    X = blobs(rng)
    X[0, 0] = value
    return X


SHIFTED: Mapping[str, Pattern] = {
    "offset 1e3": _offset(1e3),
    "offset 1e6": _offset(1e6),
    "offset 1e8 in one column": lambda rng: blobs(rng) + np.array([1e8, 0.0]),
    "offset -1e6": _offset(-1e6),
    "scale 1e-6": _scaled(1e-6),
    "scale 1e-30": _scaled(1e-30),
    "scale 1e6": _scaled(1e6),
    "scale 1e30": _scaled(1e30),
    "columns of scales 1e-6 and 1e6": lambda rng: blobs(rng) * np.array([1e-6, 1e6]),
}
"""Numbers far from 1 that ordinary data have; a refusal needs a reason that is in the data."""

EXTREMES: Mapping[str, Pattern] = {
    "offset 1e12": _offset(1e12),
    "offset 1e15": _offset(1e15),
    "offset 1e100": _offset(1e100),
    "scale 1e-100": _scaled(1e-100),
    "scale 1e-150": _scaled(1e-150),
    "scale 1e-200": _scaled(1e-200),
    "scale 1e-300": _scaled(1e-300),
    "scale 1e100": _scaled(1e100),
    "scale 1e153": _scaled(1e153),
    "scale 1e200": _scaled(1e200),
    "scale 1e300": _scaled(1e300),
    "largest numbers": lambda rng: np.where(rng.random((20, 2)) < 0.5, 1.0, -1.0) * np.finfo(float).max,
    "smallest normal numbers": lambda rng: rng.integers(1, 5, size=(20, 2)) * np.finfo(float).tiny,
    "denormal numbers": lambda rng: rng.integers(0, 9, size=(20, 2)) * DENORMAL,
    "denormal differences": lambda rng: (
        np.repeat([[0.0], [1.0]], 10, axis=0) + rng.integers(3, size=(20, 2)) * DENORMAL
    ),
    "one rounding apart": _one_rounding_apart,
    "two rows 1e-15 apart": lambda rng: np.repeat([[1.0, 1.0], [1.0 + 1e-15, 1.0]], 8, axis=0),
    "columns of scales 1e-150 and 1e150": lambda rng: blobs(rng) * np.array([1e-150, 1e150]),
    "an outlier at 1e100": lambda rng: _with_first(rng, 1e100),
    "an outlier at 1e153": lambda rng: _with_first(rng, 1e153),
    "an outlier at 1e300": lambda rng: _with_first(rng, 1e300),
    "magnitudes from 1e-300 to 1e300": lambda rng: 10.0 ** rng.uniform(-300.0, 300.0, size=(24, 2)),
    "integers above 2**53": lambda rng: 2.0**53 + 2.0 * rng.integers(50, size=(24, 2)),
}
"""Numbers whose squares overflow or vanish, or whose differences are rounding: a refusal is an answer too."""


Unfit: TypeAlias = Callable[[Rng], object]
"""Function from a random generator to an object that must be refused."""


def _with_value(value: object, dtype: type = float) -> Unfit:
    def make(rng: Rng) -> object:
        X: Any = blobs(rng).astype(dtype)
        X[rng.integers(len(X)), 0] = value
        return X

    return make


def _masked(rng: Rng) -> object:
    X = blobs(rng)
    return np.ma.masked_array(X, mask=X > 8.0)


UNFIT: Mapping[str, tuple[Unfit, str]] = {
    "nan": (_with_value(np.nan), "a value is missing"),
    "infinite": (_with_value(np.inf), "a value is infinite"),
    "minus infinite": (_with_value(-np.inf), "a value is infinite"),
    "float32 nan": (_with_value(np.nan, np.float32), "a value is missing"),
    "all nan": (lambda rng: np.full((9, 2), np.nan), "all values are missing"),
    "None among objects": (_with_value(None, object), "a value is missing"),
    "text among objects": (_with_value("seven", object), "a value is no number"),
    "text": (lambda rng: np.array([["a", "b"], ["c", "d"], ["e", "f"]]), "values are no numbers"),
    "bytes": (lambda rng: np.array([[b"a"], [b"b"], [b"c"]]), "values are no numbers"),
    "complex": (lambda rng: blobs(rng) + 1j, "values are no real numbers"),
    "np.matrix": (lambda rng: np.asmatrix(blobs(rng)), "scikit-learn refuses the class"),
    "dates": (lambda rng: np.arange(20).astype("datetime64[D]")[:, None], "values are no numbers"),
    "masked values": (_masked, "the mask says that values are missing"),
    "no rows": (lambda rng: np.empty((0, 2)), "there is no sample"),
    "no columns": (lambda rng: np.empty((5, 0)), "there is no attribute"),
    "a vector": (lambda rng: rng.standard_normal(20), "it is no table"),
    "a number": (lambda rng: 3.0, "it is no table"),
    "three axes": (lambda rng: rng.standard_normal((4, 3, 2)), "it is no table"),
    "ragged lists": (lambda rng: [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]], "rows differ in length"),
    "None": (lambda rng: None, "it is no table"),
    "a word": (lambda rng: "data.csv", "it is no table"),
    "a dict": (lambda rng: {"x": [1.0, 2.0]}, "it is no table"),
    "an iterator": (lambda rng: iter([[1.0], [2.0]]), "it is no table"),
    "records": (lambda rng: np.zeros(9, dtype=[("x", "f8"), ("y", "f8")]), "it is no table"),
}
"""Objects that must be refused, with the reason, by name."""


def _strided(X: Array) -> Array:
    """Every second row and column of a larger array."""
    larger = np.full((2 * X.shape[0], 2 * X.shape[1]), 7.0)
    larger[::2, ::2] = X
    return larger[::2, ::2]


def _unaligned(X: Array) -> Array:
    """Numbers at odd addresses."""
    buffer = np.zeros(X.nbytes + 1, dtype=np.uint8)
    unaligned = buffer[1:].view(X.dtype).reshape(X.shape)
    unaligned[:] = X
    return unaligned


def _read_only(X: Array) -> Array:
    fixed = X.copy()
    fixed.setflags(write=False)
    return fixed


def _memory_map(X: Array) -> Array:
    """A read-only view of bytes, like that of a mapped file."""
    return np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape)


class _Subclass(np.ndarray):
    """An array of another class, which ufuncs keep."""


class _Described:
    """An object that only knows how to become an array."""

    def __init__(self, X: Array) -> None:
        self._X = X

    def __array__(self, dtype: type | None = None, copy: bool | None = None) -> Array:
        return np.array(self._X, dtype=dtype)

    def __len__(self) -> int:
        return len(self._X)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._X.shape


def _frame(X: Array, **changes: object) -> SamplesLike:
    import pandas

    names = [f"x{j}" for j in range(X.shape[1])]
    return cast("SamplesLike", pandas.DataFrame(X, **{"columns": names, **changes}))


def _mixed_frame(X: Array) -> SamplesLike:
    frame = cast("object", _frame(X))
    return cast("SamplesLike", frame.astype({"x0": "float32"}))  # type: ignore[attr-defined]


def _nullable_frame(X: Array) -> SamplesLike:
    frame = cast("object", _frame(X))
    return cast("SamplesLike", frame.astype("Float64"))  # type: ignore[attr-defined]


def _csr(X: Array) -> SamplesLike:
    from scipy.sparse import csr_array

    return cast("SamplesLike", csr_array(X))


def _csc_matrix(X: Array) -> SamplesLike:
    from scipy.sparse import csc_matrix

    return cast("SamplesLike", csc_matrix(X))


def _coo(X: Array) -> SamplesLike:
    from scipy.sparse import coo_array

    return cast("SamplesLike", coo_array(X))


def _stored_zeros(X: Array) -> SamplesLike:
    """Sparse rows in which zeros are stored and no index is in order."""
    from scipy.sparse import csr_array

    n, d = X.shape
    columns = np.tile(np.arange(d)[::-1], n)
    return cast("SamplesLike", csr_array((X[:, ::-1].ravel(), columns, np.arange(n + 1) * d), shape=(n, d)))


CONTAINERS: Mapping[str, Callable[[Array], SamplesLike]] = {
    "array": lambda X: X,
    "Fortran order": np.asfortranarray,
    "strided": _strided,
    "negative strides": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "transposed": lambda X: np.ascontiguousarray(X.T).T,
    "read-only": _read_only,
    "mapped bytes": _memory_map,
    "unaligned": _unaligned,
    "float16": lambda X: X.astype(np.float16),
    "float32": lambda X: X.astype(np.float32),
    "float32 in Fortran order": lambda X: np.asfortranarray(X.astype(np.float32)),
    "big-endian": lambda X: X.astype(">f8"),
    "big-endian float32": lambda X: X.astype(">f4"),
    "long double": lambda X: X.astype(np.longdouble),
    "int8": lambda X: np.round(X).astype(np.int8),
    "int64": lambda X: np.round(X).astype(np.int64),
    "big-endian int32": lambda X: np.round(X).astype(">i4"),
    "uint8": lambda X: np.round(np.abs(X)).astype(np.uint8),
    "uint64": lambda X: np.round(np.abs(X)).astype(np.uint64),
    "bool": lambda X: X > 1.0,
    "objects": lambda X: X.astype(object),
    "list of lists": lambda X: X.tolist(),
    "tuple of lists": lambda X: tuple(X.tolist()),
    "list of arrays": list,
    "lists of numpy numbers": lambda X: [[np.float64(value) for value in row] for row in X],
    "subclass of ndarray": lambda X: X.view(_Subclass),
    "masked without a mask": np.ma.masked_array,
    "only __array__": lambda X: cast("SamplesLike", _Described(X)),
    "frame": _frame,
    "frame with numbers as names": lambda X: _frame(X, columns=list(range(X.shape[1]))),
    "frame with an odd index": lambda X: _frame(X, index=[f"row {i % 3}" for i in range(len(X))]),
    "frame of two types": _mixed_frame,
    "frame of nullable numbers": _nullable_frame,
    "sparse rows": _csr,
    "sparse columns": _csc_matrix,
    "sparse coordinates": _coo,
    "sparse with stored zeros": _stored_zeros,
}
"""Converters of values (n, d) of float64 to an object with these values, or with rounded ones where the type has no
others."""

WITHOUT_REFERENCE = frozenset({"sparse rows", "sparse columns", "sparse coordinates", "sparse with stored zeros"})
"""Containers whose labels are not compared with those of a plain array: stored entries are summed in another order."""


def needs_pandas(container: str) -> bool:
    """Whether a container is made by pandas, which is optional."""
    return container.startswith("frame")


def plain(X: SamplesLike) -> Array:
    """The values as a C-ordered array of float64, or of float32 where X has only such numbers.

    Examples
    --------
    >>> plain([[1, 2]])
    array([[1., 2.]])
    """
    values = np.asarray(X)
    narrow = values.dtype == np.float32  # scikit-learn widens the other byte order
    return np.ascontiguousarray(values, dtype=np.float32 if narrow else np.float64)


@final
@attrs.frozen(eq=False)
class AwkwardSet:
    """One set of the corpus.

    Parameters
    ----------
    name : str
    values : callable
        Random generator to values (n, d) of float64; for unfit data to any object.
    container : str
        Name of the type or memory layout in `CONTAINERS`.
    expected : {"fit", "either", "refusal"}
        Whether a fit must succeed unless a stage has a documented reason, may be refused for its numbers, or must be
        refused.
    reason : str
        Reason why the set must be refused.
    """

    name: str
    values: Pattern | Unfit
    container: str = "array"
    expected: Literal["fit", "either", "refusal"] = "fit"
    reason: str = ""

    def drawn(self, *seed: int) -> Array:
        """The values before they are put into the container; the same for the same seed."""
        make = cast("Callable[[Rng], Array]", self.values)
        return make(stream(self.name, *seed))

    def put(self, values: Array) -> SamplesLike:
        """Values in the container of this set."""
        return CONTAINERS[self.container](values)

    @property
    def has_reference(self) -> bool:
        """Whether the labels must equal those of the same values in a plain array."""
        return self.container != "array" and self.container not in WITHOUT_REFERENCE


def stream(name: str, *seed: int) -> Rng:
    """A random generator for a use of a name; the same for the same seed."""
    return np.random.default_rng([*seed, zlib.crc32(name.encode())])


@cache
def awkward_sets() -> Mapping[str, AwkwardSet]:
    """All sets by name, in a fixed order; those of pandas only where it is installed.

    Examples
    --------
    >>> len(awkward_sets()) >= 120
    True
    >>> awkward_sets()["two equal rows"].drawn(0)
    array([[1.5, 1.5],
           [1.5, 1.5]])
    """
    sets = [AwkwardSet(name, values) for name, values in {**PATTERNS, **SHIFTED}.items()]
    sets += [AwkwardSet(name, values, expected="either") for name, values in EXTREMES.items()]
    integral = partial(blobs, n=30)
    sets += [
        AwkwardSet(f"blobs as {name}", integral, name)
        for name in CONTAINERS
        if name != "array" and (_has_pandas() or not needs_pandas(name))
    ]
    for container in ("float32", "float16"):
        for name in ("many duplicates", "a constant column", "offset 1e3", "all rows equal", "scale 1e-6"):
            values = {**PATTERNS, **SHIFTED}[name]
            sets.append(AwkwardSet(f"{name} as {container}", values, container, "either"))
    sets.append(AwkwardSet("scale 1e-30 as float32", SHIFTED["scale 1e-30"], "float32", "either"))
    sets.append(AwkwardSet("scale 1e30 as float32", SHIFTED["scale 1e30"], "float32", "either"))
    sets.append(AwkwardSet("mostly zeros as sparse rows", PATTERNS["mostly zeros"], "sparse rows"))
    sets.append(AwkwardSet("all zero as sparse rows", PATTERNS["all zero"], "sparse rows", "either"))
    sets += [AwkwardSet(name, values, expected="refusal", reason=reason) for name, (values, reason) in UNFIT.items()]
    return MappingProxyType({each.name: each for each in sets})


def _has_pandas() -> bool:
    from importlib.util import find_spec

    return find_spec("pandas") is not None
