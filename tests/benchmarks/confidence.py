"""The confidence of recipe `auto`: its weights from generated sets, and whether it keeps its word on others.

    python tests/benchmarks/confidence.py fit [--sets 200] [--more 100]    weights of clusterkit/criteria/confidence.py
    python tests/benchmarks/confidence.py check --folder ../shared/data/shapes    28 sets of shapes and 8 named ones
    python tests/benchmarks/confidence.py check --generated    generated sets without a part in the fit

The weights for a chosen number are fitted to `--more` sets of right_numbers.py as well (no hooks, and no blobs but the
first two), with which the rule was chosen. A confidence of at least .9 should be followed by an adjusted Rand index of
at least .8 in nine of ten sets, and be said of a third of the shapes, with the number of clusters given and chosen.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from auto import NAMED, _arrays, score
from auto import generated as of_numbers
from structures import generated

from clusterkit import Auto
from clusterkit.criteria import confidence
from clusterkit.drivers import auto

SURE, RIGHT = 0.9, 0.8
METHODS = ("kmeans", "mixture", "genie", "spectral", "mass-cut")


def answers(X, y, numbers, pool=None):
    """Evidence, index and confidence of the answer of a set at each number of clusters; None chooses it."""
    heard = []

    def listening(evidence, *, known):
        heard.append(evidence)
        return confidence.structure_confidence(evidence, known=known)

    rows = []
    auto.structure_confidence = listening
    for k in numbers:
        model = Auto(k, pool, random_state=0).fit(X)
        rows.append((heard[-1], score(y, model.labels_), model.confidence_))
    auto.structure_confidence = confidence.structure_confidence
    return rows


def given_and_chosen(X, y):
    return answers(X, y, (len(np.unique(y[y >= 0])), None))


def fit(sets, more):
    data = [generated(seed)[1:] for seed in range(sets)]
    weights = 4.0 / np.array([len(np.unique(y[y >= 0])) for _, y in data])
    both = [given_and_chosen(X, y) for X, y in data]
    alone = [answers(X, y, (None,), (name,))[0] for X, y in data for name in METHODS]
    of_given, of_chosen = ([rows[place] for rows in both] for place in (0, 1))
    weigh("number given", of_given, weights, True, True)
    weigh("number given, without witnesses", of_given, weights, True, False)
    others = [of_numbers(seed, (250, 1000))[1:] for seed in range(more) if seed % 4 or seed in (0, 4)]
    of_chosen += [answers(X, y, (None,))[0] for X, y in others]
    further = np.concatenate([weights, [4.0 / len(np.unique(y[y >= 0])) for _, y in others]])
    weigh("number chosen", of_chosen, further, False, True)
    weigh("number chosen for one method", alone, np.repeat(weights, len(METHODS)), False, False)


def weigh(name, rows, weights, known, witnesses):
    """The weights of the terms, and what they say of the sets where they are fitted to the other four fifths."""
    from sklearn.linear_model import LogisticRegression

    index = np.array([index for _, index, _ in rows])
    F = np.array([(e.stability, e.margin, e.separation, np.log(e.n_clusters)) for e, _, _ in rows])
    F = F[:, :3] if known else F
    if witnesses:
        F = np.column_stack([F, [e.witnesses for e, _, _ in rows]])
    right = index >= RIGHT
    model = LogisticRegression(C=10.0, max_iter=1000).fit(F, right, sample_weight=weights)
    print(name, np.round([*model.intercept_, *model.coef_[0]], 2), f"right {right.mean():.2f}")
    folds = np.arange(len(F)) * 5 // len(F)
    crossed = np.zeros(len(F))
    for fold in range(5):
        rest = folds != fold
        part = LogisticRegression(C=10.0, max_iter=1000).fit(F[rest], right[rest], sample_weight=weights[rest])
        crossed[folds == fold] = part.predict_proba(F[folds == fold])[:, 1]
    report("cross-validated", crossed, index)


def report(name, confident, index):
    """How often each range of confidences occurs, and how often it is right."""
    print(f"  {name}:", end="")
    for low, high in ((0.0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
        inside = (confident >= low) & (confident < high)
        right = f"{np.mean(index[inside] >= RIGHT):.2f}" if inside.any() else "-"
        print(f" {low:.1f}-{min(high, 1.0):.1f} {inside.sum()} sets, right {right};", end="")
    sure = confident >= SURE
    print(f" at least {SURE}: {sure.sum()} of {len(confident)}, right {np.sum(index[sure] >= RIGHT)}")


def check(sets):
    both = []
    for name, X, y in sets:
        rows = given_and_chosen(X, y)
        both.append(rows)
        print(
            f"{name:20s} {X.shape}",
            *(f"index {index:.3f} confidence {value:.2f}" for _, index, value in rows),
            flush=True,
        )
    for place, name in ((0, "number given"), (1, "number chosen")):
        report(name, *(np.array([rows[place][entry] for rows in both]) for entry in (2, 1)))


def shapes_and_named(folder):
    for file in sorted(Path(folder).glob("*.csv.gz"), key=lambda file: file.stat().st_size):
        table = np.loadtxt(file, delimiter=",", skiprows=1)
        yield file.name.removesuffix(".csv.gz"), table[:, :-1], table[:, -1].astype(int)
    for name in NAMED:
        X, y = _arrays(name)
        yield name, X, np.unique(y, return_inverse=True)[1]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fit", "check"])
    parser.add_argument("--folder", default="../shared/data/shapes")
    parser.add_argument("--generated", action="store_true")
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--more", type=int, default=100)
    options = parser.parse_args()
    if options.what == "fit":
        fit(options.sets, options.more)
    elif options.generated:
        check((kind, X, y) for kind, X, y in (generated(seed) for seed in range(1000, 1000 + options.sets)))
    else:
        check(shapes_and_named(options.folder))
