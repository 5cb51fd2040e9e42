"""Whether data have several clusters at all: Hartigan's dip test of a projection, and a statistic of the spanning tree.

The dip test asks whether values on a line come from a distribution with one mode.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array, Rng
from clusterkit.numerics.selection import n_distinct
from clusterkit.numerics.spanning_trees.tree import births, edge_masses

__all__ = [
    "SIZES",
    "TAILS",
    "OneCluster",
    "are_few",
    "dip_of",
    "dip_p_value",
    "few_points",
    "projection_p_value",
    "tree_statistic",
]


TAILS = (0.5, 0.2, 0.1, 0.05, 0.025, 0.01, 0.005, 0.001)
"""Upper tail probabilities of the columns of `QUANTILES`."""

SIZES = (10, 20, 50, 100, 200, 500, 1000, 2500)
"""Numbers of values of the rows of `QUANTILES`."""

QUANTILES = (
    (0.3088, 0.3763, 0.4133, 0.4418, 0.4675, 0.5070, 0.5284, 0.5733),  # 10
    (0.3280, 0.3956, 0.4354, 0.4685, 0.4987, 0.5374, 0.5644, 0.6124),  # 20
    (0.3457, 0.4161, 0.4591, 0.4972, 0.5287, 0.5704, 0.5953, 0.6648),  # 50
    (0.3550, 0.4273, 0.4724, 0.5112, 0.5460, 0.5911, 0.6223, 0.6956),  # 100
    (0.3609, 0.4359, 0.4796, 0.5200, 0.5594, 0.6035, 0.6328, 0.7065),  # 200
    (0.3680, 0.4433, 0.4896, 0.5289, 0.5678, 0.6135, 0.6496, 0.7349),  # 500
    (0.3710, 0.4470, 0.4946, 0.5346, 0.5722, 0.6179, 0.6505, 0.7109),  # 1000
    (0.3741, 0.4507, 0.4969, 0.5384, 0.5770, 0.6260, 0.6563, 0.7266),  # 2500
)
"""Quantiles of √n times the dip of n uniform numbers, the unimodal law that is rejected most often: 20,000 draws a
row, by tests/benchmarks/dip_quantiles.py. Beyond the largest n it hardly changes."""


def dip_of(values: Array) -> float:
    """The dip of values, (n,), in any order."""
    from clusterkit.criteria._criteria_jit import dip

    return float(dip(np.sort(np.asarray(values, dtype=np.float64))))


def dip_p_value(values: Array) -> float:
    """Probability of at least this dip under the uniform law, in [.0005, 1], interpolated between simulated quantiles.

    The logarithm of the probability is interpolated, linearly in √n dip and in ln n.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> one = rng.standard_normal(200)
    >>> dip_p_value(one) > 0.5, dip_p_value(np.concatenate([one, one + 6])) < 0.01
    (True, True)
    """
    n = len(values)
    if n < 4:
        return 1.0
    statistic = math.sqrt(n) * dip_of(values)
    place = float(np.interp(math.log(n), np.log(SIZES), np.arange(len(SIZES))))
    row = min(int(place), len(SIZES) - 2)
    share = place - row
    table = np.asarray(QUANTILES)
    quantiles = (1.0 - share) * table[row] + share * table[row + 1]
    # the statistic is at least 0, and the last quantile is extended linearly by one step
    grid = np.concatenate([[0.0], quantiles, [2.0 * quantiles[-1] - quantiles[-2]]])
    logs = np.log(np.concatenate([[1.0], TAILS, [TAILS[-1] / 2.0]]))
    return float(math.exp(np.interp(statistic, grid, logs)))


SPLITS = 3
"""Random divisions of the rows of the projection test; their median p-value counts, so that no draw decides alone."""

LEVEL = 0.05
"""Level of the projection test; a single cluster with log-concave density is called several in at most .02 of draws."""

CORE = 15
"""Neighbour whose distance is the core distance of the tree test. With 10 a single cluster reaches values of .30, with
5 the values of single and several clusters overlap."""

LEAST_SIDE = 10
"""Fewest rows on both sides of an edge that counts in the tree test; more where √n is more."""

THRESHOLD = 0.25
"""Value of the tree statistic above which there are several clusters. The 98 % quantile of single Gaussians, cubes and
balls is .12 to .19 in 2 dimensions, at most .09 in 3, and 0 from 5 dimensions on."""


MOST_POINTS, REPEATS = 20, 5
"""Largest number of distinct points, and least average number of rows a point, of data that are no sample of a density.
Neither test can see anything there, since the projections are a few steps and most distances to neighbours are 0."""


def few_points(X: Array) -> int | None:
    """The number of distinct rows of X, (n, d), if they are few and mostly repeated; None otherwise.

    O(n d) where there are many: 21 distinct ones settle it.

    Examples
    --------
    >>> few_points(np.repeat([[0.0], [1.0]], 40, axis=0)), few_points(np.arange(80.0)[:, None])
    (2, None)
    """
    if len(X) < 2 * REPEATS:
        return None
    points = n_distinct(X, MOST_POINTS + 1)
    return points if are_few(points, len(X)) else None


def are_few(points: int, n: int) -> bool:
    """Whether n rows at so many distinct points are no sample of a density."""
    return points <= min(MOST_POINTS, n // REPEATS)


@final
@attrs.frozen
class OneCluster:
    """Two tests against a single cluster, of which either suffices.

    The projection test sees clusters in any number of attributes, the tree test clusters of any shape in up to about
    five. A single ring, arc or curve is no log-concave cloud: the projection test calls it several. Neither sees
    clusters that touch and differ much in size, nor most others below some hundred rows: "not several" means that
    nothing was shown, and is no reason to overrule a clustering. For rows at few points (`few_points`) neither test is
    valid.

    Parameters
    ----------
    p_value : float
        p-value of the projection test.
    statistic : float
        Statistic of the tree test.
    """

    p_value: float
    statistic: float

    @classmethod
    def of(cls, X: Array, rng: Rng) -> OneCluster:
        """Both tests of the rows of X, (n, d)."""
        return cls(projection_p_value(X, rng), tree_statistic(X))

    @property
    def several(self) -> bool:
        """Whether one of the tests shows more than one cluster."""
        return self.p_value < LEVEL or self.statistic > THRESHOLD


def projection_p_value(X: Array, rng: Rng) -> float:
    """p-value of the dip on a direction that other rows chose.

    The rows are divided at random in halves. On each half the direction is chosen along which two clusters of it are
    farthest apart (Fisher), and the other half is projected on it. No projection of a log-concave law has two modes,
    so that the test needs no simulated null in d dimensions. Twice the smaller of both p-values, the median over 3
    divisions.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    rng : Generator
    """
    X = np.asarray(X, dtype=np.float64)
    X = X[:, np.ptp(X, axis=0) > 0]
    if len(X) < 4 * LEAST_SIDE or X.shape[1] == 0:
        return 1.0
    values = []
    for _ in range(SPLITS):
        order = rng.permutation(len(X))
        one, other = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
        seed = int(rng.integers(2**31 - 1))
        pair = [dip_p_value(there @ _direction(here, seed)) for here, there in ((one, other), (other, one))]
        values.append(min(1.0, 2.0 * min(pair)))
    return float(np.median(values))


def _direction(X: Array, seed: int) -> Array:
    """The Fisher direction of two clusters of X, by k-means or by a mixture of equal covariances, the larger dip."""
    directions = [_fisher(X, labels) for labels in _two_clusters(X, seed)]
    return max(directions, key=lambda direction: dip_of(X @ direction))


def _two_clusters(X: Array, seed: int) -> list[Any]:
    from sklearn.mixture import GaussianMixture

    from clusterkit.numerics.lloyd import kmeans

    labelings = [kmeans(X, 2, n_init=3, max_iter=100, seed=seed)[0]]
    mixture = GaussianMixture(
        2, covariance_type="tied", random_state=seed, reg_covar=1e-6 * float(X.var(axis=0).mean())
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a mixture that has not converged still gives a direction
            labelings.append(mixture.fit_predict(X))
    except ValueError:  # attributes that depend on each other
        pass
    return labelings


def _fisher(X: Array, labels: Any) -> Array:
    """The direction of Fisher's discriminant; the within covariance is shrunk to a multiple of the identity."""
    n, d = X.shape
    parts = [X[labels == c] for c in (0, 1)]
    if min(map(len, parts)) == 0:
        return np.eye(d)[0]
    means = [part.mean(axis=0) for part in parts]
    centred = np.concatenate([part - mean for part, mean in zip(parts, means, strict=True)])
    within = centred.T @ centred / n
    scale = float(np.trace(within)) / d
    shrink = min(1.0, 2.0 * (d + 1) / n)
    within = (1.0 - shrink) * within + (shrink * scale + np.finfo(np.float64).tiny) * np.eye(d)
    direction: Array = np.linalg.solve(within, means[1] - means[0])
    return direction / max(float(np.linalg.norm(direction)), np.finfo(np.float64).tiny)


def tree_statistic(X: Array) -> float:
    """``max ln(w / birth) sqrt(m / n)`` over the edges of the tree of core distance 15 with m >= max(10, √n) rows.

    w is the length of an edge, m the number of rows of its smaller side, and birth the larger of the least core
    distances of its sides. The tree with core distance 5, by which clusterings are compared, has large values on
    uniform rows as well, and is no evidence.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    """
    from clusterkit.numerics.spanning_trees.tree import minimum_spanning_tree

    n = len(X)
    if n < 4 * LEAST_SIDE:
        return 0.0
    tree = minimum_spanning_tree(np.ascontiguousarray(X, dtype=np.float64), min(CORE + 1, n))
    core = np.asarray(tree.core_distances, dtype=np.float64)
    if not core.any():
        return 0.0
    values, side = edge_masses(tree.edges, tree.weights, births(core, tree.weights))
    least = max(LEAST_SIDE, round(math.sqrt(n)))
    return float(values[side >= least].max(initial=0.0)) / math.sqrt(n)
