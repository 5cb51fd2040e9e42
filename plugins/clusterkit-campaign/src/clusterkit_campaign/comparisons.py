"""Fast paths against plain references: each comparison draws an input, computes both ways, and compares."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, final

import attrs
import numpy as np

from clusterkit import consensus, metrics
from clusterkit._typing import Array, Labels, Rng
from clusterkit.contracts import Codec, CostTable, Task
from clusterkit.contracts.labelings import Labelings
from clusterkit.contracts.registry import registry
from clusterkit.families.shared.codecs import Argmax
from clusterkit.fitting.label_iterations import balanced_by
from clusterkit.numerics.gaussian_jit import gaussian_block, gaussian_sums
from clusterkit.samples import KernelSpace, Space, build_space
from clusterkit.samples.coding import Coded
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.transform import IdentityMap
from clusterkit_campaign.findings import SILENT, Problem, of_error
from clusterkit_campaign.oracles import (
    balance,
    domains,
    means,
    measures,
    nmf,
    one_class,
    ridge,
)
from clusterkit_campaign.oracles import consensus as plain_consensus

__all__ = ["BATCH", "COMPARISONS", "Comparison", "check_comparison", "comparisons_of"]

BATCH = 24
"""Comparisons of one case, at least."""

SLACK = 1e-9
"""Relative difference that rounding may leave between two ways to compute a number."""

NEAR = 1e-10
"""Distance from a level within which rounding decides, so that the input is no comparison."""


@final
@attrs.frozen(eq=False)
class Comparison:
    """A fast path and its reference.

    Parameters
    ----------
    stage : str
        ``kind:name`` of the stage that it is about; a package where it is about none.
    compare : callable
        Generator of (what, computed, expected, tolerance) for an input that a random generator draws; a tolerance of 0
        asks for equality.
    """

    stage: str
    compare: Callable[[Rng], Iterator[tuple[str, object, object, float]]]


def check_comparison(name: str, counts: Counter[str], seed: int) -> list[tuple[Problem, str]]:
    """A batch of comparisons; the problems with the programs that show them."""
    done, draw, problems = 0, 0, []
    while done < BATCH and draw < 20 * BATCH:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warnings of the references; fits are checked for theirs elsewhere
                for what, computed, expected, tolerance in COMPARISONS[name].compare(
                    np.random.default_rng([seed, draw])
                ):
                    done += 1
                    if not _agree(computed, expected, tolerance):
                        problems.append(
                            (Problem(SILENT, f"{what} differs from the reference", _shown(computed, expected)), draw)
                        )
        except Exception as error:
            problem = of_error(error, documented=())
            problems.append((problem or Problem(SILENT, "a comparison is refused", str(error)), draw))
            done += 1
        draw += 1
    counts["comparisons"] += done
    return [(problem, _program(name, seed, number)) for problem, number in problems]


def _program(name: str, seed: int, draw: int) -> str:
    return (
        "import numpy as np\nfrom clusterkit_campaign.comparisons import COMPARISONS\n"
        f"for answer in COMPARISONS[{name!r}].compare(np.random.default_rng([{seed}, {draw}])):\n"
        "    print(*answer, sep='\\n')"
    )


def comparisons_of(stage: str | None) -> list[str]:
    """Names of the comparisons of a stage ``kind:name``, or of all."""
    return [name for name, each in COMPARISONS.items() if stage in (None, each.stage)]


def _agree(computed: Any, expected: Any, tolerance: float) -> bool:
    one, other = np.asarray(computed), np.asarray(expected)
    if one.shape != other.shape:
        return False
    if tolerance == 0:
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
    return bool(np.allclose(one, other, rtol=SLACK, atol=tolerance, equal_nan=True))


def _shown(computed: Any, expected: Any) -> str:
    return f"{np.asarray(computed)!r} against {np.asarray(expected)!r}"[:600]


def _rows(rng: Rng, most: int = 30) -> Array:
    """Rows with ties, duplicates, constant columns or an offset, as it happens."""
    n, d = int(rng.integers(2, most)), int(rng.integers(1, 5))
    X: Array = rng.standard_normal((n, d))
    kind = int(rng.integers(6))
    if kind == 0:
        X = X[rng.integers(max(1, n // 2), size=n)]
    if kind == 1:
        X = np.round(X)
    if kind == 2:
        X[:, 0] = 1.5
    if kind == 3:
        X = X + 50.0
    if kind == 4:
        X = X * 10.0 ** rng.integers(-4, 5)
    return X


def _labels(rng: Rng, n: int, k: int, least: int = 0) -> Labels:
    labels: Labels = rng.integers(least, k, size=n)
    return labels


def _dense(X: Array) -> Space:
    return build_space(X, IdentityMap(X.shape[1]))


def _agreement(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    n = int(rng.integers(1, 25))
    one, other = _labels(rng, n, 4, -1), _labels(rng, n, int(rng.integers(1, 5)), -1)
    listed = one.tolist(), other.tolist()
    yield "rand_index", metrics.rand_index(one, other), measures.rand_index_by_pairs(*listed), 1e-12
    yield (
        "clustering_accuracy",
        metrics.clustering_accuracy(one, other),
        measures.accuracy_by_enumeration(*listed),
        1e-12,
    )
    yield "purity", metrics.purity(one, other), measures.purity_by_clusters(*listed), 1e-12
    yield "nmi", metrics.nmi(one, other), measures.nmi_by_definition(*listed), 1e-9
    names = rng.permutation(9)
    yield (
        "rand_index of renamed labels",
        metrics.rand_index(names[one + 1], other),
        metrics.rand_index(one, other),
        1e-12,
    )


def _validity(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    X = _rows(rng)
    labels = _labels(rng, len(X), int(rng.integers(1, 5)))
    scale = float(np.abs(X).max()) + 1e-300
    for squared in (False, True):
        expected = measures.compactness_by_pairs(X, labels, squared)
        tolerance = 1e-12 * scale ** (2 if squared else 1)
        yield "compactness", metrics.compactness(X, labels, squared=squared), expected, tolerance


def _density(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    # at least two samples in each of at least two clusters: the definition has no other case
    k = int(rng.integers(2, 4))
    X = rng.standard_normal((int(rng.integers(2 * k, 16)), int(rng.integers(1, 4))))
    labels = rng.permutation(np.arange(len(X)) % k)
    yield "dbcv", metrics.dbcv(X, labels), measures.dbcv(X, labels), 1e-9


def _sums(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    X = _rows(rng, 60)
    gamma = float(10.0 ** rng.uniform(-3, 2) / max(float(X.var()), 1e-300))
    Y = X[rng.permutation(len(X))][: max(1, len(X) // 2)]
    weights = rng.standard_normal(len(X))
    # the squares of differences lose digits to the offset of the rows
    lost = 1e-13 * gamma * float(np.square(X).sum(axis=1).max()) + 1e-12
    tolerance = min(1.0, lost) * np.abs(weights).sum()
    yield (
        "a Gaussian kernel sum",
        gaussian_sums(Y, X, weights, gamma),
        domains.kernel_sum(Y, X, weights, gamma),
        tolerance,
    )
    yield "a Gaussian kernel", gaussian_block(X, X, gamma), one_class.gram(X, gamma), min(1.0, lost)


def _ridge(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    n, width, k = int(rng.integers(2, 40)), int(rng.integers(1, 40)), int(rng.integers(2, 5))
    H, labels, C = rng.uniform(size=(n, width)), _labels(rng, n, k), float(10.0 ** rng.uniform(-2, 2))
    codec: Codec = Argmax()
    T = codec.codebook(k)[labels]
    prepared = registry.get("solver", "ridge")().with_parameters(C=C).prepare(_dense(H), Task(n, k), rng)
    outcome: Any = prepared.solve(codec.encode(labels, k), None, rng)
    B = ridge.primal(H, T, C)
    size = float(np.abs(H @ B).max())
    yield "the primal ridge scores", outcome.rows, H @ B, 1e-7 * size
    yield "the dual ridge scores", outcome.rows, H @ ridge.dual(H, T, C), 1e-7 * size
    objective: Any = prepared.objective(codec.encode(labels, k), outcome)
    yield "the ridge objective", objective[0], ridge.objective(H, B, T, C), 1e-9


def _solve_once(space: Space, labels: Labels, k: int, rng: Rng) -> tuple[Any, Any, Array]:
    prepared: Any = registry.get("solver", "centroids")().prepare(space, Task(space.n, k), rng)
    coded: Coded = Argmax().encode(labels, k)
    outcome = prepared.solve(coded, None, rng)
    return outcome, prepared.objective(coded, outcome), prepared.geometry.noise


def _centroids(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    X = rng.standard_normal((int(rng.integers(3, 40)), int(rng.integers(1, 6)))) * 10.0 ** int(rng.integers(-3, 4))
    k = int(rng.integers(2, min(len(X), 6)))
    labels = _labels(rng, len(X), k)
    outcome, value, noise = _solve_once(_dense(X), labels, k, rng)
    D = means.distances(X, labels, k, noise)
    size = float(np.square(X).sum(axis=1).max() + D.max())
    yield "a distance to a centroid", -outcome.rows, D, 1e-12 * size
    yield "the k-means objective", value[0], means.objective(X, labels), 1e-12 * len(X) * size
    kernel = KernelSpace(X, Gaussian(float(rng.uniform(0.05, 0.5) / X.var())))
    outcome, value, noise = _solve_once(kernel, labels, k, rng)
    yield "a distance in kernel space", -outcome.rows, means.kernel_distances(kernel.gram(), labels, k, noise), 1e-12
    yield "the kernel k-means objective", value[0], means.kernel_objective(kernel.gram(), labels), 1e-11


def _fuzzy(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    from clusterkit.families.means.fuzzy_cmeans import memberships

    D = 10.0 ** rng.uniform(-6, 6, size=(int(rng.integers(1, 9)), int(rng.integers(2, 5))))
    D[rng.random(D.shape) < 0.1] = 0.0
    phi = float(rng.choice([1.2, 1.5, 2.0, 2.5, 4.0]))
    yield "a degree of membership", memberships(D, phi), means.memberships(D, phi), 1e-13


def _nmf(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    n, d, k, seed = int(rng.integers(2, 30)), int(rng.integers(1, 10)), int(rng.integers(1, 5)), int(rng.integers(99))
    X = rng.random((n, d)) + 1e-3
    solver = registry.get("solver", "nmf")().with_parameters(max_iter=6, tol=0.0, delta=1e-12)
    outcome: Any = solver.prepare(_dense(X), Task(n, k), rng).solve(None, None, np.random.default_rng(seed))
    first: Any = nmf.start(X.T, k, np.random.default_rng(seed))
    W, B, history = nmf.iterate(X.T, first[0], first[1], 6, 1e-12 * X.mean())
    yield "a factor of the samples", outcome.rows, B.T, 1e-7 * float(B.max())
    yield "a factor of the columns", outcome.extend.basis, W, 1e-7 * float(W.max())
    yield "the history of NMF", outcome.status.history, history, 1e-9 * float(np.square(X).sum())


def _costs(rng: Rng, most: int, k: int) -> Array:
    costs: Array = rng.standard_normal((int(rng.integers(1, most)), k)) + 0.8 * rng.standard_normal(k)
    return np.round(costs * 2) / 2 if rng.random() < 0.5 else costs


def _transport(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    k = int(rng.integers(1, 5))
    costs = _costs(rng, 30, k)
    n = len(costs)
    low, high = int(rng.integers(0, n // k + 1)), int(rng.integers(-(-n // k), n + 1))
    stage = registry.get("balancer", "transport")().with_parameters(size_min=low, size_max=high)
    table = CostTable(costs)
    labels = balanced_by(stage, table, Task(n, k)).labels_of(table)
    best = balance.linear_program(costs, np.full(k, low), np.full(k, high))
    yield "the cost of a transport", costs[np.arange(n), labels].sum(), best, 1e-8
    sizes = np.bincount(labels, minlength=k)
    yield "the sizes of a transport", bool(((sizes >= low) & (sizes <= high)).all()), True, 0.0


def _band(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    n, slack = int(rng.integers(2, 10)), int(rng.integers(0, 4))
    f = rng.standard_normal(n)
    costs = np.column_stack([f, -f])
    stage = registry.get("balancer", "band")().with_parameters(slack=slack)
    table = CostTable(costs)
    labels = balanced_by(stage, table, Task(n, 2)).labels_of(table)
    slack = max(slack, n % 2)
    yield "the cost of a balance of two", costs[np.arange(n), labels].sum(), balance.optimum(costs, slack), 1e-9


def _consensus(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    n, members, k = int(rng.integers(2, 14)), int(rng.integers(2, 6)), int(rng.integers(1, 5))
    truth = rng.integers(k, size=n)
    table = np.where(rng.random((members, n)) < rng.choice([0.1, 0.4, 1.0]), rng.integers(k, size=(members, n)), truth)
    if Labelings.of(table).unanimous:
        return
    listed, relaxation = table.tolist(), float(rng.choice([0.0, 0.25, 0.5, 1.0]))
    yield (
        "comusa",
        consensus.comusa(table, relaxation=relaxation),
        plain_consensus.comusa(listed, relaxation, "unvisited"),
        0.0,
    )
    yield (
        "comusacl",
        consensus.comusacl(table, relaxation=relaxation),
        plain_consensus.comusacl(listed, relaxation),
        0.0,
    )
    yield "diclens", consensus.diclens(table), plain_consensus.diclens(listed), 0.0
    renamed = (table + 1) * 7 % 11
    yield "diclens of renamed labels", consensus.diclens(renamed), consensus.diclens(table), 0.0


def _domain(rng: Rng) -> tuple[Array, float, float, Any, Any]:
    n, d = int(rng.integers(1, 13)), int(rng.integers(1, 4))
    X: Array = rng.uniform(-3, 3, size=(n, d)).astype(np.float16).astype(np.float64)
    if rng.random() < 0.3:
        X = X[rng.integers(max(1, n // 2), size=n)]
    gamma = float(rng.choice([1e-6, 0.03, 0.3, 1.0, 4.0, 1e4]))
    nu = float(rng.uniform(1.0 / n, 1.0))
    prepared: Any = (
        registry.get("solver", "svdd")()
        .with_parameters(nu=nu, tol=1e-8)
        .prepare(KernelSpace(X, Gaussian(gamma)), Task(n, None), rng)
    )
    return X, gamma, nu, prepared, prepared.solve(None, None, rng)


def _svdd(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    X, gamma, nu, prepared, _ = _domain(rng)
    solution = prepared.minimise()
    bounds = np.full(len(X), min(1.0, 1.0 / (nu * len(X))))
    yield "the sum of the multipliers", solution.beta.sum(), 1.0, 1e-12 * len(X)
    yield "the violation of the dual", one_class.gap(one_class.gram(X, gamma), solution.beta, bounds), 0.0, 1e-7


def _complete_graph(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    X, gamma, _, _, domain = _domain(rng)
    m, outliers = int(rng.choice([1, 4, 20])), str(rng.choice(["noise", "nearest", "singleton"]))
    expected, margin = domains.complete_graph(domain.value, domain.level, X, m, outliers)
    if margin <= NEAR:
        return
    stage = registry.get("labeler", "complete_graph")().with_parameters(n_segment_points=m, outliers=outliers)
    labeling = stage.label(domain, KernelSpace(X, Gaussian(gamma)), Task(len(X), None), rng)
    yield "a complete graph labelling", labeling.labels, expected, 0.0


def _codecs(rng: Rng) -> Iterator[tuple[str, Any, Any, float]]:
    k = int(rng.integers(2, 6))
    n = int(rng.integers(1, 30))
    labels = _labels(rng, n, k)
    for name in ("argmax", "interval"):
        codec: Any = registry.get("labeler", name)()
        targets = codec.codebook(k)[labels]
        yield f"{name} of its own targets", codec.decode(targets, k), labels, 0.0
        rows = np.round(rng.standard_normal((n, targets.shape[1])), 1)
        distances = np.square(rows[:, None, :] - codec.codebook(k)[None]).sum(axis=2)
        if name == "argmax":
            yield "the label of the largest score", codec.decode(rows, k), rows.argmax(axis=1), 0.0
        else:
            clear = np.diff(np.sort(distances, axis=1)[:, :2], axis=1)[:, 0] > NEAR
            yield "the nearest code", codec.decode(rows, k)[clear], distances.argmin(axis=1)[clear], 0.0


COMPARISONS: Mapping[str, Comparison] = {
    "agreement of two labellings": Comparison("metrics", _agreement),
    "compactness": Comparison("metrics", _validity),
    "density": Comparison("metrics", _density),
    "Gaussian kernels": Comparison("featuremap:rbf", _sums),
    "ridge regression": Comparison("solver:ridge", _ridge),
    "k-means": Comparison("solver:centroids", _centroids),
    "fuzzy c-means": Comparison("solver:fuzzy_cmeans", _fuzzy),
    "NMF": Comparison("solver:nmf", _nmf),
    "transport": Comparison("balancer:transport", _transport),
    "band": Comparison("balancer:band", _band),
    "consensus": Comparison("consensus:diclens", _consensus),
    "smallest sphere": Comparison("solver:svdd", _svdd),
    "complete graph": Comparison("labeler:complete_graph", _complete_graph),
    "codecs": Comparison("labeler:argmax", _codecs),
}
"""The comparisons by name."""
