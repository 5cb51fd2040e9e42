"""Class means and the distances to them: the update step of k-means, in features or in a kernel's space."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import ClassVar, Literal, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, params
from clusterkit.contracts.outcomes import Outcome, Scores
from clusterkit.contracts.pass_solver import PassSolver, solve_by_sums
from clusterkit.families.means._class_means import CentroidSums, ExactSums, farthest_of, too_few
from clusterkit.families.means._geometry import FeatureGeometry, FeatureMeans, KernelMeans, NearestMeans
from clusterkit.families.means._hamerly import feature_iterations, kernel_iterations
from clusterkit.numerics.lloyd import compiled_pays
from clusterkit.numerics.threads import THIN, limited_threads
from clusterkit.samples import FeatureSpace, KernelSpace, Space, sums
from clusterkit.samples.coding import Coded, Coding


@final
@attrs.frozen
class Centroids(Solver):
    """Scores a sample for each class by minus its squared distance to the mean of the class.

    With the labeler `argmax` this is k-means (Lloyd's iteration), and kernel k-means on a kernel. On features an
    iteration costs one adjoint and one apply, O(n L k); on a kernel the matrix K is kept, O(n² d) once and O(n² k) per
    iteration. Without a balancer most iterations are faster and the same up to rounding: O(n) plus O(L k) for each
    sample whose label the bounds leave in doubt, and O(n k) for each sample that changes its class on a kernel. The
    objective is the within-cluster sum of squares of the labels and never rises. The mathematics is in
    _class_means.py (`CentroidSums`), for kernels in `_KernelCentroids.solve`; the faster iterations are
    in _hamerly.py.

    Parameters
    ----------
    tol : float, default 1e-4
        On features the iteration also ends once the squared Frobenius norm of the change of the centres in one
        iteration is at most `tol` times the mean variance of the features, as in scikit-learn's `KMeans`. The labels
        are the assignment to the final centres. With 0, and always in the space of a kernel, whose number of features
        is not known, it ends when the labels repeat.

    Warns
    -----
    ClusterkitWarning
        If there are fewer distinct samples than clusters, so that some clusters stay empty.

    Notes
    -----
    The centre of an empty class becomes the sample farthest from the centre of its class, the lowest index on ties, and
    each sample is used once; if that sample lies on its centre, the empty class gets the same centre. Squared
    distances within their rounding errors count as 0 (and as ties), so that duplicates stay together and the
    iteration ends. If all samples are equal up to rounding, every class has the mean of all samples as its centre, and
    all labels are 0.

    References
    ----------
    Lloyd (1982), Least squares quantization in PCM, IEEE Transactions on Information Theory 28(2).
    Schölkopf, Smola, Müller (1998), Neural Computation 10(5); Dhillon, Guan, Kulis (2004), Kernel k-means, spectral
    clustering and normalized cuts, KDD, eq. (2). Hamerly (2010), Making k-means even faster, SIAM International
    Conference on Data Mining. He, Jin, Du, Zhuang, Shi (2014), Neurocomputing 128, algorithm 1.
    """

    name: ClassVar[str] = "centroids"
    synonyms: ClassVar[tuple[str, ...]] = ("kmeans", "k_means", "lloyd", "means")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    targets: ClassVar[Literal["never", "start", "every_iteration"]] = "every_iteration"
    has_objective: ClassVar[bool] = True
    monotone: ClassVar[bool] = True

    tol: float = params.real(1e-4, at_least=0.0)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The implementations, by the type of the space."""
        return {
            FeatureSpace: Path(_features, Scores, passes="anywhere", weighted=True),
            KernelSpace: Path(_kernel, Scores, square=True),
        }


def _features(spec: Centroids, space: FeatureSpace, task: Task, rng: Rng) -> Prepared:
    """The mean of all samples and the distances from it: two passes."""
    if not space.in_memory:
        return PassSolver(space, _summing(spec, space, task, FeatureGeometry.of(space, task.sample_weight)))
    geometry = FeatureMeans.of(space, task.sample_weight)
    return _FeatureCentroids(space, _summing(spec, space, task, geometry.about), geometry=geometry)


def _summing(spec: Centroids, space: FeatureSpace, task: Task, about: FeatureGeometry) -> CentroidSums:
    """The iterations, with exact class sums above one group.

    Up to one group rows are fitted in memory only, and sums by products keep the bits that they had.
    """
    exact = ExactSums.of(about) if space.n > sums.GROUP and task.sample_weight is None and not space.sparse else None
    return CentroidSums(about, task.k, spec.tol, exact)


def _kernel(spec: Centroids, space: KernelSpace, task: Task, rng: Rng) -> Prepared:
    """The kernel matrix, if the memory cap allows it."""
    return _KernelCentroids(KernelMeans.of(space))


class _WithinClasses:
    """Gives a solver the objective of k-means."""

    def objective(self, targets: Coded | None, outcome: Outcome) -> Array | None:
        """Within-cluster sum of squares, (1,): a sum over samples, because a difference of norms would cancel."""
        assert targets is not None
        assert isinstance(outcome, Scores)
        scores = np.take_along_axis(outcome.rows, targets.labels[0][:, None], axis=1)
        if targets.weights is not None:
            scores = scores * targets.weights[:, None]
        return np.array([max(0.0, -float(scores.sum(dtype=np.float64)))])


@final
@attrs.frozen(eq=False)
class _FeatureCentroids(_WithinClasses, PassSolver):
    """k-means on the features of a space in memory, with stored distances of the samples from their mean."""

    concurrent: ClassVar[bool] = True

    iterations: CentroidSums
    geometry: FeatureMeans = attrs.field(kw_only=True)

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        assert targets is not None
        before = previous.extend if isinstance(previous, Scores) else None
        space = self.geometry.space
        # a product with so few columns is no faster on two threads, and the second thread then spins for a while on the
        # core that the loops of the next step need
        single = compiled_pays(space.n, space.width, targets.k) and not space.sparse
        with limited_threads(0 if single else THIN):
            finished = solve_by_sums(
                self.iterations, space, targets, before if isinstance(before, NearestMeans) else None
            )
        assert isinstance(finished.extend, NearestMeans)
        # the distances from the mean are known here, and need no second computation
        rows, _ = self.geometry.scores(finished.extend.centres)
        return Scores(rows, finished.extend, status=finished.status)

    def leap(self, targets: Coded) -> Generator[tuple[float, Labels], None, str | float | None]:
        """Iterations without a table of scores; none if all samples are equal, or have weights."""
        if self.geometry.all_equal or targets.weights is not None:
            return None
        final = yield from feature_iterations(self.geometry, targets, self.iterations)
        if isinstance(final, float):
            return final
        return self.iterations.settled_reason if final else None


@final
@attrs.frozen(eq=False)
class _KernelCentroids(_WithinClasses, Prepared):
    """k-means in the space of a kernel."""

    geometry: KernelMeans

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        assert targets is not None
        geometry = self.geometry
        labels, sizes = targets.labels[0], targets.sizes()[0]
        if geometry.all_equal:
            centres = geometry.overall(targets.k)
            rows, constants = geometry.scores(centres)
            return Scores(rows, geometry.extension(centres, constants))
        centres = geometry.means(targets, np.maximum(sizes, 1))
        rows, constants = geometry.scores(centres)
        empty = np.flatnonzero(sizes == 0)
        status = None
        if len(empty):
            distances = -rows[np.arange(len(labels)), labels]
            farthest = farthest_of(distances, len(empty), geometry.noise)
            off_centre = distances[farthest] > geometry.noise[farthest]
            centres[:, empty] = centres[:, labels[farthest]]
            centres[:, empty[off_centre]] = geometry.samples(farthest[off_centre])
            status = None if off_centre.any() else too_few(targets.k, targets.k - len(empty))
            # all columns again, by the same product as in prediction, so that ties are broken alike
            rows, constants = geometry.scores(centres)
        return Scores(rows, geometry.extension(centres, constants), status=status)

    def leap(self, targets: Coded) -> Generator[tuple[float, Labels], None, str | None]:
        """Iterations without a table of scores; none if all samples are equal."""
        if not self.geometry.all_equal:
            yield from kernel_iterations(self.geometry, targets)
        return None
