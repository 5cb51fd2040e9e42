"""Generated sets of eighteen kinds, most of them unlike the shapes from which the constants of `auto` come.

    python tests/benchmarks/batteries.py save FOLDER [--sets 200] [--first 0] [--shapes ../shared/data/shapes]
    python tests/benchmarks/batteries.py rules FOLDER      the rules of `RULES`, tried on the candidates that were saved


`save` fits `auto` without a number of clusters to every set and stores the terms of its candidates, so that a rule for
the choice is tried within seconds. Attributes are standardised where their units have no meaning. Rows of class -1
are background and are not scored.
"""

from __future__ import annotations

import argparse
import pickle
import time
import warnings
from pathlib import Path

import numpy as np
from auto import NAMED, _arrays, score
from structures import _boxes

from clusterkit import Auto
from clusterkit.drivers import auto

ROWS = (240, 880)
PLANAR = ("sines", "rectangles", "spirals", "shells", "uneven sizes")


def _sizes(k, total, rng, least=20, uneven=5.0):
    shares = np.exp(rng.uniform(-np.log(uneven), 0, k))
    return np.maximum(least, np.round(total * shares / shares.sum())).astype(int)


def _centres(k, d, gap, rng):
    """Random centres whose least distance is the gap."""
    C = rng.standard_normal((k, d))
    least = min((np.linalg.norm(C[i] - C[j]) for i in range(k) for j in range(i)), default=gap)
    return C * gap / least


def _blobs(sizes, d, gap, rng, draw=None):
    C = _centres(len(sizes), d, gap, rng)
    draw = draw or (lambda size: rng.standard_normal((size, d)))
    return [c + draw(size) for c, size in zip(C, sizes, strict=True)]


def _levels(sizes, d, levels, strength, rng):
    """Codes of categories whose shares depend on the class."""
    parts = []
    shares = [[None] * d for _ in sizes]
    for j in range(d):
        base, order = rng.dirichlet(3 * np.ones(levels)), rng.permutation(levels)
        for c in range(len(sizes)):
            top = np.full(levels, 0.02)
            top[order[c % levels]] = 1.0
            shares[c][j] = (1 - strength) * base + strength * top / top.sum()
    for c, size in enumerate(sizes):
        parts.append(np.column_stack([rng.choice(levels, size, p=shares[c][j]) for j in range(d)]).astype(float))
    return parts


def _one_hot(X):
    return np.hstack([(X[:, [j]] == np.unique(X[:, j])).astype(float) for j in range(X.shape[1])])


def _parts(kind, total, rng):
    """The parts of a set, and whether its attributes are to be standardised."""
    k = int(rng.integers(2, 7))
    sizes = _sizes(k, total, rng)
    if kind == "sines":
        gap, s = rng.uniform(0.8, 1.6), rng.uniform(0.08, 0.2)
        xs = [rng.uniform(0, 3 * np.pi, size) for size in sizes]
        return [
            np.stack([x, np.sin(x) + gap * c + s * rng.standard_normal(len(x))], 1) for c, x in enumerate(xs)
        ], False
    if kind == "subspace":
        d, width = int(rng.integers(8, 21)), 3
        parts = []
        for size in sizes:
            X, at = rng.standard_normal((size, d)), rng.choice(d, width, replace=False)
            X[:, at] = rng.uniform(-3, 3, width) + 0.25 * X[:, at]
            parts.append(X)
        return parts, True
    if kind == "wide":
        return _blobs(sizes, int(rng.integers(20, 61)), rng.uniform(4.5, 7), rng), True
    if kind == "irrelevant":
        d, noise = int(rng.integers(2, 5)), int(rng.integers(5, 41))
        return [
            np.hstack([part, rng.standard_normal((len(part), noise))])
            for part in _blobs(sizes, d, rng.uniform(5, 7), rng)
        ], True
    if kind == "Likert":
        d, items = int(rng.integers(2, 5)), int(rng.integers(8, 21))
        load = rng.standard_normal((d, items))
        parts = _blobs(sizes, d, rng.uniform(4, 7), rng)
        return [
            np.clip(np.round(3 + p @ load / 3 + 0.4 * rng.standard_normal((len(p), items))), 1, 5) for p in parts
        ], True
    if kind == "one-hot":
        codes = _levels(sizes, int(rng.integers(5, 11)), int(rng.integers(3, 6)), rng.uniform(0.6, 0.85), rng)
        ends = np.cumsum([len(part) for part in codes])[:-1]
        return np.split(_one_hot(np.concatenate(codes)), ends), False
    if kind == "rectangles":
        return _boxes(sizes, rng), False
    if kind == "spirals":
        s, k = rng.uniform(0.03, 0.1), int(rng.integers(2, 4))
        parts = []
        for c, size in enumerate(_sizes(k, total, rng, uneven=3.0)):
            t = rng.uniform(0.1, 1, size) * 3 * np.pi
            a = t + 2 * np.pi * c / k
            parts.append(t[:, None] / 3 * np.stack([np.cos(a), np.sin(a)], 1) + s * rng.standard_normal((size, 2)))
        return parts, False
    if kind == "Poisson":
        d = int(rng.integers(3, 9))
        rates = np.exp(rng.uniform(0, 3.2, (k, d)))
        return [rng.poisson(rate, (size, d)).astype(float) for rate, size in zip(rates, sizes, strict=True)], False
    if kind == "lognormal":
        d = int(rng.integers(2, 7))
        return [np.exp(0.5 * part) for part in _blobs(sizes, d, rng.uniform(5, 7), rng)], True
    if kind == "ellipsoids":
        d = int(rng.integers(2, 9))
        turn = np.linalg.qr(rng.standard_normal((d, d)))[0] * np.exp(rng.uniform(-1.2, 0.6, d))
        return [part @ turn for part in _blobs(sizes, d, rng.uniform(5.5, 8), rng)], True
    if kind == "t":
        d = int(rng.integers(2, 9))
        return _blobs(sizes, d, rng.uniform(8, 12), rng, lambda size: rng.standard_t(3, (size, d))), True
    if kind == "series":
        t, parts = np.linspace(0, 1, int(rng.integers(20, 61))), []
        for size in sizes:
            a, f, phase, slope = rng.uniform(0.5, 2), rng.uniform(1, 4), rng.uniform(0, 6), rng.uniform(-3, 3)
            curve = a * np.sin(2 * np.pi * f * t + phase) + slope * t
            parts.append(curve + rng.uniform(0.2, 0.5) * rng.standard_normal((size, len(t))))
        return parts, False
    if kind == "one attribute":
        at = np.cumsum(rng.uniform(5, 9, k))
        return [(centre + rng.standard_normal(size))[:, None] for centre, size in zip(at, sizes, strict=True)], False
    if kind == "shells":
        d, parts = int(rng.integers(2, 4)), []
        for c, size in enumerate(sizes[:3]):
            X = rng.standard_normal((size, d))
            parts.append(
                X / np.linalg.norm(X, axis=1, keepdims=True) * (0.5 + c + 0.08 * rng.standard_normal((size, 1)))
            )
        return parts, False
    if kind == "uneven sizes":
        return _blobs(_sizes(k, total, rng, 15, 50.0), int(rng.integers(2, 6)), rng.uniform(6, 9), rng), False
    if kind == "two scales":
        gap, parts = rng.uniform(4, 6), []
        for centre in _centres(3, 2, rng.uniform(3, 6) * gap, rng):
            parts += [centre + part for part in _blobs(_sizes(int(rng.integers(1, 4)), total // 3, rng), 2, gap, rng)]
        return parts, False
    if kind == "overlap":
        return _blobs(sizes, int(rng.integers(2, 9)), rng.uniform(3, 4), rng), False
    raise ValueError(kind)


KINDS = (
    "sines", "subspace", "wide", "irrelevant", "Likert", "one-hot", "rectangles", "spirals", "Poisson",
    "lognormal", "ellipsoids", "t", "series", "one attribute", "shells", "uneven sizes", "two scales", "overlap",
)  # fmt: skip


def battery(seed):
    """Kind, rows (n, d) and classes (n,) of a set; its kind is that of ``seed % 18``."""
    kind, rng = KINDS[seed % len(KINDS)], np.random.default_rng([seed, 43])
    parts, standardise = _parts(kind, int(rng.integers(*ROWS)), rng)
    X, y = np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    if standardise:
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    order = rng.permutation(len(X))
    return kind, X[order], y[order]


def saved(kind, X, y):
    """Everything that a rule sees of a set, and how right each candidate is."""
    heard = []
    plain = auto.Choice

    class Listening:
        @staticmethod
        def of(*arguments, **options):
            heard.append(plain.of(*arguments, **options))
            return heard[-1]

    auto.Choice = Listening
    begin = time.process_time()
    try:
        model = Auto(random_state=0).fit(X)
    finally:
        auto.Choice = plain
    seconds = time.process_time() - begin
    entry = {
        "kind": kind, "shape": X.shape, "classes": len(np.unique(y[y >= 0])), "index": score(y, model.labels_),
        "chosen": int(model.labels_.max()) + 1, "confidence": model.confidence_, "one": model.perhaps_one_cluster_,
        "seconds": seconds,
    }  # fmt: skip
    if heard:
        choice = heard[-1]
        entry |= {
            "terms": dict(choice.ranking.terms), "total": choice.ranking.total, "similarity": choice.ranking.similarity,
            "numbers": np.array([one.n_clusters for one in choice.candidates]),
            "families": [one.member.family for one in choice.candidates],
            "methods": [one.member.name for one in choice.candidates],
            "indices": np.array([score(y, one.labels) for one in choice.candidates]),
            "labels": [one.labels.astype(np.int16) for one in choice.candidates],
        }  # fmt: skip
    return entry


def sets_of(options):
    for seed in range(options.first, options.first + options.sets):
        yield (f"{seed:05d}", *battery(seed))
    if options.shapes:
        for file in sorted(Path(options.shapes).glob("*.csv.gz"), key=lambda file: file.stat().st_size):
            table = np.loadtxt(file, delimiter=",", skiprows=1)
            yield f"shape-{file.name.removesuffix('.csv.gz')}", "shapes", table[:, :-1], table[:, -1].astype(int)
        for name in NAMED:
            X, y = _arrays(name)
            yield f"named-{name}", "named", X, np.unique(y, return_inverse=True)[1]


def save(options):
    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, kind, X, y in sets_of(options):
        if not (folder / f"{name}.pkl").exists():
            entry = saved(kind, X, y)
            (folder / f"{name}.pkl").write_bytes(pickle.dumps(entry))
            print(name, kind, X.shape, entry["classes"], entry["chosen"], round(entry["index"], 3), flush=True)


def present(e):
    return int(np.argmax(e["total"]))


def finest(near, least):
    """The finest of the candidates near the best score that are confirmed, agreed on and stable."""

    def rule(e):
        terms, total, best = e["terms"], e["total"], int(np.argmax(e["total"]))
        if "least_confirmed" not in terms:
            return best
        sure = np.minimum.reduce([terms["least_confirmed"], terms["agreement"], terms["stability"]]) >= least
        able = sure & (total >= total[best] - near) & (e["numbers"] > e["numbers"][best])
        if not able.any():
            return best
        most = e["numbers"][able].max()
        return int(max(np.flatnonzero(able & (e["numbers"] == most)), key=lambda i: total[i]))

    return rule


RULES = {
    "present": present,
    **{f"finest {n} {s}": finest(n, s) for n in (0.2, 0.3, 0.45, 0.6) for s in (0.85, 0.9, 0.95)},
}


def rules(options):
    entries = [pickle.loads(file.read_bytes()) for file in sorted(Path(options.folder).glob("*.pkl"))]
    kinds = list(dict.fromkeys(e["kind"] for e in entries))
    print("mean index".ljust(20), *(kind[:9].rjust(9) for kind in kinds), "  all, right number, better and worse sets")
    for name, rule in RULES.items():
        picked = [rule(e) if "total" in e else None for e in entries]
        index = np.array([e["index"] if i is None else e["indices"][i] for e, i in zip(entries, picked, strict=True)])
        number = np.array([e["chosen"] if i is None else e["numbers"][i] for e, i in zip(entries, picked, strict=True)])
        right = number == np.array([e["classes"] for e in entries])
        before = np.array([e["indices"][present(e)] if "total" in e else e["index"] for e in entries])
        means = [index[[e["kind"] == kind for e in entries]].mean() for kind in kinds]
        change = index - before
        print(
            name.ljust(20), *(f"{mean:9.3f}" for mean in means),
            f"  {index.mean():.4f} {right.mean():.3f} {(change > 0.01).sum()} {(change < -0.01).sum()}",
        )  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["save", "rules"])
    parser.add_argument("folder")
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--shapes")
    options = parser.parse_args()
    {"save": save, "rules": rules}[options.what](options)
