"""Support vector clustering end to end (fit and exact complete graph) against scikit-learn's HDBSCAN.

Both sides on the same rows in one process, compile time excluded. Run it as ``support_vector.py [part …]``
with parts of: moons, shuttle, plain, sgd, growth, table. The part "own", which runs by name only, has the library's own
hdbscan on the rows of the first two.
"""

import sys
import time

import machine
import numpy as np
from clusterkit_papers.datasets import DatasetNotFound, load
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from clusterkit import Pipeline
from clusterkit.contracts import Task

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
    from clusterkit.contracts import Task

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
    from clusterkit import recipe

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
    from clusterkit.contracts import Task

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
    from clusterkit import recipe

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


PARTS = {
    "moons": against_hdbscan,
    "shuttle": on_shuttle,
    "plain": plain,
    "sgd": sgd,
    "growth": growth,
    "table": table,
}
"""What runs by default."""


def main(names):
    print(machine.describe())
    X, _ = moons(4_000)
    for part in (X, X[:800], np.hstack([X, X[:, :1] * X[:, 1:]])):  # compile
        svc(part, 8).fit(part)
        svc(part, 100).fit(part)
    hdbscan(X[:1000])
    if names != ["own"]:
        print(HEAD)
    for name in names or PARTS:
        try:
            {**PARTS, "own": of_library}[name]()
        except DatasetNotFound as error:
            print(f"{name}: skipped, {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main(sys.argv[1:])
