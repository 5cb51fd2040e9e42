"""Hypothesis strategies: data sets that break methods, labels, costs, spaces and legal compositions.

Hypothesis draws a few words and numbers, from which numpy makes the arrays. That is fast, and a failing example reads
as ``Case(pattern='duplicates', n=4, d=1, k=2, dtype='float64', seed=0)``.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np
from hypothesis import strategies as st

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import FeatureMap, Task
from clusterkit.families.mixtures.columns import Columns
from clusterkit.families.shared.elm import Elm
from clusterkit.families.shared.rbf import Rbf
from clusterkit.families.shared.scaling import Identity, MinMax
from clusterkit.samples import FeatureSpace, KernelSpace, Space

PATTERNS = ("blobs", "duplicates", "constant_columns", "equal_rows", "collinear", "offset", "grid", "zeros")
"""Kinds of data: see `Case.X`."""

VIEWS: dict[str, FeatureMap] = {
    "raw": Identity(),
    "scaled": MinMax(),
    "random": Elm(n_hidden=6),
    "wide": Elm(n_hidden=30),
    "streamed": Elm(n_hidden=6, storage="streamed"),
    "kernel": Rbf(),
    "columns": Columns(),
}
"""Feature maps that give the spaces of the laws, by name."""


@final
@attrs.frozen
class Case:
    """A data set and a number of clusters, described by the few words and numbers that generate it.

    Parameters
    ----------
    pattern : str
        One of `PATTERNS`.
    n, d, k : int
        Rows, columns, clusters; n >= k.
    dtype : {"float64", "float32"}
    seed : int
    absolute : bool
        Whether negative values lose their sign, for stages that refuse negative values.
    degrees : bool
        Whether the values are made latitudes and longitudes, of two columns, for stages that take nothing else.
    pairs : {"", "distances", "kernel"}
        Whether the samples are the matrix of their distances, or of a kernel, (n, n).
    """

    pattern: str
    n: int
    d: int
    k: int
    dtype: str = "float64"
    seed: int = 0
    absolute: bool = False
    degrees: bool = False
    pairs: str = ""

    def rng(self, use: str = "") -> Rng:
        """A stream for one use; asking twice gives equal streams."""
        return np.random.default_rng([self.seed, zlib.crc32(use.encode())])

    @property
    def X(self) -> Array:
        """The samples, (n, d), or the matrix of their pairs, (n, n); a new array each time."""
        rng = self.rng("samples")
        X = 0.3 * rng.standard_normal((self.n, self.d)) + 3.0 * (rng.permutation(self.n)[:, None] % self.k)
        if self.pattern == "duplicates":
            X = X[rng.integers(max(1, self.n // 2), size=self.n)]
        elif self.pattern == "constant_columns":
            X[:, 0] = 7.3
        elif self.pattern == "equal_rows":
            X[:] = X[0]
        elif self.pattern == "collinear":
            X = X[:, :1] * np.arange(1, self.d + 1)
        elif self.pattern == "offset":
            X += 1e6 if self.dtype == "float64" else 1e3
        elif self.pattern == "grid":
            X = np.round(X)
        elif self.pattern == "zeros":
            X[:] = 0.0
        if self.absolute:
            X = np.abs(X)
        if self.degrees:
            half = np.array([90.0, 180.0])
            X = (X + half) % (2.0 * half) - half
        if self.pairs:
            D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
            X = D if self.pairs == "distances" else np.exp(-D)
        return np.ascontiguousarray(X, dtype=self.dtype)

    @property
    def labels(self) -> Labels:
        """Labels 0..k-1, (n,); some number may be missing."""
        drawn: Labels = self.rng("labels").integers(self.k, size=self.n)
        return drawn


@st.composite
def cases(
    draw: st.DrawFn,
    patterns: Sequence[str] = PATTERNS,
    *,
    max_rows: int = 24,
    max_columns: int = 3,
    max_clusters: int = 4,
    dtypes: Sequence[str] = ("float64", "float32"),
) -> Case:
    """Data sets: blobs and everything that breaks methods made for blobs, n = k included."""
    k = draw(st.integers(2, max_clusters))
    n = draw(st.one_of(st.just(k), st.integers(k, max_rows), st.integers(max_rows // 2, max_rows)))
    return Case(
        draw(st.sampled_from(patterns)),
        max(n, k),
        draw(st.integers(1, max_columns)),
        k,
        draw(st.sampled_from(dtypes)),
        draw(st.integers(0, 2**16)),
    )


@st.composite
def scores(draw: st.DrawFn, n: int, q: int) -> Array:
    """Rows of scores, (n, q): plain, with many ties, huge, or all equal; float32 or float64."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    rows = rng.standard_normal((n, q))
    rows = {"plain": rows, "ties": np.round(rows), "huge": 1e8 * rows, "equal": np.zeros_like(rows)}[
        draw(st.sampled_from(["plain", "ties", "huge", "equal"]))
    ]
    return rows.astype(draw(st.sampled_from(["float64", "float32"])))


def views(types: Sequence[type[Space]]) -> list[str]:
    """Names of `VIEWS` whose spaces are of one of the types."""
    return [name for name, stage in VIEWS.items() if issubclass(stage.gives, tuple(types))]


def spaces(
    types: Sequence[type[Space]] = (FeatureSpace, KernelSpace), **parameters: object
) -> st.SearchStrategy[tuple[Case, Space]]:
    """A case (see `cases` for the parameters) and a space of its samples: dense, streamed or a kernel."""

    def fit(case: Case, view: str) -> tuple[Case, Space]:
        return case, VIEWS[view].space_of(case.X, Task(len(case.X), None), case.rng("space"))

    case_parameters: dict[str, Any] = parameters
    return st.builds(fit, cases(**case_parameters), st.sampled_from(views(types)))
