"""Whether data have several clusters at all: Hartigan's dip test of a projection, and a statistic of the spanning tree.

The dip test asks whether values on a line come from a distribution with one mode. Of a single attribute the likelihood
takes the place of the tree, and of categories that of both. A curve, which has several modes in most directions, is
tested along itself.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, final

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit._typing import Array, Rng
from clusterkit.numerics.spanning_trees.tree import births, edge_masses

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
row. Beyond the largest n it hardly changes."""


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
"""Smallest number of rows on both sides of an edge that counts in the tree test; more where √n is more."""

THRESHOLD = 0.25
"""Value of the tree statistic above which there are several clusters. The 98 % quantile of single Gaussians, cubes and
balls is .12 to .19 in 2 dimensions, at most .09 in 3, and 0 from 5 dimensions on."""


MOST_OF_CURVES = 0.4
"""Largest tree statistic of a curve: of 24 rings and arcs .38; of two noisy rings .34, and of moons .7 and more."""

MOST_OF_ONE = 0.5
"""Largest confidence in clusters where the tests show no more than one: of 33 generated sets six were right."""

FILLED, FEWEST_STEPS = 0.7, 5
"""An attribute is of counts if at least this share of the steps between its extremes occur, and this many values."""


def are_counts(X: Array) -> bool:
    """Whether rows at few points, (n, d), are whole numbers or categories, of which the tests of `OneCluster` hold.

    At least two categories, or numbers of five values and more without large gaps; three points anywhere are no sample.
    """
    X = X[:, np.ptp(X, axis=0) > 0]
    codes = indicated_levels(X) if X.shape[1] else None
    if codes is not None:
        return codes.shape[1] > 1
    for x in X.T:
        values = np.unique(x)
        steps = (values[-1] - values[0]) / float(np.quantile(np.diff(values), 0.1)) + 1.0
        if len(values) < FEWEST_STEPS or len(values) < FILLED * steps:
            return False
    return X.shape[1] > 0


@final
@attrs.frozen
class OneCluster:
    """Tests against a single cluster, of which either suffices.

    The projection test sees clusters in any number of attributes, the tree test clusters of any shape in up to about
    five. Neither sees clusters that touch and differ much in size, nor most others below some hundred rows: "not
    several" means that nothing was shown, and is no reason to overrule a clustering. For rows at few points
    (`few_points`) neither test is valid.

    - A single attribute is tested by its own dip and by the likelihood: its tree is long at random places.
    - Of attributes of two values, which are flags or the levels of categories, there is the likelihood only.
    - Whole numbers and other repeated values are smoothed first (`smoothed`): steps are no modes.
    - A ring, an arc or a rolled sheet has several modes in most directions, and as a thin strip a tree that is long at
      random places. Unless the tree shows much, the distances along the rows are tested as well (`geodesic_p_value`):
      with one mode there, it is one piece: a curved one of numbers, and a joined one where levels are among them.

    Parameters
    ----------
    p_value : float
        p-value of the projection test; nan for categories.
    statistic : float
        Statistic of the tree test; 0 where it is not valid.
    gain : float or None
        Gain of the completed likelihood by two and more clusters, a row, where it stands for a test.
    piece : {"", "curved", "joined"}
        What the rows are if a test shows several clusters, and they are one piece all the same. Only of numbers is it
        a curve: with flags or levels among them, rows between which there is no gap.
    """

    p_value: float
    statistic: float
    gain: float | None = None
    piece: str = ""

    @classmethod
    def of(cls, X: Array, rng: Rng) -> OneCluster:
        """The tests of the rows of X, (n, d)."""
        X = np.asarray(X, dtype=np.float64)
        X = X[:, np.ptp(X, axis=0) > 0]
        if len(X) < 4 * LEAST_SIDE or X.shape[1] == 0:
            return cls(1.0, 0.0)
        codes = indicated_levels(X)
        if codes is not None:
            return cls(math.nan, 0.0, gain_of_clusters(None, codes, rng))
        of_levels = ((X.min(axis=0) == X) | (X.max(axis=0) == X)).all(axis=0).any()  # a flag, or a level
        X = smoothed(X, rng)
        if X.shape[1] == 1:
            return cls(dip_p_value(X[:, 0]), 0.0, gain_of_clusters(X[:, 0], None, rng))
        p_value, statistic = projection_p_value(X, rng), tree_statistic(X)
        shown = p_value < LEVEL or statistic > THRESHOLD
        one_piece = shown and statistic <= MOST_OF_CURVES and geodesic_p_value(X) >= LEVEL
        return cls(p_value, statistic, None, one_piece * ("joined" if of_levels else "curved"))

    @property
    def several(self) -> bool:
        """Whether one of the tests shows more than one cluster."""
        by_likelihood = self.gain is not None and self.gain > 0.0
        return by_likelihood or (not self.piece and (self.p_value < LEVEL or self.statistic > THRESHOLD))

    def facts(self) -> dict[str, object]:
        """What `resolved_` says of the tests."""
        facts: dict[str, object] = {}
        if not math.isnan(self.p_value):
            facts["projection_p_value"] = round(self.p_value, 4)
        if self.gain is None:
            facts["tree_statistic"] = round(self.statistic, 3)
        else:
            facts["gain_of_clusters"] = round(self.gain, 4)
        if self.piece:
            facts["one_piece"] = self.piece
        return facts


MOST_VALUES = 0.2
"""An attribute counts as stepped if its distinct values are at most this share of the rows: five rows a value."""


def smoothed(X: Array, rng: Rng) -> Array:
    """Rows whose repeated values are spread over the steps between them, which have no modes of their own, (n, d).

    A continuity correction: values of an attribute that repeat move at random by up to half of its step.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> counts = rng.poisson(4.0, 300).astype(float)
    >>> dip_p_value(counts) < 0.01, dip_p_value(smoothed(counts[:, None], rng)[:, 0]) > 0.05
    (True, True)
    """
    X = np.array(X, dtype=np.float64)
    for x in X.T:
        values = np.unique(x)
        if 2 <= len(values) <= MOST_VALUES * len(x):
            step = float(np.quantile(np.diff(values), 0.1))
            x += rng.uniform(-0.5 * step, 0.5 * step, len(x))
    return X


def indicated_levels(X: Array) -> NDArray[np.int32] | None:
    """Levels of the categories of which the attributes of X are indicators, (n, q); None if others are among them.

    Neighbouring attributes of two values, of which each row has exactly one larger one, are one category; any other one
    is a flag.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    if not ((low == X) | (high == X)).all():
        return None
    raised, codes, start = high == X, list[NDArray[np.intp]](), 0
    while start < X.shape[1]:
        sums = np.zeros(len(X), dtype=np.intp)
        stop, end = start, start + 1
        while stop < X.shape[1] and sums.max() <= 1:
            sums += raised[:, stop]
            stop += 1
            if stop - start > 1 and (sums == 1).all():
                end = stop
                break
        codes.append(raised[:, start:end].argmax(axis=1) if end - start > 1 else raised[:, start].astype(np.intp))
        start = end
    return np.column_stack(codes).astype(np.int32)


MOST_LATENT = 4
"""Largest number of clusters whose likelihood stands against that of one."""


LEAST_GAIN = 0.1
"""Gain a row that says nothing of a single number: clusters describe the flanks of a uniform law too."""


def gain_of_clusters(x: Array | None, codes: NDArray[np.int32] | None, rng: Rng) -> float:
    """How much several clusters raise the completed likelihood above that of one, a row.

    Parameters
    ----------
    x : ndarray of shape (n,) or None
        A number, taken as it is, as logarithm or as inverse hyperbolic sine, whichever is the most Gaussian.
    codes : ndarray of shape (n, q) or None
        Levels of categories. A single one says nothing of clusters.
    rng : Generator
    """
    from clusterkit.families.mixtures.mixed_table import MixedTable
    from clusterkit.families.mixtures.search import Search

    if codes is None:
        assert x is not None
        numbers = gaussian_form(x)[:, None]
        codes, grid = np.zeros((len(x), 0), dtype=np.int32), np.zeros(1)
    else:
        numbers, grid = np.zeros((len(codes), 0)), np.zeros(0)
    levels = codes.max(axis=0, initial=0) + 1
    search = Search.of(MixedTable.of(numbers, grid, codes, levels.astype(np.intp)), rng, covariates=False)
    solution, values, *_ = search.unknown(1, MOST_LATENT)
    gain = (max(value for k, value in values.items() if k > 1) - values[1]) / len(codes)
    if x is not None and solution.k > 1:
        changes = int(np.count_nonzero(np.diff(solution.labels[np.argsort(x, kind="stable")])))
        if changes >= solution.k:  # a cluster on both sides of another is the tails of one
            return min(gain, 0.0)
        gain -= LEAST_GAIN
    return gain


SHIFTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Distances below the least value, in standard deviations, from which `gaussian_form` takes logarithms."""


def gaussian_form(x: Array) -> Array:
    """The standardised form of values, (n,), that is most likely under one Gaussian: a skew law is one cluster.

    The forms are the values, logarithms of distances from either end, and inverse hyperbolic sines for heavy tails.
    """
    x = (x - x.mean()) / x.std()
    z = (x - np.median(x)) / (np.median(np.abs(x - np.median(x))) or 1.0)
    forms = [(x, 0.0), (np.arcsinh(z), -0.5 * float(np.log1p(z * z).mean()))]
    for distance in (x - x.min(), x.max() - x):
        forms += [(np.log(distance + shift), -float(np.log(distance + shift).mean())) for shift in SHIFTS]
    best = max(forms, key=lambda form: form[1] - math.log(float(form[0].std())))[0]
    standard: Array = (best - best.mean()) / best.std()
    return standard


NEIGHBORS = 10
"""Neighbours that `geodesic_p_value` goes to from a row. Rings with noise of a tenth of their radius stay closed."""

MOST_SPREAD = 3
"""Largest number of dimensions in which rows are spread out that may be called curved: in more, distances along the
rows differ too little for their modes to be seen."""


def geodesic_p_value(X: Array) -> float:
    """p-value of the dip of the distances along the rows from both ends of the longest way; 0 in over 3 dimensions.

    Ways go from neighbour to neighbour, and over the spanning tree. Along a curve or a rolled sheet of even density the
    distances have one mode. Twice the smaller of the two p-values.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra
    from sklearn.neighbors import NearestNeighbors

    from clusterkit.criteria.likelihood import CompletedLikelihood
    from clusterkit.numerics.spanning_trees.tree import minimum_spanning_tree

    n = len(X)
    if n <= NEIGHBORS or CompletedLikelihood.of(X).dimension > MOST_SPREAD:
        return 0.0
    distances, near = NearestNeighbors(n_neighbors=NEIGHBORS + 1).fit(X).kneighbors(X)
    edges = minimum_spanning_tree(np.ascontiguousarray(X), 1).edges.reshape(-1, 2)
    lengths = np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1)
    low = np.concatenate([np.repeat(np.arange(n), NEIGHBORS), edges[:, 0]])
    high = np.concatenate([near[:, 1:].ravel(), edges[:, 1]])
    least = np.finfo(np.float64).tiny  # equal rows are neighbours too
    graph = csr_array((np.maximum(np.concatenate([distances[:, 1:].ravel(), lengths]), least), (low, high)), (n, n))
    graph = graph.maximum(graph.T)
    one = int(np.argmax(dijkstra(graph, directed=False, indices=0)))
    from_one = dijkstra(graph, directed=False, indices=one)
    from_other = dijkstra(graph, directed=False, indices=int(np.argmax(from_one)))
    return min(1.0, 2.0 * min(dip_p_value(from_one), dip_p_value(from_other)))


def projection_p_value(X: Array, rng: Rng) -> float:
    """p-value of the dip on a direction that other rows chose.

    The rows are divided at random in halves. On each half the direction is chosen along which two clusters of it are
    farthest apart (Fisher), and the other half is projected on it. No projection of a log-concave law has two modes,
    so that the test needs no simulated null in d dimensions. Twice the smaller of both p-values, the median over 3
    divisions.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        At least 4 `LEAST_SIDE` rows, of columns that are not constant.
    rng : Generator
    """
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
