"""Equal clustering on plain arrays: what the solvers and the partitioners of that name share.

Centres drift towards those of larger cells and away from those of smaller ones, until all cells are of about the same
size. The compiled loops are in `equal_jit` and `equal_list_jit`; here are the seeds, the choice of a loop, and new
starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from clusterkit.numerics.equal_size.tiles import Tiled

__all__ = ["Parts", "Rule", "distinct_rows", "find_parts", "minus_distances"]

# Up to so many attributes a tree of boxes finds the sizes faster than sweeps over rows.
TREE = 3
# Centres at so many times the spread of the seeds do not come back.
FAR = 1e12
# A start ends early, if there is another, once two centres are so near in terms of their first smallest distance.
COLLAPSED = 0.05
PIECE = 100


@attrs.frozen
class Rule:
    """How centres drift.

    Parameters
    ----------
    original : bool
        GeoClust: coefficients ``W_j / W_i - 1``, all turns are made.
    alpha : float or None
        Step; None: 0.01, ten times less for every ten parts beyond the first ten.
    slope : float
        l.
    eps : int or None
        Balanced is a height below it; None: ``n // (50 m)``.
    max_iter : int
    restarts : int
        Starts made anew after one that is not balanced.
    repair : bool
        Whether rows are moved in the end until sizes differ by at most one.
    strict : bool
        Take `eps` as it is, and the last turn instead of the best.
    """

    original: bool = False
    alpha: float | None = None
    slope: float = 3.0
    eps: int | None = None
    max_iter: int = 6000
    restarts: int = 1
    repair: bool = False
    strict: bool = False

    def step(self, m: int) -> float:
        """α for m parts."""
        return 0.01 * 10.0 ** -((m - 1) // 10) if self.alpha is None else float(self.alpha)

    def threshold(self, n: int, m: int) -> int:
        """ε for n rows in m parts: at least what some partition can fall below, unless `strict`."""
        eps = n // (50 * m) if self.eps is None else int(self.eps)
        return eps if self.strict else max(eps, 2 if n % m else 1)


@attrs.frozen(eq=False)
class Parts:
    """Where the centres ended.

    Parameters
    ----------
    centres : ndarray of shape (m, d), float64
    height : int
        Largest difference of a size from ``n // m``, at these centres.
    turn : int
        Whose centres these are, from 1.
    heights : ndarray of int
        Turn by turn, of the start that was kept.
    converged : bool
    reason : str
    starts : int
        Made in all.
    distinct : int
        Number of seeds that differ in value.
    interrupted : bool
    sizes : ndarray of shape (turns, m)
        Sizes turn by turn, if asked for.
    """

    centres: NDArray[Any]
    height: int
    turn: int
    heights: NDArray[Any]
    converged: bool
    reason: str
    starts: int
    distinct: int
    interrupted: bool
    sizes: NDArray[Any]


def find_parts(
    X: NDArray[Any],
    m: int,
    rule: Rule,
    rng: np.random.Generator,
    report: Callable[[int, float], None] | None = None,
    *,
    record: bool = False,
) -> Parts:
    """Centres whose cells are of about the same size.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        At least m rows.
    m : int
        Number of parts, at least 2.
    rule : Rule
    rng : Generator
        Draws the seeds; the first start is the same whatever `restarts`.
    report : callable, optional
        Called with turns done and the lowest height now and then.
    record : bool
        Whether to keep the sizes of all turns.

    Returns
    -------
    Parts
        Of the start with the lowest height, the first on ties.
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    eps, found = rule.threshold(len(X), m), None
    tree = None
    for start in range(rule.restarts + 1):
        seeds, distinct = distinct_rows(X, m, rng)
        loop = _Loop.of(X, X[seeds], rule, eps, start < rule.restarts and distinct == m, record, tree)
        tree = loop.tree
        parts = loop.run(rule, eps, start + 1, distinct, report)
        if found is None or parts.height < found.height:
            found = attrs.evolve(parts, starts=start + 1)
        else:
            found = attrs.evolve(found, starts=start + 1)
        if parts.converged or parts.interrupted or distinct < m:
            break  # (with too few distinct rows all starts are alike)
    assert found is not None
    return found


def minus_distances(H: NDArray[Any], centres: NDArray[Any], offsets: NDArray[Any]) -> NDArray[Any]:
    """``offset_j - |h_i - c_j|²``, (b, m), float64; a row's values depend on that row alone, to the last bit."""
    from clusterkit.numerics.equal_size import drift_jit as equal_jit

    rows = np.empty((len(H), len(centres)))
    H = np.ascontiguousarray(H, dtype=np.float64)
    equal_jit.minus_distances(H, np.ascontiguousarray(centres.T), offsets, rows)
    return rows


def distinct_rows(X: NDArray[Any], m: int, rng: np.random.Generator) -> tuple[NDArray[Any], int]:
    """Indices of m random rows, distinct in value as far as the rows are, and how many of them are."""
    order = rng.permutation(len(X))
    taken: dict[bytes, int] = {}
    for begin in range(0, len(X), 4 * m):
        rows = np.ascontiguousarray(X[order[begin : begin + 4 * m]] + 0.0)  # (zeros equal to the last bit)
        for i, row in enumerate(rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist(), begin):
            taken.setdefault(row, i)
        if len(taken) >= m:
            break
    places = list(taken.values())[:m]
    if len(places) == m:
        return order[places], m
    return np.concatenate([order[places], np.delete(order, places)[: m - len(places)]]), len(places)


@attrs.define(eq=False)
class _Loop:
    """A start under way, on a line, in a tree of boxes, or by sweeps over tiles of rows."""

    turns: Callable[[int, int], tuple[int, int]]
    place: Callable[[NDArray[Any]], NDArray[Any]]
    tree: Any
    ends: NDArray[Any]
    best: NDArray[Any]
    heights: NDArray[Any]
    record: NDArray[Any]

    @classmethod
    def of(
        cls, X: NDArray[Any], seeds: NDArray[Any], rule: Rule, eps: int, early: bool, record: bool, tree: Any
    ) -> _Loop:
        """Choose the loop: a line for two centres or one attribute, a tree for few attributes, else sweeps."""
        from clusterkit.numerics.equal_size import drift_jit as equal_jit
        from clusterkit.numerics.equal_size import tree_jit as equal_tree_jit

        n, d = X.shape
        m = len(seeds)
        C = np.ascontiguousarray(seeds.T)
        place: Callable[[NDArray[Any]], NDArray[Any]] = _transposed
        on_line = d == 1 or m == 2
        if on_line and d > 1:
            # a unit that is a power of 2 times the seeds' distance: whole numbers stay exact, and ties ties
            way = seeds[1] - seeds[0]
            size = float(np.abs(way).max())
            scaled = way * 2.0 ** -np.frexp(size)[1] if size else way
            square = float(way @ scaled)
            Q = np.sort((X - seeds[0]) @ scaled)
            C, place = np.array([[0.0, square]]), _OnLine(seeds[0], way / square if size else way)
        elif on_line:
            Q = np.sort(X[:, 0])
        heights, sizes = np.zeros(rule.max_iter, dtype=np.int64), np.zeros(m, dtype=np.int64)
        kept = np.zeros((rule.max_iter if record else 0, m), dtype=np.int64)
        best, ends = np.array([n + 1, 0]), np.stack([C, C])
        least = COLLAPSED**2 * equal_jit.closest(C) if early else 0.0
        limit = FAR * (float(np.ptp(C, axis=1).max()) + float(np.abs(C).max()))
        settings = np.array(
            [rule.step(m), rule.slope, rule.original, -1.0 if rule.original else eps, least, limit], dtype=np.float64
        )
        end = (settings, ends, best, heights, kept)
        if on_line:
            order = np.arange(m)

            def turns(first: int, last: int) -> tuple[int, int]:
                return equal_jit.line(Q, C, order, sizes, first, last, *end)
        elif d <= TREE:
            tree = equal_tree_jit.build(X) if tree is None else tree
            room = np.zeros((66, m), dtype=np.int64), np.zeros(66, dtype=np.int64), np.zeros((66, 2), dtype=np.int64)

            def turns(first: int, last: int) -> tuple[int, int]:
                return equal_jit.grove(*tree, C, sizes, *room, first, last, *end)
        else:
            turns = Tiled(X, C, sizes, end)
        return cls(turns, place, tree, ends, best, heights, kept)

    def run(
        self, rule: Rule, eps: int, starts: int, distinct: int, report: Callable[[int, float], None] | None
    ) -> Parts:
        """Turns in pieces, so that Ctrl-C and reports come through."""
        from clusterkit.numerics.equal_size import drift_jit as jit

        done, why, interrupted = 0, jit.GOING, False
        try:
            while done < rule.max_iter and why == jit.GOING:
                stop = min(rule.max_iter, done + PIECE)
                done, why = self.turns(done, stop)
                if report is not None:
                    report(done, float(self.best[0]))
        except KeyboardInterrupt:
            if not done:
                raise
            interrupted = True
        heights = self.heights[:done]
        if rule.strict:
            centres, height, turn = self.ends[1], int(heights[-1]), done
        else:
            centres, height, turn = self.ends[0], int(self.best[0]), int(self.best[1]) + 1
        converged = height < eps and not interrupted
        if interrupted:
            reason = f"interrupted after {done} iterations: the best centres so far are kept"
        elif converged:
            reason = f"balanced: sizes differ from n // m by {height}, below {eps}"
        else:
            ended = {
                jit.GOING: f"max_iter = {rule.max_iter} reached",
                jit.REACHED: "balanced",
                jit.FIXED: "the centres stand still",
                jit.COLLAPSED: "two centres fell together",
                jit.RUNAWAY: "the centres ran away",
            }[why]
            reason = f"{ended} after {done} iterations, sizes differ from n // m by up to {height}"
        return Parts(
            self.place(centres), height, turn, heights, converged, reason, starts, distinct, interrupted,
            self.record[:done] if len(self.record) else self.record,
        )  # fmt: skip


def _transposed(C: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(C.T)


@attrs.frozen(eq=False)
class _OnLine:
    """Positions on the line through two seeds, (1, 2), to centres, (2, d)."""

    origin: NDArray[Any]
    way: NDArray[Any]

    def __call__(self, P: NDArray[Any]) -> NDArray[Any]:
        centres: NDArray[Any] = self.origin + P.T * self.way
        return centres
