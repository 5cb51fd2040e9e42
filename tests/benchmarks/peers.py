"""The library against other programs on the same problems, both sides in one process, compile time excluded.

    uv run python tests/benchmarks/peers.py [PART ...] [--repeats 3]

- ``svdd``: the sphere against LIBSVM's one-class machine, the same problem and the same gap, on two moons (d = 2) and
  five Gaussian blobs (d = 16); ``qm`` means ``gamma = qm / (d var(X))``. LIBSVM runs with tol 1e-3 (1e-5 for nu = 1/n)
  and a cache of 200 MB. Its tol on the gradient is a gap of ``2 C tol`` in squared radii, which svdd gets as its tol; a
  second run has svdd's default.
- ``svc``: support vector clustering (fit and exact complete graph) against scikit-learn's HDBSCAN; in parts ``moons``,
  ``shuttle``, ``plain``, ``sgd``, ``growth``, ``table``.
- ``hdbscan``: the library's own on the rows of ``moons`` and ``shuttle``.
- ``nmf``: factors against scikit-learn's from the same start; time of equal updates, and to the error of its "cd".
  Threads are those of BLAS and of clusterkit alike.
"""

import argparse
import os
import statistics
import time
import warnings
from typing import Any

import machine
import numpy as np
import scipy.sparse
from clusterkit_papers.datasets import DatasetNotFound, load
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_moons
from sklearn.decomposition import non_negative_factorization
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.svm import OneClassSVM
from threadpoolctl import threadpool_limits

from clusterkit import Pipeline, recipe
from clusterkit.contracts import Task
from clusterkit.families.factors.nmf import Nmf
from clusterkit.families.shared.elm import Elm
from clusterkit.families.support_vectors.svdd import Svdd
from clusterkit.numerics.gaussian_jit import gaussian_sums
from clusterkit.numerics.sparse_rows import SparseRows
from clusterkit.numerics.threads import available
from clusterkit.samples import KernelSpace, build_space
from clusterkit.samples.kernels import Gaussian
from clusterkit.samples.limits import listening
from clusterkit.samples.transform import IdentityMap

NU = 0.05
HEAD = f"{'data':<28}{'n':>8}{'d':>4}{'qm':>5}{'fit s':>8}{'label s':>8}{'all s':>8}{'HDBSCAN s':>10}{'ratio':>7}"
HEAD += f"{'n_sv':>7}{'clusters':>9}{'noise':>7}{'ARI':>7}{'ARI HDB':>9}"


def svc(X, qm, **labeler):
    gamma = qm / (X.shape[1] * X.var())
    return Pipeline(
        featuremap={"name": "rbf", "gamma": gamma},
        solver={"name": "svdd", "nu": NU},
        labeler={"name": "complete_graph", **labeler},
    )


def timed(function, repeats):
    """The shortest of some runs, of one run if it takes longer than 5 s, and the last answer."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        answer = function()
        best = min(best, time.perf_counter() - start)
        if best > 5.0:
            break
    return best, answer


def hdbscan(X, repeats=1):
    return timed(lambda: HDBSCAN(min_cluster_size=50, copy=False).fit(X), repeats)


def line(name, X, y, qm, peer, repeats=3, min_cluster_size=50):
    model = svc(X, qm, outliers="nearest", min_cluster_size=min_cluster_size)
    seconds, fitted = timed(lambda: model.fit(X), repeats)
    # the two parts on their own: how the whole divides
    space = model.composition().featuremap.space_of(X, Task(len(X), None), np.random.default_rng(0))
    train, _ = timed(lambda: solved(model, space), repeats)
    labels = fitted.labels_
    noise = Pipeline(**svc(X, qm).get_params(deep=False)).fit(X).labels_
    n_support = fitted.outcome_.support_counts.n_support
    peer_seconds, peer_labels = peer
    row = f"{name:<28}{len(X):>8}{X.shape[1]:>4}{qm:>5}{train:>8.2f}{seconds - train:>8.2f}{seconds:>8.2f}"
    row += f"{peer_seconds:>10.2f}{peer_seconds / seconds:>7.2f}{n_support:>7}{labels.max() + 1:>9}"
    row += f"{np.mean(noise < 0):>7.3f}"
    if y is not None:
        row += f"{adjusted_rand_score(y, labels):>7.3f}{adjusted_rand_score(y, peer_labels):>9.3f}"
    print(row, flush=True)


def solved(model, space):
    rng = np.random.default_rng(0)
    return model.composition().solver.prepare(space, Task(space.n, None), rng).solve(None, None, rng)


def moons(n, seed=0):
    return make_moons(n, noise=0.06, random_state=seed)


def shuttle(scale):
    data = load("shuttle")
    X, y = data.data[:43_500], data.target[:43_500]
    if scale == "minmax":
        return (X - X.min(axis=0)) / np.ptp(X, axis=0), y
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def against_hdbscan():
    for n in (20_000, 50_000):
        X, y = moons(n)
        seconds, peer = hdbscan(X, 2)
        for qm in (1, 8, 32):
            line("moons .06", X, y, qm, (seconds, peer.labels_))


def of_library():
    """Processor time of the library's own hdbscan on rows of `against_hdbscan` and `on_shuttle`."""

    def processor(fit, repeats):
        starts = [time.process_time()]
        for _ in range(repeats):
            fitted = fit()
            starts.append(time.process_time())
        return min(np.diff(starts)), fitted.labels_

    model = recipe("hdbscan", labeler__min_cluster_size=50, solver__n_neighbors=50)  # as scikit-learn's counts them
    peer = HDBSCAN(min_cluster_size=50, copy=False)
    sets = [(f"moons .06, {n:,} rows", *moons(n)) for n in (20_000, 50_000)]
    sets += [(f"shuttle {scale}", *shuttle(scale)) for scale in ("minmax", "zscore")]
    for place in (0, 2):
        model.fit(sets[place][1][:2000])
    for name, X, y in sets:
        seconds, labels = processor(lambda: model.fit(X), 3)  # noqa: B023
        line = f"{name:<24} hdbscan {seconds:6.2f} s of the processor, ARI {adjusted_rand_score(y, labels):.3f}"
        if name.startswith("moons"):
            seconds, others = processor(lambda: peer.fit(X), 1)  # noqa: B023
            line += f"; scikit-learn's {seconds:6.2f} s, with it {adjusted_rand_score(others, labels):.3f}"
        print(line, flush=True)


def on_shuttle():
    for scale, widths in (("minmax", (1, 4, 16)), ("zscore", (16, 4, 1))):
        X, y = shuttle(scale)
        seconds, peer = hdbscan(X)
        for qm in widths:
            line(f"shuttle {scale}", X, y, qm, (seconds, peer.labels_), repeats=2)


def table():
    sets = []
    for name in ("d31", "abalone", "musk2"):
        data = load(name)
        X = data.data[:, np.ptp(data.data, axis=0) > 0]
        sets.append((f"{name} zscore", (X - X.mean(axis=0)) / X.std(axis=0), data.target))
    for n in (5_000, 20_000):
        X, y = make_blobs(n, 16, centers=5, random_state=0)
        sets.append(("five blobs", X, y))
    for name, X, y in sets:
        seconds, peer = hdbscan(X)
        for qm in (4, 16, 64):
            line(name, X, y, qm, (seconds, peer.labels_), repeats=1)


def plain():
    """The all pairs version, compiled as well: every pair whose ends are not joined yet, every sample."""
    X, _ = moons(2_000)
    for qm in (1, 8):
        model = svc(X, qm).fit(X)
        space, domain = model.space_, model.outcome_
        labeler = model.composition().labeler
        fast, labeling = timed(lambda: labeler.label(domain, space, Task(len(X), None), np.random.default_rng(0)), 5)  # noqa: B023
        slow, labels = timed(lambda: all_pairs(X, domain), 1)  # noqa: B023
        same = adjusted_rand_score(labeling.labels, labels)
        print(f"moons 2,000 qm {qm}: complete graph {fast:.4f} s, all pairs {slow:.2f} s, ratio {slow / fast:.0f}, "
              f"agreement {same}", flush=True)  # fmt: skip


def all_pairs(X, domain, n_segment_points=20):
    """Components by the definition, in numpy: row i against all before it, sample by sample."""
    inside = np.flatnonzero(domain.value(X) >= domain.level)
    P = X[inside]
    part = np.arange(len(P))
    for i in range(1, len(P)):
        alive = np.arange(i)
        for k in range(1, n_segment_points + 1):
            Y = P[alive] + k / (n_segment_points + 1) * (P[i] - P[alive])
            alive = alive[domain.value(Y) >= domain.level] if len(alive) else alive
        part[np.isin(part, part[alive])] = part[i]
    labels = np.full(len(X), -1)
    labels[inside] = part
    return labels


def sgd():
    X, y = shuttle("zscore")
    seconds, peer = hdbscan(X)
    model = recipe("sgd-lmsvc", featuremap__gamma=0.5, solver__C=8.0, random_state=0)
    model.fit(X[:500])
    ours, fitted = timed(lambda: model.fit(X), 2)
    print(f"sgd-lmsvc shuttle zscore, C 8, gamma 0.5, start all: {ours:.2f} s, HDBSCAN {seconds:.2f} s, ratio "
          f"{seconds / ours:.2f}, clusters {fitted.labels_.max() + 1}, "
          f"ARI {adjusted_rand_score(y, fitted.labels_):.3f} ({adjusted_rand_score(y, peer.labels_):.3f})")  # fmt: skip


def growth():
    """Seconds and peak memory for n up to 100,000, also as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    sizes, ours, theirs = [2_000, 5_000, 10_000, 20_000, 50_000, 100_000], [], []
    for n in sizes:
        X, y = moons(n)
        machine.reset_peak()
        seconds, fitted = timed(lambda: svc(X, 8, outliers="nearest", min_cluster_size=50).fit(X), 2)  # noqa: B023
        memory = machine.peak() / 2**30
        peer = hdbscan(X)[0] if n <= 50_000 else np.nan
        ours.append(seconds)
        theirs.append(peer)
        print(f"moons qm 8 n {n:>7}: {seconds:.3f} s, HDBSCAN {peer:.2f} s, peak {memory:.2f} GiB, "
              f"ARI {adjusted_rand_score(y, fitted.labels_):.3f}", flush=True)  # fmt: skip
    figure, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
    ax.loglog(sizes, ours, "o-", label="clusterkit svc, exact complete graph")
    ax.loglog(sizes, theirs, "s--", label="scikit-learn HDBSCAN")
    ax.set(xlabel="samples", ylabel="seconds", title="two moons, two attributes")
    ax.legend()
    figure.savefig("docs/images/svc-growth.png", dpi=150)


# n: (d, nu, qm), nu = 0 for 1 / n
GRID = {
    5_000: [(2, 0.05, 1), (2, 0, 4), (2, 0.05, 8), (16, 0.05, 1), (16, 0.01, 1), (16, 0, 4)],
    20_000: [(2, 0.05, 1), (2, 0, 4), (2, 0.05, 8), (16, 0.05, 1), (16, 0, 4), (16, 0.05, 8)],
    50_000: [
        (2, 0.05, 1), (2, 0.01, 1), (2, 0, 4), (2, 0.05, 8),
        (16, 0.05, 1), (16, 0.01, 1), (16, 0, 4), (16, 0.05, 8),
    ],
}  # fmt: skip


def points(n: int, d: int) -> np.ndarray:
    """The points of a cell."""
    if d == 2:
        return make_moons(n, noise=0.06, random_state=0)[0]
    return make_blobs(n, n_features=d, centers=5, random_state=0)[0]


def length2(X: np.ndarray, index: np.ndarray, weights: np.ndarray, gamma: float) -> float:
    """``β'Kβ`` of weights with sum 1."""
    weights = weights / weights.sum()
    return float(weights @ gaussian_sums(X[index], X[index], weights, gamma))


def libsvm(X: np.ndarray, gamma: float, **parameters):
    """LIBSVM's machine, fitted."""
    return OneClassSVM(gamma=gamma, cache_size=200, **parameters).fit(X)


def solve(X: np.ndarray, gamma: float, **parameters):
    """Prepared and outcome of one fit."""
    prepared = Svdd(**parameters).prepare(KernelSpace(X, Gaussian(gamma)), Task(len(X), None), np.random.default_rng(0))
    return prepared.solve(None, None, np.random.default_rng(0))


def svdd(repeats: int) -> None:
    """Print the grid."""
    print(f"kernel sums on {available()} threads")
    solve(points(3000, 2), 1.0, nu=0.1)  # compiles
    for n, cells in GRID.items():
        ratios, defaults = [], []
        for d, fraction, qm in cells:
            X = points(n, d)
            gamma, nu, tol = qm / (d * X.var()), fraction or 1 / n, 1e-3 if fraction else 1e-5
            gap = 2 * tol / (n * nu)
            ours, outcome = timed(lambda: solve(X, gamma, nu=nu, tol=gap), repeats)  # noqa: B023
            default, _ = timed(lambda: solve(X, gamma, nu=nu), repeats)  # noqa: B023
            theirs, peer = timed(lambda: libsvm(X, gamma, nu=nu, tol=tol), 1 if n > 20_000 else repeats)  # noqa: B023
            objective = length2(X, peer.support_, peer.dual_coef_[0], gamma)
            reached = float(outcome.weights @ outcome.value(outcome.centres))
            ratios.append(theirs / ours)
            defaults.append(theirs / default)
            print(
                f"n {n:6d} d {d:2d} nu {fraction or '1/n':>4} qm {qm}: LIBSVM {theirs:7.3f} s, svdd {ours:6.3f} s "
                f"(gap {gap:.1e}), ratio {ratios[-1]:5.1f}; at 1e-6 {default:6.3f} s ({defaults[-1]:5.1f}); "
                f"{outcome.support_counts.n_support} support vectors, {outcome.status.n_iter} pairs, "
                f"{outcome.status.facts['rounds']} rounds; objective {reached:.9g} against {objective:.9g} "
                f"({(reached - objective) / objective:+.1e}){'' if outcome.status.converged else ' NOT CONVERGED'}",
                flush=True,
            )
        print(
            f"n {n}: geometric mean {statistics.geometric_mean(ratios):.1f}, least {min(ratios):.1f}; at 1e-6 "
            f"{statistics.geometric_mean(defaults):.1f}, least {min(defaults):.1f}",
            flush=True,
        )


def planted(n: int, width: int, k: int, noise: float = 0.05) -> np.ndarray:
    """Products of uneven factors and noise."""
    rng = np.random.default_rng(0)
    return rng.random((n, k)) ** 3 @ rng.random((k, width)) ** 3 + noise * rng.random((n, width))


def ours(X: Any, k: int, update: str, max_iter: int) -> tuple[float, float, tuple[float, ...], list[float]]:
    """Seconds, final F, F and seconds after every iteration."""
    points = SparseRows.of(X) if scipy.sparse.issparse(X) else X
    space = build_space(points, IdentityMap(X.shape[1]))
    prepared = Nmf(update=update, max_iter=max_iter, tol=0).prepare(space, Task(len(points), k), None)
    times: list[float] = []
    with listening(lambda report: times.append(time.perf_counter())):
        begin = time.perf_counter()
        outcome = prepared.solve(None, None, np.random.default_rng(1))
        seconds = time.perf_counter() - begin
    history = outcome.status.history
    return seconds, history[-1], history, [moment - begin for moment in times]


def theirs(X: Any, k: int, solver: str, max_iter: int, tol: float) -> tuple[float, float, int]:
    """Seconds, final F and iterations from the start that `ours` draws."""
    rng = np.random.default_rng(1)
    scale = np.sqrt(X.mean() / k)
    A, W = ((1.0 - rng.random((rows, k))) * scale for rows in X.shape)
    options: dict[str, Any] = {"init": "custom", "n_components": k, "solver": solver, "max_iter": max_iter, "tol": tol}
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        A, H, iterations = non_negative_factorization(X, W=A, H=np.ascontiguousarray(W.T), **options)
    seconds = time.perf_counter() - begin
    norm = float(X.multiply(X).sum()) if scipy.sparse.issparse(X) else float(np.vdot(X, X))
    error = 0.5 * (norm - 2.0 * np.vdot(X.T @ A, H.T) + np.vdot(A.T @ A, H @ H.T))
    return seconds, error, iterations


def mu(title: str, X: Any, k: int, iterations: int, threads: list[int], repeats: int) -> None:
    """Equal updates from the same start."""
    print(f"{title}: {X.shape[0]:,} x {X.shape[1]:,}, k = {k}, {iterations} multiplicative updates")
    best: dict[tuple[str, int], tuple[Any, ...]] = {}
    for _ in range(repeats):
        for count in threads:
            with set_threads(count):
                for side, run in (
                    ("clusterkit", lambda: ours(X, k, "multiplicative", iterations)),
                    ("scikit-learn", lambda: theirs(X, k, "mu", iterations, 0.0)),
                ):
                    timing = run()
                    if (side, count) not in best or timing[0] < best[side, count][0]:
                        best[side, count] = timing
    for (side, count), timing in sorted(best.items()):
        print(f"  {side}, {count} thread(s): {timing[0]:.3f} s, F = {timing[1]:.8g}")
    fastest = {side: min(timing[0] for (name, _), timing in best.items() if name == side) for side, _ in best}
    values = [timing[1] for timing in best.values()]
    print(
        f"  best of each: {fastest['scikit-learn'] / fastest['clusterkit']:.2f} times faster; "
        f"objectives differ by {np.ptp(values) / max(values):.1e} relative"
    )


def hals(title: str, X: Any, k: int, iterations: int, threads: list[int], repeats: int) -> None:
    """Time to the error at which scikit-learn's coordinate descent stops (tol = 1e-4, at most `iterations`)."""
    print(f"{title}: {X.shape[0]:,} x {X.shape[1]:,}, k = {k}, coordinate descent, scikit-learn's tol = 1e-4")
    for count in threads:
        pairs = []
        with set_threads(count):
            for _ in range(repeats):
                cd = theirs(X, k, "cd", iterations, 1e-4)
                pairs.append((cd, ours(X, k, "hals", cd[2])))
        cd = min((pair[0] for pair in pairs), key=lambda timing: timing[0])
        reached = [int(np.argmax(np.array(run[2]) <= cd[1])) if run[1] <= cd[1] else -1 for _, run in pairs]
        print(f"  {count} thread(s), cd: {cd[0]:.3f} s, {cd[2]} iterations, F = {cd[1]:.8g}")
        if reached[0] < 0:
            print(f"  hals: F = {pairs[0][1][1]:.8g} after as many iterations: NOT reached")
            continue
        seconds = min(run[3][index] for (_, run), index in zip(pairs, reached, strict=True))
        run = min((pair[1] for pair in pairs), key=lambda timing: timing[0])
        print(
            f"  {count} thread(s), hals: that F in {seconds:.3f} s, {reached[0] + 1} iterations "
            f"({cd[0] / seconds:.1f} times faster); as many iterations as cd: {run[0]:.3f} s, F = {run[1]:.8g}"
        )
        marks = [iteration for iteration in (1, 3, 10, 30, 100) if iteration <= len(run[2])]
        print(
            "    F over time:",
            ", ".join(f"{run[2][iteration - 1]:.6g} at {run[3][iteration - 1]:.3f} s" for iteration in marks),
        )


class set_threads:
    """BLAS, OpenMP and clusterkit's own threads."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __enter__(self) -> None:
        os.environ["OMP_NUM_THREADS"] = str(self.count)
        self.limits = threadpool_limits(self.count)

    def __exit__(self, *error: object) -> None:
        self.limits.restore_original_limits()


def nmf(repeats: int) -> None:
    """Print times, errors and ratios."""
    run = ([1, 2], repeats)
    ours(planted(600, 20, 2), 2, "hals", 2)  # compile
    mu("dense", planted(10_000, 500, 10), 10, 200, *run)
    hals("dense, planted", planted(10_000, 500, 10), 10, 200, *run)
    hals("dense, noise", np.random.default_rng(0).random((5_000, 300)), 10, 200, *run)
    X = scipy.sparse.random_array((20_000, 5_000), density=0.01, format="csr", rng=np.random.default_rng(0))
    mu("sparse, 1 % filled", X, 10, 50, *run)
    hals("sparse, 1 % filled", X, 10, 50, *run)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 60)) + 2.0 * rng.normal(size=(6, 60))[rng.integers(6, size=2_000)]
    X = 2.0 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1.0
    elm = Elm(n_hidden=1000, centers="uniform", width=1.0)
    features = elm.space_of(X, Task(len(X), None), np.random.default_rng(1)).rows()
    mu("ELM features", features, 6, 200, *run)
    hals("ELM features", features, 6, 200, *run)


def svc_compiled(*parts):
    """Some parts of the comparison with HDBSCAN, after all functions were compiled."""
    X, _ = moons(4_000)
    for part in (X, X[:800], np.hstack([X, X[:, :1] * X[:, 1:]])):
        svc(part, 8).fit(part)
        svc(part, 100).fit(part)
    hdbscan(X[:1000])
    print(HEAD)
    for part in parts:
        try:
            part()
        except DatasetNotFound as error:
            print(f"{part.__name__}: skipped, {str(error).splitlines()[0]}")


OF_SVC = {
    "moons": against_hdbscan,
    "shuttle": on_shuttle,
    "plain": plain,
    "sgd": sgd,
    "growth": growth,
    "table": table,
    "hdbscan": of_library,
}


def main() -> None:
    """Run the parts that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=["svdd", "svc", "nmf", *OF_SVC])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(machine.describe(), f"load {os.getloadavg()[0]:.1f}", sep="; ")
    for part in options.parts or ["svdd", "svc", "hdbscan", "nmf"]:
        if part in ("svdd", "nmf"):
            {"svdd": svdd, "nmf": nmf}[part](options.repeats)
        else:
            svc_compiled(*([*OF_SVC.values()][:-1] if part == "svc" else [OF_SVC[part]]))


if __name__ == "__main__":
    main()
