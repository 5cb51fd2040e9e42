"""The feature maps `distances`, by any metric of scipy, and `precomputed`: a matrix of them, or of kernel values."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import FeatureMap, Task, params
from clusterkit.errors import InvalidData
from clusterkit.numerics.shapes import array
from clusterkit.samples import DistanceSpace, FeatureSpace, KernelSpace, Space, memory
from clusterkit.samples.kernels import MatrixKernel


@final
@attrs.frozen
class Precomputed(FeatureMap):
    """Takes X as the n x n matrix of the distances between the samples, or of their kernel values.

    For sequences, texts, graphs or routes, which have distances and no coordinates. ``metric="precomputed"`` puts this
    map in the place of `identity` or of a kernel map, with the matrix that the solver takes: distances for spanning
    trees, a kernel for kernel methods. New rows are m x n matrices of values between them and the rows of the fit.
    O(n²).

    Parameters
    ----------
    matrix : {"distances", "kernel"}, default "distances"
        "distances": symmetric, not negative, 0 on the diagonal; they need not be those of a metric. "kernel":
        symmetric, not negative on the diagonal; should be positive semidefinite, which is not checked.

    Raises
    ------
    InvalidData
        If the matrix is not square, not symmetric, or has other values; one of them is named. Differences of rounding,
        below the square root of the precision of the numbers, are evened out.
    """

    name: ClassVar[str] = "precomputed"
    synonyms: ClassVar[tuple[str, ...]] = ("distance_matrix", "kernel_matrix", "affinity")
    nonnegative: ClassVar[bool | None] = None

    matrix: str = params.choice("distances", ("distances", "kernel"))

    @property
    def takes_pairs(self) -> Literal["", "distances", "kernel"]:  # type: ignore[override] # a property for a class attribute
        """The kind of the matrix."""
        return "kernel" if self.matrix == "kernel" else "distances"

    @property
    def gives(self) -> type[Space]:  # type: ignore[override] # a property for a class attribute
        """The space of the kind."""
        return KernelSpace if self.matrix == "kernel" else DistanceSpace

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> Space:
        """The space of the matrix."""
        M = samples.points
        self._check(M)
        M = 0.5 * (M + M.T)  # a copy: the caller may change the matrix afterwards
        resolved = {"matrix": self.matrix}
        if self.matrix == "kernel":
            return KernelSpace(M, MatrixKernel(M), resolved=resolved)
        return DistanceSpace(M, resolved=resolved)

    def _check(self, M: Array) -> None:
        """Refuse what is no such matrix."""
        n, d = M.shape
        subject = f"featuremap 'precomputed': the matrix of {'distances' if self.matrix == 'distances' else 'a kernel'}"
        if n != d:
            raise InvalidData(
                f"{subject} has a row and a column for each sample, and this one has the shape {n} x {d}. For "
                "coordinates leave metric='precomputed' out"
            )
        least = float(np.sqrt(np.finfo(M.dtype).eps)) * float(np.abs(M).max())
        diagonal = np.diag(M)
        if self.matrix == "distances":
            i = int(np.argmax(np.abs(diagonal)))
            if abs(diagonal[i]) > 0:
                raise InvalidData(
                    f"{subject} has 0 on the diagonal, and the distance of row {i} to itself is {diagonal[i]:g}. "
                    + self._other(float(diagonal.min()) > 0)
                )
            i, j = divmod(int(np.argmin(M)), n)
            if M[i, j] < 0:
                raise InvalidData(
                    f"{subject} has no negative values, and rows {i} and {j} have {M[i, j]:g}. {self._other(True)}"
                )
        else:
            i = int(np.argmin(diagonal))
            if diagonal[i] < 0:
                raise InvalidData(f"{subject} has no negative values on the diagonal, and row {i} has {diagonal[i]:g}")
            if not diagonal.any() and M.any():
                raise InvalidData(
                    f"{subject} has values above 0 on the diagonal, and this one has 0. {self._other(True)}"
                )
        i, j = divmod(int(np.argmax(np.abs(M - M.T))), n)
        if abs(M[i, j] - M[j, i]) > least:
            raise InvalidData(
                f"{subject} is symmetric, and the value of rows {i} and {j} is {M[i, j]:g} in one half and {M[j, i]:g} "
                "in the other. The mean of the matrix and its transpose is symmetric"
            )

    def _other(self, likely: bool) -> str:
        """A sentence on the other kind of matrix, where the matrix looks like it."""
        if not likely:
            return "Set it to 0 if that is rounding"
        if self.matrix == "distances":
            return (
                "It looks like similarities: sqrt(K_ii + K_jj - 2 K_ij) are the distances of a kernel, and kernel "
                "methods, such as recipe 'kernel-kmeans', take it as it is"
            )
        return (
            "It looks like distances: exp(-gamma * D**2) is a kernel of them, and recipes of spanning trees, such as "
            "'hdbscan', take them as they are; the graph of an adjacency matrix needs loops, values above 0 on the "
            "diagonal"
        )


METRICS = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "dice", "euclidean", "hamming",
    "jaccard", "manhattan",
)  # fmt: skip
"""Metrics of scipy by which equal rows have the distance 0, with their names there, and scikit-learn's `manhattan`."""

ROUNDING = 1e-13
"""Distances of angles, 1 minus a product of rows of length 1, count as 0 below this."""


def _metric(value: object) -> str | None:
    return None if value in METRICS else f"one of {', '.join(METRICS)}"


@final
@attrs.frozen(eq=False)
class DistancesTo:
    """Row map to the distances from some rows, (m, d) to (m, n).

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    metric : str
    """

    rows: Array = attrs.field(validator=array("n d"))
    metric: str = attrs.field(validator=attrs.validators.in_(METRICS))

    @property
    def width(self) -> int:
        """A distance for each of the rows."""
        return len(self.rows)

    def __call__(self, Y: Array) -> Array:
        """Distances, in the type of Y; computed in float64."""
        from scipy.spatial.distance import cdist

        name: Any = {"manhattan": "cityblock"}.get(self.metric, self.metric)
        kind = bool if name in ("dice", "jaccard") else np.float64
        D = cdist(Y.astype(kind), self.rows.astype(kind), name)
        if name in ("correlation", "cosine"):
            D[D < ROUNDING] = 0.0
        if len(missing := np.argwhere(~np.isfinite(D))):
            i = np.bincount(missing[:, 0]).argmax()
            raise InvalidData(
                f"featuremap 'distances': row {i} has no distance by metric={self.metric!r} from others, as where all "
                "its values are 0, or equal; leave such rows out"
            )
        return D.astype(Y.dtype)

    def inverse(self, H: Array) -> Array:
        """The row that is nearest by each row of distances."""
        nearest: Array = self.rows[np.argmin(H, axis=1)]
        return nearest


@final
@attrs.frozen
class Distances(FeatureMap):
    """Takes the distances between all samples by a metric of scipy: Manhattan, correlation, Jaccard and others.

    For solvers that take a matrix of distances, such as `mst`: ``recipe("single-linkage", featuremap="distances",
    featuremap__metric="manhattan")``. New rows are rows of the table, as the samples are. O(n² d) time, and n²
    distances.

    Parameters
    ----------
    metric : str, default "manhattan"
        One of braycurtis, canberra, chebyshev, cityblock, correlation, cosine, dice, euclidean, hamming, jaccard and
        manhattan, as scipy computes them; for dice and jaccard a value is true where it is not 0.

    Raises
    ------
    InvalidData
        If a row has no distance from others, such as a correlation of equal values.
    """

    name: ClassVar[str] = "distances"
    synonyms: ClassVar[tuple[str, ...]] = ("pairwise_distances", "cdist", "manhattan", "cityblock")
    gives: ClassVar[type[Space]] = DistanceSpace
    nonnegative: ClassVar[bool | None] = None

    # not `params.choice`, because the laws would try every metric on rows that have none, such as zeros
    metric: str = params.free("manhattan", _metric, invalid=("mahattan", None, 1))

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> Space:
        """The space of the distances."""
        memory.require(
            16 * samples.n * samples.n, f"the {samples.n} x {samples.n} distances between the rows", "Use fewer rows."
        )
        mapping = DistancesTo(samples.points, self.metric)
        return DistanceSpace(mapping(samples.points), before=(mapping,), resolved={"metric": self.metric})
