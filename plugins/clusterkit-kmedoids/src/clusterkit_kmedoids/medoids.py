"""k-medoids: the solver, and the distances of new rows from the medoids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Rng
from clusterkit.contracts import Path, Prepared, Solver, Task, array, params
from clusterkit.contracts.outcomes import Ending, Outcome, Scores, Status
from clusterkit.samples import DistanceSpace, FeatureSpace, Space, memory
from clusterkit.samples.coding import Coded, Coding
from clusterkit.samples.transform import Transform

ROUNDING = 1e-12
"""Part of the objective below which a swap gains nothing: sums of distances round."""


@final
@attrs.frozen
class Medoids(Solver):
    """Minimises the sum of the distances of the samples from k of them, the medoids; the scores are minus distances.

    Choose it for distances that are no squares of lengths: Manhattan, correlation, a matrix. A far row pulls a medoid
    less than a mean, and each cluster has one of its rows as a centre. The first medoids are those of PAM (BUILD), each
    the one that lowers the sum most; then any row takes the place of a medoid as soon as the sum falls (FasterPAM),
    until no swap lowers it. Nothing is random.

    Parameters
    ----------
    max_iter : int, default 100
        Maximum number of rounds, in each of which every row is tried.

    Notes
    -----
    On features the distances are Euclidean. ``resolved_["solver"]["medoids"]`` are the numbers of the rows. O(n² k) for
    the first medoids and O(n²) a round, with the n x n matrix in memory. Of equal gains the lowest row counts.

    References
    ----------
    Schubert, Rousseeuw (2021), Fast and eager k-medoids clustering: O(k) runtime improvement of the PAM, CLARA, and
    CLARANS algorithms, Information Systems 101, algorithm 3. Kaufman, Rousseeuw (1990), Finding Groups in Data: BUILD.
    """

    name: ClassVar[str] = "medoids"
    synonyms: ClassVar[tuple[str, ...]] = ("kmedoids", "k_medoids", "pam", "fasterpam")
    codings: ClassVar[frozenset[Coding]] = frozenset({Coding.ONEHOT})
    default_labeler: ClassVar[str | Mapping[str, object] | None] = "argmax"
    has_objective: ClassVar[bool] = True

    max_iter: int = params.integer(100, at_least=1)

    @property
    def paths(self) -> Mapping[type[Space], Path]:
        """The solver works on features, and on all distances between the samples."""
        path = Path(_prepare, Scores, square=True, weighted=True)
        return {FeatureSpace: path, DistanceSpace: path}


def _prepare(spec: Medoids, space: FeatureSpace | DistanceSpace, task: Task, rng: Rng) -> Prepared:
    """The medoids, which depend on no labels."""
    from scipy.spatial.distance import cdist

    from clusterkit_kmedoids.swaps_jit import first_medoids, nearest_two, swap_round

    n, k = space.n, task.k
    memory.require(16 * n * n, f"the {n} x {n} distances between the rows", "Use fewer rows.")
    rows = space.rows() if isinstance(space, FeatureSpace) else None
    D = np.ascontiguousarray(space.points if rows is None else cdist(rows, rows), dtype=np.float64)
    weights = np.ones(n) if task.sample_weight is None else task.sample_weight
    medoids = first_medoids(D, weights, k)
    place, first, second = np.zeros(n, np.int64), np.empty(n), np.empty(n)
    nearest_two(D, medoids, place, first, second)
    history = [float(weights @ first)]
    ended = k == 1
    while not ended and len(history) <= spec.max_iter:
        ended = not swap_round(D, weights, medoids, place, first, second, ROUNDING * history[-1])
        history.append(float(weights @ first))
    reason = "no swap lowers the sum of distances" if ended else f"max_iter={spec.max_iter} rounds reached"
    status = Status(
        len(history) - 1, Ending.CONVERGED if ended else Ending.OUT_OF_ITERATIONS, reason, history=tuple(history)
    )
    if rows is None:
        extend = MedoidDistances(space.coordinates, None, medoids)
    else:
        extend = MedoidDistances(space.transform, rows[medoids], np.arange(k))
    return _PreparedMedoids(Scores(-D[:, medoids], extend, status=status), medoids)


@final
@attrs.frozen(eq=False)
class _PreparedMedoids(Prepared):
    """The scores, found before."""

    scores: Scores
    medoids: Indices

    @property
    def resolved(self) -> Mapping[str, object]:
        return {"medoids": self.medoids.tolist()}

    def solve(self, targets: Coded | None, previous: Outcome | None, rng: Rng) -> Scores:
        """The scores; nothing in them is random."""
        return self.scores


@final
@attrs.frozen(eq=False)
class MedoidDistances:
    """Minus the distances of raw rows from the medoids, (m, d) to (m, k), float64.

    Parameters
    ----------
    transform : Transform
        Raw rows to features, or to their distances from all samples.
    medoids : ndarray of shape (K, L) or None
        The features of the medoids; None for distances.
    chosen : ndarray of shape (k,)
        Numbers of medoids, or of samples.
    """

    transform: Transform
    medoids: Array | None = attrs.field(validator=array("K L"))
    chosen: Indices = attrs.field(validator=array("k", least=0))

    def __call__(self, Y: Array) -> Array:
        """The scores of the rows."""
        from scipy.spatial.distance import cdist

        H = self.transform(Y)
        distances = H[:, self.chosen] if self.medoids is None else cdist(H, self.medoids[self.chosen])
        return -distances.astype(np.float64)

    def columns(self, index: slice | Indices) -> MedoidDistances:
        """The scores of some of the medoids."""
        return attrs.evolve(self, chosen=self.chosen[index])
