"""Class means and the distances to them: the update step of k-means, in features or in a kernel's space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.core.coding import Coded, Coding
from clusterkit.core.outcomes import Outcome, Scores, Status
from clusterkit.core.spaces import FeatureSpace, KernelSpace, Space
from clusterkit.core.stages import Path, Prepared, Solver, Task
from clusterkit.solvers.means._geometry import FeatureMeans, KernelMeans
from clusterkit.solvers.means._hamerly import feature_turns, kernel_turns

__all__ = ["Centroids"]


@final
@attrs.frozen
class Centroids(Solver):
    """Scores a sample for each class by minus its squared distance to the mean of the class.

    With `argmax` it is k-means (Lloyd's iteration), kernel k-means on a kernel. On features `_features` makes an
    adjoint and an apply a turn, O(n L k); on a kernel `_kernel` keeps K, O(n² d) once and O(n² k) a turn. Without a
    balancer most turns are quicker, and the same up to rounding: O(n) plus O(L k) for each sample whose label bounds
    leave in doubt, and O(n k) for each sample that moves on a kernel. The objective is the within-cluster sum of
    squares of the labels and never rises.

    Warns
    -----
    ClusterkitWarning
        If there are fewer distinct samples than clusters, so that some stay empty.

    Notes
    -----
    The centre of a class without samples becomes the sample farthest from its own centre, the lowest index on ties,
    each sample used once; where that sample lies on its own centre the empty class gets the same centre. Squared
    distances within their rounding errors count as 0 (and as ties), so that duplicates stay together and the
    iteration ends; where all samples are equal up to rounding every class has the mean of all as its centre, and
    all labels are 0.

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM, IEEE Transactions on Information Theory 28(2).
    Schölkopf, Smola, Müller (1998), Neural Computation 10(5); Dhillon, Guan, Kulis (2004), Kernel k-means, spectral
    clustering and normalized cuts, KDD, eq. (2). Hamerly (2010), Making k-means even faster, SIAM International
    Conference on Data Mining. He, Jin, Du, Zhuang, Shi (2014), Neurocomputing 128, algorithm 1.
    """

    name: ClassVar[str] = "centroids"
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    targets: ClassVar[Literal["never", "start", "every_turn"]] = "every_turn"
    has_objective: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """Features and kernels."""
        return {FeatureSpace: Path(_features, Scores), KernelSpace: Path(_kernel, Scores, square=True)}


def _features(spec: Centroids, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """The mean of all samples and the distances to it: two passes."""
    return _Distances(FeatureMeans.of(space))


def _kernel(spec: Centroids, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The kernel matrix, if the memory cap allows it."""
    return _Distances(KernelMeans.of(space))


@final
@attrs.frozen(eq=False)
class _Distances(Prepared):
    """Distances to class means, wherever these live."""

    geometry: FeatureMeans | KernelMeans

    @property
    def resolved(self) -> Mapping[str, Any]:
        return {}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        assert targets is not None
        geometry = self.geometry
        labels, sizes = targets.labels[0], targets.sizes()[0]
        if geometry.flat:
            centres = geometry.overall(targets.k)
            rows, constants = geometry.scores(centres)
            return Scores(rows, geometry.extension(centres, constants))
        centres = geometry.means(targets, np.maximum(sizes, 1))
        rows, constants = geometry.scores(centres)
        empty = np.flatnonzero(sizes == 0)
        status = None
        if len(empty):
            own = -rows[np.arange(len(labels)), labels]
            farthest = _farthest(own, len(empty), geometry.noise)
            away = own[farthest] > geometry.noise
            centres[:, empty] = centres[:, labels[farthest]]
            centres[:, empty[away]] = geometry.samples(farthest[away])
            status = None if away.any() else _too_few(targets.k, targets.k - len(empty))
            # all columns again, by the product that predicts, so that a tie is the same tie
            rows, constants = geometry.scores(centres)
        return Scores(rows, geometry.extension(centres, constants), status=status)

    def turns(self, targets: Coded) -> Iterator[tuple[float, Labels]]:
        """Turns without a table of scores; none where all samples are equal."""
        if self.geometry.flat:
            return iter(())
        if isinstance(self.geometry, FeatureMeans):
            return feature_turns(self.geometry, targets)
        return kernel_turns(self.geometry, targets)

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """Within-cluster sum of squares: summed over samples, because norms of means would cancel."""
        assert targets is not None
        assert isinstance(outcome, Scores)
        own = np.take_along_axis(outcome.rows, targets.labels[0][:, None], axis=1)
        return np.array([max(0.0, -float(own.sum(dtype=np.float64)))])


def _too_few(k: int, distinct: int) -> Status:
    """Every sample lies on a centre and there are centres left."""
    warning = f"only {distinct} distinct samples for n_clusters={k}: {k - distinct} clusters stay empty"
    return Status(1, True, "every sample lies on its centre", warning=warning)


def _farthest(own: Array, count: int, noise: float) -> Array:
    """Indices of the largest of `own`, each once, the lowest index of those equal up to `noise`."""
    own = own.astype(np.float64)
    found = np.empty(count, dtype=np.intp)
    for position in range(count):
        found[position] = np.argmax(own >= own.max() - noise)
        own[found[position]] = -np.inf
    return found
