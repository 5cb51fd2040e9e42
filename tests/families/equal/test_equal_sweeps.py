"""Sweeps over tiles of rows count as the plain loop does, whatever the rows are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterkit.families.equal import drift_jit
from clusterkit.families.equal.drift import DriftRule, TiledLoop, find_parts, random_distinct_rows
from clusterkit_campaign.oracles import balance as oracle


def both(X, m, seed, iterations, rule):
    """The parts, and the sizes by the plain loop on the same rows in double precision."""
    parts = find_parts(X, m, rule, np.random.default_rng(seed), record=True)
    X = np.asarray(X, dtype=np.float64)
    seeds = X[random_distinct_rows(X, m, np.random.default_rng(seed))[0]]
    sizes, centres = oracle.jacobi(X, seeds, rule.step_for(m), iterations, original=rule.original)
    return parts, sizes, centres


def check(X, m, seed, iterations, *, ties=False, **more):
    rule = DriftRule(max_iter=iterations, size_tol=0, strict=True, restarts=0, **more)
    parts, sizes, centres = both(X, m, seed, iterations, rule)
    done = len(parts.sizes)
    assert (parts.sizes.sum(axis=1) == len(X)).all()
    assert done == iterations or "stand still" in parts.reason or "ran away" in parts.reason
    differ = np.flatnonzero((parts.sizes != sizes[:done]).any(axis=1))
    if len(differ):
        # the plain loop may differ only where two distances are equal up to rounding
        assert ties
        D = np.sort(((np.asarray(X, dtype=float)[:, None] - centres[differ[0]]) ** 2).sum(axis=2), axis=1)
        assert ((D[:, 1] - D[:, 0]) <= 1e-12 * D[:, 1]).sum() >= np.abs(parts.sizes - sizes[:done])[differ[0]].sum() / 2


@given(
    n=st.integers(21, 500), d=st.integers(4, 20), m=st.integers(3, 20), seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["cloud", "clumps", "float32", "tails", "far off", "one far", "twice", "flat"]),
    step=st.sampled_from([None, 0.0003, 0.03]), original=st.booleans(),
)  # fmt: skip
def test_sizes_of_every_iteration_equal_the_plain_loop(n, d, m, seed, kind, step, original):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 1.3 ** -np.arange(d)
    if kind == "clumps":
        X = X * rng.choice([0.05, 1.0], size=(n, 1)) + 3.0 * rng.integers(2, size=(n, d))
    elif kind == "float32":
        X = X.astype(np.float32)
    elif kind == "tails":
        X = X * rng.exponential(size=(n, 1)) ** 4
    elif kind == "far off":
        X = X + 3e5
    elif kind == "one far":
        X[n // 2] = 1e8
    elif kind == "twice":
        X = X[rng.integers((n + m) // 2, size=n)]
    elif kind == "flat":
        X[:, 3:] = 0.0
    check(X, m, seed % 1000, 25, ties=kind == "twice", step=step, original=original)


@given(n=st.integers(21, 400), d=st.integers(4, 17), m=st.integers(3, 20), levels=st.integers(2, 6),
       seed=st.integers(0, 2**32 - 1))  # fmt: skip
def test_whole_numbers_with_ties(n, d, m, levels, seed):
    X = np.random.default_rng(seed).integers(levels, size=(n, d)).astype(float)
    check(X, m, seed % 1000, 40, ties=True)


def test_rows_that_single_precision_cannot_tell_apart_go_on_in_double(monkeypatch):
    rng = np.random.default_rng(0)
    near = rng.normal(size=(600, 5)) * 1e-9
    X = np.concatenate([near, near[:300] + 1.0])
    chosen = np.arange(4)
    monkeypatch.setattr("clusterkit.families.equal.drift.random_distinct_rows", lambda X, m, rng: (chosen, m))
    types = []
    lay = TiledLoop._lay

    def spied(self, dtype):
        types.append(dtype)
        return lay(self, dtype)

    monkeypatch.setattr(TiledLoop, "_lay", spied)
    parts = find_parts(
        X, 4, DriftRule(max_iter=50, size_tol=0, strict=True, restarts=0), np.random.default_rng(0), record=True
    )
    sizes, _ = oracle.jacobi(X, X[:4], 0.01, 50)
    np.testing.assert_array_equal(parts.sizes, sizes[: len(parts.sizes)])
    assert types == [np.float32, np.float64]


@given(n=st.integers(1, 600), d=st.integers(1, 21), m=st.integers(2, 9), seed=st.integers(0, 2**32 - 1))
def test_a_sweep_counts_cells_and_leaves_near_ties_to_distances(n, d, m, seed):
    rng = np.random.default_rng(seed)
    X, C = rng.normal(size=(n, d)), rng.normal(size=(d, m))
    loop = TiledLoop(X, C, np.zeros(m, dtype=np.int64), None, None)
    rows, (weights, offsets, scores, _) = loop.rows, loop.room
    size = drift_jit.pack(C, rows, weights, offsets)
    assert size == pytest.approx(rows.scale * np.sqrt(((C - rows.origin[:, None]) ** 2).sum(axis=0).max()))
    plain = np.bincount(np.argmin(((X[:, :, None] - C) ** 2).sum(axis=1), axis=1), minlength=m)
    for near in (1e-4, 1e30):
        sizes = np.zeros(m, dtype=np.int64)
        unsure = drift_jit.tally(rows.tiles, X, C, weights, offsets, np.full(len(rows.tiles), near), sizes, scores)
        np.testing.assert_array_equal(sizes, plain)
        assert unsure == n or near < 1.0


def test_codes_of_the_end_differ():
    codes = [drift_jit.GOING, drift_jit.REACHED, drift_jit.FIXED, drift_jit.COLLAPSED, drift_jit.RUNAWAY]
    assert len({*codes, drift_jit.DOUBT}) == 6
