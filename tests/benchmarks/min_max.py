"""Prediction of a min-max modular classifier, against every machine's `decision_function` one by one in the same run.

Two problems with K = 10 parts a class. Banana: of the 5,300 points a random 4,000 train and the others test, gamma = 1,
C = 316.2. Letter as two classes (E, H, I, M, P, Q, R, X, Y, Z against the rest): the first 15,000 rows train, the last
5,000 test, gamma = 1/32, C = 16. Attributes are scaled to [0, 1] by the training rows. The plain machine is trained
beside. Training times are processor times of machines: their sum is the sequential time, the longest the parallel one.

    uv run python tests/benchmarks/min_max.py banana --all
    uv run python tests/benchmarks/min_max.py letter
    uv run python tests/benchmarks/min_max.py letter --raw --fit-only --partitioners kmeans equal --parts 2 5 10 20

Needs the data sets; `CLUSTERKIT_DATA` names the folder.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from clusterkit_papers import datasets
from machine import describe
from sklearn.svm import SVC

from clusterkit import MinMaxModularSVC
from clusterkit.numerics.threads import available

POSITIVE = list("EHIMPQRXYZ")
METHODS = ("shared", "alpha_beta", "row_break", "approximate")


def problem(name: str, raw: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, float]]:
    """Training rows and labels, test rows and labels, parameters of the machines."""
    dataset = datasets.load(name)
    X, y = np.asarray(dataset.data, dtype=float), np.asarray(dataset.target)
    if name == "banana":
        order = np.random.default_rng(0).permutation(len(X))
        X, y, n, settings = X[order], (y[order] == 1).astype(int), 4_000, {"C": 316.2, "gamma": 1.0}
    else:
        y, n, settings = np.isin(y, POSITIVE).astype(int), 15_000, {"C": 16.0, "gamma": 1 / 32}
    if raw:
        return X[:n], y[:n], X[n:], y[n:], settings
    low, spread = X[:n].min(axis=0), np.ptp(X[:n], axis=0)
    X = (X - low) / np.where(spread > 0, spread, 1.0)
    return X[:n], y[:n], X[n:], y[n:], settings


def naive_machines(model: MinMaxModularSVC, X: np.ndarray, y: np.ndarray) -> list[list[SVC]]:
    """The same machines again, as scikit-learn's objects."""
    rows = [[np.flatnonzero((y == c) & (model.parts_ == i)) for i in range(model.n_parts_[c])] for c in (0, 1)]
    return [
        [
            SVC(C=model.C, gamma=model.gamma_).fit(X[np.concatenate([b, a])], np.repeat([0, 1], [len(b), len(a)]))
            for b in rows[0]
        ]
        for a in rows[1]
    ]


def naive_values(machines: list[list[SVC]], Y: np.ndarray) -> np.ndarray:
    """Maximum of minima of all decision functions."""
    return np.max([np.min([machine.decision_function(Y) for machine in row], axis=0) for row in machines], axis=0)


def seconds(function, repeats: int) -> tuple[float, object]:
    """Least time of some calls, and the answer."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        answer = function()
        times.append(time.perf_counter() - begin)
    return min(times), answer


def compare(model: MinMaxModularSVC, X: np.ndarray, y: np.ndarray, Y: np.ndarray, repeats: int) -> None:
    """Print the times of all methods on the rows Y, and whether they agree."""
    machines = naive_machines(model, X, y)
    slow, values = seconds(lambda: naive_values(machines, Y), 1)
    print(f"    one by one: {slow:.2f} s for {len(Y)} rows")
    for method in METHODS:
        model.set_params(predict_method=method).predict(Y[:50])
        fast, labels = seconds(lambda: model.predict(Y), repeats)
        wrong = int((labels != (values > 0)).sum())
        print(
            f"    {method}: {fast:.3f} s, {slow / fast:.1f} x, {model.fit_report_['evaluated_modules']:.1f} machines a "
            f"row, {wrong} labels differ"
        )


def main() -> None:
    """Print times, ratios, accuracies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", default=["banana", "letter"])
    parser.add_argument("--partitioners", nargs="+", default=["random", "equal"])
    parser.add_argument("--parts", type=int, nargs="+", default=[10])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="predict training rows too")
    parser.add_argument("--raw", action="store_true", help="attributes as they are")
    parser.add_argument("--fit-only", action="store_true", help="no comparison of predictions")
    options = parser.parse_args()
    print(describe(), f"threads {available()}", sep="; ")
    for name in options.problems:
        try:
            X, y, X_test, y_test, settings = problem(name, options.raw)
        except datasets.DatasetNotFound as missing:
            print(f"skipped: {missing}")
            continue
        Y = np.concatenate([X, X_test]) if options.all else X_test
        begin = time.thread_time()
        plain = SVC(**settings).fit(X, y)
        print(
            f"{name}: {len(X)} x {X.shape[1]} train, {len(X_test)} test\n"
            f"  plain: {time.thread_time() - begin:.2f} s, {plain.n_support_.sum()} supports, "
            f"accuracy {100 * plain.score(X_test, y_test):.2f} %"
        )
        for partitioner in options.partitioners:
            for K in options.parts:
                model = MinMaxModularSVC(K, partitioner, random_state=0, **settings).fit(X, y)
                r = model.fit_report_
                print(
                    f"  {partitioner}, K = {K}: partition {r['partition_seconds']:.2f} s, sequential "
                    f"{r['sequential_seconds']:.2f} s, parallel {r['parallel_seconds']:.3f} s, {r['n_support']} "
                    f"supports ({r['n_support_distinct']} distinct), accuracy {100 * model.score(X_test, y_test):.2f} %"
                )
                if not options.fit_only:
                    compare(model, X, y, Y, options.repeats)


if __name__ == "__main__":
    main()
