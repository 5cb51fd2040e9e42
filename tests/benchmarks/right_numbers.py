"""How often the number of clusters is right on generated sets: recipe `auto`, silhouette, gap statistic and BIC.

    python tests/benchmarks/right_numbers.py auto|peers|both [--sets 200] [--first 2000] [--family blobs ...]

Five families: blobs in 2 to 50 attributes, moons, rings and bars, and hooks, on which nothing was ever chosen; two to
ten clusters, sizes to 1:10, spreads of the blobs to 1:4, 250 to 1,000 rows, and a quarter of the sets with a tenth of
background rows. Half of the sets are blobs; a line gives all families equal weight. The rule of
`clusterkit.criteria.rules` was chosen on seeds below 1,100 and without hooks.

Beside the number that `auto` chooses stand the adjusted Rand index of its labels, that of the best of its candidates
with the right number ("pool": from .9 on a set counts as one that the choice could have got right), and as peers
the numbers by the silhouette of k-means, by the gap statistic of k-means against four uniform references (Tibshirani,
Walther, Hastie 2001), and by the BIC of mixtures of Gaussians. Rows of class -1 are background and are not scored.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from auto import generated, score
from scipy.spatial import cKDTree

from clusterkit import Auto
from clusterkit.drivers import auto

ROWS = (250, 1000)
MOST = 20
"""Numbers of clusters that the peers try: 1 or 2 to 20."""
FOUND = 0.9
PEERS = ("silhouette", "gap", "BIC")


def hooks(seed):
    """Two to eight bent bars of any direction that do not touch: a family of its own."""
    rng = np.random.default_rng([seed, 29])
    k = int(rng.integers(2, 9))
    shares = np.exp(rng.uniform(np.log(0.1), 0, k))
    total = rng.integers(*ROWS, endpoint=True)
    sizes = np.maximum(25, np.round(total * shares / shares.sum())).astype(int)
    parts, side = [], 2.0 * np.sqrt(k)
    for size in sizes:
        arms = rng.uniform(1.5, 3.5, 2)
        along = rng.uniform(0, arms.sum(), size)
        bend, turn = rng.uniform(np.pi / 3, 2 * np.pi / 3), rng.uniform(0, 2 * np.pi)
        first = np.stack([arms[0] - along, 0 * along], 1)
        second = (along - arms[0])[:, None] * np.array([np.cos(bend), np.sin(bend)])
        hook = np.where((along < arms[0])[:, None], first, second)
        hook = hook @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        hook = hook + rng.uniform(0.06, 0.15) * rng.standard_normal((size, 2))
        while True:
            placed = hook + rng.uniform(-side, side, 2)
            if not parts or cKDTree(np.concatenate(parts)).query(placed)[0].min() > 0.8:
                break
            side *= 1.02
        parts.append(placed)
    X, y = np.concatenate(parts), np.repeat(np.arange(k), sizes)
    if rng.random() < 0.25:
        noise = rng.uniform(X.min(axis=0), X.max(axis=0), (len(X) // 10, 2))
        X, y = np.concatenate([X, noise]), np.concatenate([y, np.full(len(noise), -1)])
    return "hooks", X, y


def sets_of(count, first):
    """The sets: of eight, four are blobs, and one each moons, rings, bars and hooks."""
    for place in range(count):
        turn, family = divmod(place, 8)
        if family == 7:
            yield hooks(first + turn)
        elif family < 4:
            yield generated(first + 4 * (4 * turn + family), ROWS)
        else:
            yield generated(first + 4 * turn + family - 3, ROWS)


def choose(X, y):
    """The number that `auto` chooses, the index of its labels, and of the best candidate with the right number."""
    heard = []
    plain = auto.Choice

    class Listening:
        @staticmethod
        def of(candidates, *arguments, **options):
            heard.extend(candidates)
            return plain.of(candidates, *arguments, **options)

    auto.Choice = Listening
    try:
        model = Auto(random_state=0).fit(X)
    finally:
        auto.Choice = plain
    classes = int(y.max()) + 1
    pool = [score(y, one.labels) for one in heard if one.n_clusters == classes]
    return int(model.labels_.max()) + 1, score(y, model.labels_), max(pool, default=0.0), model.confidence_


def peers(X):
    """The numbers by silhouette, gap statistic and BIC."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score
    from sklearn.mixture import GaussianMixture

    def inertias(Y, n_init):
        fits = [KMeans(k, n_init=n_init, random_state=0).fit(Y) for k in range(1, MOST + 1)]
        return fits, np.log([fit.inertia_ for fit in fits])

    fits, logs = inertias(X, 5)
    silhouette = 2 + int(np.argmax([silhouette_score(X, fit.labels_) for fit in fits[1:]]))
    rng, low, high = np.random.default_rng(0), X.min(axis=0), X.max(axis=0)
    null = np.array([inertias(rng.uniform(low, high, X.shape), 1)[1] for _ in range(4)])
    gaps, errors = null.mean(axis=0) - logs, null.std(axis=0) * np.sqrt(1 + 1 / 4)
    enough = np.flatnonzero(gaps[:-1] >= gaps[1:] - errors[1:])
    gap = 1 + int(enough[0] if len(enough) else np.argmax(gaps))
    bic = [GaussianMixture(k, reg_covar=1e-6 * X.var(), random_state=0).fit(X).bic(X) for k in range(1, MOST + 1)]
    return silhouette, gap, 1 + int(np.argmin(bic))


def main(count, first, families, what):
    names = [*(("auto", "pool", "index") if what != "peers" else ()), *(PEERS if what != "auto" else ())]
    table, confident = [], []
    for kind, X, y in sets_of(count, first):
        if families and kind not in families:
            continue
        classes = int(y.max()) + 1
        print(f"{kind:6s} {X.shape!s:11s} {classes:2d} clusters", end="")
        values = []
        if what != "peers":
            chosen, index, pool, confidence = choose(X, y)
            values += [chosen == classes, pool >= FOUND, index]
            if confidence >= 0.9:
                confident.append(index >= 0.8)
            print(f", chosen {chosen:2d}, index {index:.3f}, pool {pool:.3f}, confidence {confidence:.2f}", end="")
        if what != "auto":
            numbers = peers(X)
            values += [number == classes for number in numbers]
            print("".join(f", {name} {number}" for name, number in zip(PEERS, numbers, strict=True)), end="")
        print(flush=True)
        table.append((kind, bool((y < 0).any()), np.array(values, dtype=float)))
    print("share of right numbers".ljust(24), *(name.rjust(10) for name in names))
    kinds = list(dict.fromkeys(kind for kind, *_ in table))
    groups = {kind: np.array([values for name, _, values in table if name == kind]) for kind in kinds}
    groups["with background"] = np.array([values for _, noisy, values in table if noisy])
    groups["all sets"] = np.array([values for *_, values in table])
    groups["families, equal weight"] = np.array([groups[kind].mean(axis=0) for kind in kinds])
    for name, rows in groups.items():
        if len(rows):
            print(f"{name:20s} {len(rows):3d}", *(f"{value:10.3f}" for value in rows.mean(axis=0)))
    if what != "peers":
        print(f"confidence of at least .9 for {len(confident)}, index of at least .8 for {sum(confident)} of these")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["auto", "peers", "both"])
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--first", type=int, default=2000)
    parser.add_argument("--family", nargs="*", default=[])
    options = parser.parse_args()
    main(options.sets, options.first, options.family, options.what)
