"""The Gaussian kernel."""

from __future__ import annotations

from typing import Any, ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.contracts import FeatureMap, Task, params
from clusterkit.errors import InvalidData, InvalidParameter
from clusterkit.numerics.distances import parting_bandwidth, squared_distances
from clusterkit.numerics.selection import few_points
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.samples import FeatureSpace, KernelSpace, Space
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.transform import block_plan

SMALLEST_SIGMA = 1e-150
"""Widths below this are an error: their squares are near the smallest float64, so 1 / (2 sigma²) would overflow."""

LARGEST_SIGMA = 1e150
"""Widths above this are an error: 1 / (2 sigma²) would underflow, and with it the scale of all distances be lost."""


@final
@attrs.frozen
class Rbf(FeatureMap):
    """The Gaussian kernel ``exp(-gamma |x - y|²)``.

    For support vector clustering and all kernel methods. Fitting costs O(n d), or O(n² d) with `sigma_fraction`; the
    n x n matrix is computed only if the solver needs it.

    Parameters
    ----------
    gamma : float, optional
        Width as an inverse squared distance. Takes precedence over `sigma` and `sigma_fraction`.
    sigma : float, optional
        Width as a distance: ``gamma = 1 / (2 sigma²)``. Takes precedence over `sigma_fraction`.
    sigma_fraction : float, optional
        `sigma` as a fraction of the largest pairwise distance, the scale of the grids in the maximum-margin papers.

        If all three are None (and there is no tuner), ``gamma = 1 / (d var(X))``. For a method that finds the number of
        clusters in rows at few points (at most 20, with 5 equal rows each on average) it is narrower where that would
        join two of the points: a cluster is then a point.

    References
    ----------
    Zhang, Xia, Liu, Zhang (2013), Extreme maximum margin clustering, IEICE Trans., section 5 (the fraction).
    """

    name: ClassVar[str] = "rbf"
    synonyms: ClassVar[tuple[str, ...]] = ("gaussian", "gaussian_kernel", "kernel")
    gives: ClassVar[type[Space]] = KernelSpace
    tunable: ClassVar[frozenset[str]] = frozenset({"gamma"})
    sparse: ClassVar[bool] = True
    gamma: float | None = params.real(None, above=0, optional=True)
    sigma: float | None = params.real(None, above=0, optional=True)
    sigma_fraction: float | None = params.real(None, above=0, optional=True)

    def fit(self, samples: FeatureSpace, task: Task, rng: Rng) -> KernelSpace:
        """The kernel space of the samples."""
        # the fit keeps the points for prediction: later changes of X by the caller must not change them
        X = samples.points.copy()
        if self.gamma is not None:
            return KernelSpace(X, Gaussian(float(self.gamma)))
        resolved: dict[str, Any] = {}
        if self.sigma is not None:
            sigma: float | None = float(self.sigma)
        elif self.sigma_fraction is not None:
            sigma = self.sigma_fraction * _diameter(X)
            resolved["sigma"] = sigma
        else:
            sigma = None
        if sigma is not None:
            if 0 < sigma < SMALLEST_SIGMA:
                raise InvalidParameter(f"featuremap 'rbf': sigma = {sigma:g} is too small, 1 / (2 sigma²) overflows")
            if sigma > LARGEST_SIGMA:
                raise InvalidParameter(f"featuremap 'rbf': sigma = {sigma:g} is too large, 1 / (2 sigma²) underflows")
            gamma = 1.0 / (2.0 * sigma * sigma) if sigma > 0 else 1.0
        else:
            variance = X.variance() if isinstance(X, SparseRows) else float(X.var(dtype=np.float64))
            if 0 < variance < SMALLEST_SIGMA**2:
                raise InvalidData(
                    f"featuremap 'rbf': the data spread too little for a default gamma (variance {variance:g}); "
                    "multiply the data by a constant"
                )
            gamma = 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
            if task.n_clusters is None:
                gamma = max(gamma, _parting(X))
        if not gamma <= float(np.finfo(X.dtype).max):
            raise InvalidData(
                f"featuremap 'rbf': gamma = {gamma:.3g} overflows {X.dtype}: the data spread too little for it; "
                "multiply them by a constant"
            )
        resolved["gamma"] = gamma
        return KernelSpace(X, Gaussian(gamma), resolved=resolved)


def _parting(X: Array) -> float:
    """A bandwidth that joins no two of the points at which rows lie, where these are few; 0 where they are many."""
    if few_points(X) is None:
        return 0.0
    first = X.distinct()[0] if isinstance(X, SparseRows) else np.unique(X, axis=0, return_index=True)[1]
    D = squared_distances(X[first], X[first]).astype(np.float64)
    largest = float(D.max())
    gamma = parting_bandwidth(D, largest) if 0.0 < largest < np.inf else 0.0
    return gamma if gamma <= float(np.finfo(X.dtype).max) else 0.0


def _diameter(X: Array) -> float:
    """Largest pairwise distance, O(n² d) time and the memory of one block."""
    largest = 0.0
    for rows in block_plan(len(X), len(X), X.dtype):
        largest = max(largest, float(squared_distances(X[rows], X).max()))
    return float(np.sqrt(largest))
