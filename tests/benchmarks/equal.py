"""Equal clustering against the same rule in vectorised NumPy: products, argmin and bincount in every iteration.

Rows shaped like two bananas, 40,000 x 2, and both super-classes of Letter (E, H, I, M, P, Q, R, X, Y, Z against the
rest) in its raw whole numbers. Both sides make the same iterations from the same seeds; their sizes are compared
iteration by iteration. The sides alternate, twice each (Letter, whose runs take
milliseconds: five times), and the smallest time counts; what is timed of ours includes sorting,
trees and everything else that precedes the first iteration.

    uv run python tests/benchmarks/equal.py
    uv run python tests/benchmarks/equal.py --iterations 6000 bananas

`letter` needs the data set; `CLUSTERKIT_DATA` names the folder.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from clusterkit_papers import datasets
from machine import describe

from clusterkit.families.equal.drift import DriftRule, find_parts, random_distinct_rows

POSITIVE = list("EHIMPQRXYZ")


def bananas(n: int = 40_000, seed: int = 0) -> np.ndarray:
    """Two arcs that interlock, blurred."""
    rng = np.random.default_rng(seed)
    angle, other = rng.uniform(0, np.pi, n), rng.random(n) < 0.5
    X = np.stack([np.cos(angle) + other, np.where(other, 0.5 - np.sin(angle), np.sin(angle))], axis=1)
    return X + rng.normal(scale=0.2, size=(n, 2))


def letter() -> list[np.ndarray]:
    """Rows of the two super-classes."""
    try:
        loaded = datasets.load("letter")
    except datasets.DatasetNotFound as missing:
        print(f"skipped: {missing}")
        return []
    rows, positive = np.asarray(loaded.data, dtype=float), np.isin(np.asarray(loaded.target), POSITIVE)
    return [rows[positive], rows[~positive]]


def plain(X: np.ndarray, C: np.ndarray, rule: DriftRule, tolerance: int) -> np.ndarray:
    """Sizes of every iteration."""
    m, n = len(C), len(X)
    step, bound, sizes = rule.step_for(m), rule.max_ratio - 1.0, []
    for _ in range(rule.max_iter):
        W = np.bincount(np.argmin((C**2).sum(axis=1) - 2.0 * (X @ C.T), axis=1), minlength=m)
        sizes.append(W)
        if np.abs(W - n // m).max() < tolerance:
            break
        both = W[None, :] + bound * W[:, None]
        R = bound * (W[None, :] - W[:, None]) / np.maximum(both, 1.0)
        C = C + step * (R @ C - R.sum(axis=1)[:, None] * C)
    return np.array(sizes)


def compare(X: np.ndarray, m: int, iterations: int, seed: int, clock, repeats: int = 2) -> tuple[float, float]:
    """Seconds of both sides; prints one line."""
    rule, rng = DriftRule(max_iter=iterations, restarts=0), np.random.default_rng
    C = X[random_distinct_rows(X, m, rng(seed))[0]]
    times: dict[str, list[float]] = {"ours": [], "plain": []}
    for _ in range(repeats):
        begin = clock()
        parts = find_parts(X, m, rule, rng(seed), record=True)
        times["ours"].append(clock() - begin)
        begin = clock()
        sizes = plain(X, C, rule, rule.tolerance_for(len(X), m))
        times["plain"].append(clock() - begin)
    ours, theirs = min(times["ours"]), min(times["plain"])
    common = min(len(sizes), len(parts.sizes))
    differ = np.flatnonzero((sizes[:common] != parts.sizes[:common]).any(axis=1))
    same = "equal sizes" if len(sizes) == len(parts.sizes) and not len(differ) else f"DIFFERENT from {differ[:1] + 1}"
    print(
        f"  {len(X)} x {X.shape[1]}, m = {m:2d}: {len(parts.sizes):4d} iterations, {1e3 * ours:.2f} ms, plain "
        f"{1e3 * theirs:.2f} ms, ratio {theirs / ours:6.1f}, {same}, {parts.reason}",
        flush=True,
    )
    return ours, theirs


def main() -> None:
    """Print times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["bananas", "letter"])
    parser.add_argument("--iterations", type=int, default=6000)
    parser.add_argument("--parts", type=int, nargs="+", default=range(2, 21))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cpu", action="store_true", help="processor time, where others use the machine too")
    options = parser.parse_args()
    clock = time.process_time if options.cpu else time.perf_counter
    print(describe(), "processor time" if options.cpu else "wall time", sep="; ")
    for d in (2, 5):  # compile
        find_parts(np.random.default_rng(0).normal(size=(50, d)), 3, DriftRule(max_iter=5), np.random.default_rng(0))
        find_parts(np.random.default_rng(0).normal(size=(50, d)), 2, DriftRule(max_iter=5), np.random.default_rng(0))
    if "bananas" in options.what:
        print("bananas")
        compare(bananas(), 20, options.iterations, options.seed, clock)
    if "letter" in options.what:
        seconds = []
        for title, X in zip(("letter, positive", "letter, negative"), letter(), strict=False):
            print(title)
            seconds.append([compare(X, m, options.iterations, options.seed, clock, 5) for m in options.parts])
        if seconds:
            print("letter, both classes, as a machine with K parts of each needs them")
            for m, (ours, theirs) in zip(options.parts, np.sum(seconds, axis=0), strict=True):
                print(f"  m = {m:2d}: {1e3 * ours:.2f} ms, plain {1e3 * theirs:.2f} ms, ratio {theirs / ours:.1f}")


if __name__ == "__main__":
    main()
