"""Equal clustering on plain arrays, for the solvers and the partitioners `equal` and `geoclust`.

Centres move towards the centres of larger clusters and away from those of smaller ones, until all clusters have about
the same size. This file draws the seeds, chooses a loop and makes new starts; the compiled loops are in `drift_jit`,
and `TiledLoop` has the arrays that the sweeps over tiles work on.

`even_out` shifts the columns of a score matrix so that argmax gives clusters of equal size (±1). Rows that tie after
the shift are moved one by one. The shift is found by the transportation problem (`clusterkit.numerics.transport`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices

if TYPE_CHECKING:
    from clusterkit.families.equal.drift_jit import DriftRecord, DriftSettings, TiledRows


def even_out(rows: Array) -> tuple[Array, Array, int, int]:
    """Add offsets to the columns such that each column has the largest score of ``n // k`` rows or one more.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        n >= k.

    Returns
    -------
    rows : ndarray of shape (n, k)
        The rows with the offsets added.
    offsets : ndarray of shape (k,)
    moved : int
        Number of rows whose largest score is in another column than before.
    tied : int
        Number of rows that no offsets assign: equal rows on both sides of a border. The score of the column they belong
        to is raised just above their largest.

    Notes
    -----
    No labels with such sizes have a larger sum of scores, up to rounding. For time and memory see `solve_transport`.
    """
    from clusterkit.numerics.transport import solve_transport

    n, k = rows.shape
    before = np.argmax(rows, axis=1)
    solution = solve_transport(-rows, before, np.full(k, n // k), np.full(k, -(-n // k)))
    assert solution is not None, "finite scores can always be divided evenly"
    labels, offsets = solution.labels, -solution.prices
    # one sum for the labels here and for predictions, so that both round alike
    rows = rows + offsets
    unsettled = np.flatnonzero(np.argmax(rows, axis=1) != labels)
    rows[unsettled, labels[unsettled]] = np.nextafter(rows[unsettled].max(axis=1), np.inf)
    return rows, offsets, int(np.count_nonzero(labels != before)), len(unsettled)


ORIGIN_ROWS = 256
"""Evenly spaced rows whose mean is the origin of the tiles' coordinates: any point near the rows will do."""
CACHE_LINE = 64
"""Bytes of a cache line, and of the longest vector registers."""


class TiledLoop:
    """Iterations of `drift_jit.run_with_tiles`, in double precision if single precision decides too few rows.

    Parameters
    ----------
    X : ndarray of shape (n, d), float64
    C : ndarray of shape (d, m), float64
        The seeds; moved in place.
    sizes : integer ndarray of shape (m,)
        Sizes of the last iteration, written in place.
    settings : DriftSettings
    record : DriftRecord
    """

    rows: TiledRows
    room: tuple[Array, Array, Array, Array]

    def __init__(
        self,
        X: Array,
        C: Array,
        sizes: Counts,
        settings: DriftSettings,
        record: DriftRecord,
    ) -> None:
        self.X, self.C, self.sizes = X, C, sizes
        self.settings, self.record = settings, record
        self.origin = X[:: max(1, len(X) // ORIGIN_ROWS)].mean(axis=0)
        # a power of 2, so that nothing is rounded; it is finite for denormal numbers too
        self.scale = 2.0 ** min(1000, -int(np.frexp(np.abs(C - self.origin[:, None]).max())[1]))
        if not self._lay(np.float32):
            self._lay(np.float64)

    def _lay(self, dtype: Any) -> bool:
        """Arrange rows and work space in a type; False if norms are out of the range of single precision."""
        from clusterkit.families.equal import drift_jit

        (n, d), pairs = self.X.shape, (len(self.sizes) + 1) // 2
        shape = (-(-n // drift_jit.TILE), -(-d // 4), 4, drift_jit.TILE)
        tiles, norms = _aligned(shape, dtype), np.empty(shape[0])
        drift_jit.lay(self.X, self.origin, self.scale, tiles, norms)
        single = dtype is np.float32
        if single and not norms.max() < drift_jit.MOST:
            return False
        self.rows = drift_jit.TiledRows(tiles, self.origin, self.scale, float(np.finfo(dtype).eps) / 2.0, norms)
        self.room = (
            np.zeros((pairs, shape[1], 2, 4), dtype=dtype),
            np.empty(2 * pairs, dtype=dtype),
            _aligned((2 * pairs + 2, drift_jit.TILE), dtype),
            np.array([0.0 if single else -np.inf]),
        )
        return True

    def __call__(self, first: int, last: int) -> tuple[int, int]:
        """Run iterations `first` … `last` - 1; return how many are finished, and why the loop stopped."""
        from clusterkit.families.equal import drift_jit

        done, why = drift_jit.run_with_tiles(
            self.X, self.C, self.sizes, self.rows, *self.room, first, last, self.settings, self.record
        )
        if why == drift_jit.DOUBT:
            self._lay(np.float64)
            why = drift_jit.GOING
        return done, why


def _aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """An array that begins at a cache line, from where the processor loads its vectors fastest."""
    memory = np.empty(int(np.prod(shape)) + CACHE_LINE, dtype=dtype)
    begin = -memory.ctypes.data % CACHE_LINE // memory.itemsize
    return memory[begin : begin + int(np.prod(shape))].reshape(shape)


RUNAWAY_FACTOR = 1e12
"""Centres farther out than this many times the extent of the seeds do not return; their squares stay finite.

A guard, not a tuned value: centres stayed far inside it in all fits tried, and half and double change nothing.
"""
COLLAPSE_SHARE = 0.05
"""A start ends, if another may follow, once two centres are nearer than this share of the smallest distance between two
seeds: such centres hardly move any more, because all moves are proportional to distances between centres.

Set by hand. On 4,000 rows in two arcs, 20 parts and four seeds, a share of 0.025 took 6 % more time and narrowed the
sizes of one of four partitions by a row; a share of 0.1 gave the same partitions in 8 % less time.
"""
MOST_ITERATIONS = 10**8
"""Greatest number of iterations of a start: the history has a number for each of them, 800 MB then."""
ITERATIONS_PER_CALL = 100
"""Iterations of one call of a compiled loop: in between Ctrl-C is handled and progress is reported."""


@attrs.frozen
class DriftRule:
    """How centres move, and when a search ends.

    Parameters
    ----------
    original : bool
        Use the coefficients ``W_j / W_i - 1`` of GeoClust and run all iterations.
    step : float or None
        Factor of every move (the paper's alpha). None: 0.01, ten times less for every ten parts beyond the first ten.
    max_ratio : float
        Bound of the quotient of sizes in the coefficients (the paper's l).
    size_tol : int or None
        Sizes are balanced if their imbalance, the largest difference from ``n // m``, is below this number of rows (the
        paper's epsilon). None: ``n // (50 m)``.
    max_iter : int
    restarts : int
        New starts after one whose sizes are not balanced.
    fade : bool
        Go on with `clusterkit.families.equal.fade` where no start has reached the tolerance; not if `strict`.
    repair : bool
        Move rows at the end until sizes differ by at most one.
    strict : bool
        Use `size_tol` even if no sizes can reach it, return the last iteration instead of the best, and make no new
        start.
    """

    original: bool = False
    step: float | None = None
    max_ratio: float = 3.0
    size_tol: int | None = None
    max_iter: int = 6000
    restarts: int = 1
    fade: bool = False
    repair: bool = False
    strict: bool = False

    @classmethod
    def of(cls, parameters: Mapping[str, object], *, original: bool = False) -> DriftRule:
        """The rule with the parameters of a stage, which have the names of the fields."""
        fields: dict[str, Any] = {"original": original, **parameters}  # the stage has checked them
        return cls(**fields)

    @property
    def new_starts(self) -> int:
        """Largest number of new starts."""
        return 0 if self.strict else self.restarts

    def step_for(self, m: int) -> float:
        """The step for m parts."""
        return 0.01 * 10.0 ** -((m - 1) // 10) if self.step is None else float(self.step)

    def tolerance_for(self, n: int, m: int) -> int:
        """The tolerance for n rows in m parts: unless `strict`, at least a value that some partition falls below."""
        tolerance = n // (50 * m) if self.size_tol is None else int(self.size_tol)
        return tolerance if self.strict else max(tolerance, 2 if n % m else 1)


@attrs.frozen(eq=False)
class Parts:
    """Centres of parts of about equal size, and how the search for them ended.

    Parameters
    ----------
    centres : ndarray of shape (m, d), float64
    imbalance : int
        Largest difference of a size from ``n // m`` with these centres.
    iteration : int
        The iteration these centres belong to, from 1.
    imbalances : ndarray of int
        The imbalance of every iteration of the best start.
    converged : bool
    reason : str
        Why the search ended.
    starts : int
        Number of starts made.
    distinct : int
        Number of seeds that differ in value.
    interrupted : bool
    sizes : ndarray of shape (iterations, m)
        Sizes of every iteration if ``record=True``, else no rows.
    """

    centres: Array
    imbalance: int
    iteration: int
    imbalances: Counts
    converged: bool
    reason: str
    starts: int
    distinct: int
    interrupted: bool
    sizes: Counts


def find_parts(
    X: Array,
    m: int,
    rule: DriftRule,
    rng: np.random.Generator,
    report: Callable[[int, float], None] | None = None,
    *,
    record: bool = False,
) -> Parts:
    """Move centres by the sizes of their clusters until about the same number of rows is nearest to each.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        At least m rows.
    m : int
        Number of parts, at least 2.
    rule : DriftRule
    rng : Generator
        Draws the seeds. The first start does not depend on `restarts`.
    report : callable, optional
        Called with the number of iterations and the lowest imbalance so far, every `ITERATIONS_PER_CALL` iterations.
    record : bool
        Keep the sizes of all iterations.

    Returns
    -------
    Parts
        Result of the start with the lowest imbalance, the first one on ties.

    Notes
    -----
    For the cost of an iteration see `clusterkit.families.equal.equal.Equal`.
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    tolerance, best = rule.tolerance_for(len(X), m), None
    for start in range(rule.new_starts + 1):
        seeds, distinct = random_distinct_rows(X, m, rng)
        loop = _DriftLoop.of(X, X[seeds], rule, tolerance, start < rule.new_starts and distinct == m, record)
        parts = loop.run(rule, tolerance, start + 1, distinct, report)
        if best is None or parts.imbalance < best.imbalance:
            best = attrs.evolve(parts, starts=start + 1)
        else:
            best = attrs.evolve(best, starts=start + 1)
        if parts.converged or parts.interrupted or distinct < m:
            break  # (with fewer than m distinct rows all starts are alike)
    assert best is not None
    return best


def minus_distances(H: Array, centres: Array, offsets: Array) -> Array:
    """``offset_j - |h_i - c_j|²``, (b, m), float64; the values of a row depend on that row alone, to the last bit."""
    from clusterkit.families.equal import drift_jit

    rows = np.empty((len(H), len(centres)))
    H = np.ascontiguousarray(H, dtype=np.float64)
    drift_jit.minus_distances(H, np.ascontiguousarray(centres.T), offsets, rows)
    return rows


def random_distinct_rows(X: Array, m: int, rng: np.random.Generator) -> tuple[Indices, int]:
    """Indices of m random rows, and how many distinct values these have: m, unless X has fewer distinct rows."""
    order = rng.permutation(len(X))
    first_place: dict[bytes, int] = {}
    for begin in range(0, len(X), 4 * m):
        rows = np.ascontiguousarray(X[order[begin : begin + 4 * m]] + 0.0)  # (-0.0 becomes 0.0: equal rows, equal bits)
        for i, row in enumerate(rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist(), begin):
            first_place.setdefault(row, i)
        if len(first_place) >= m:
            break
    places = list(first_place.values())[:m]
    if len(places) == m:
        return order[places], m
    return np.concatenate([order[places], np.delete(order, places)[: m - len(places)]]), len(places)


@attrs.define(eq=False)
class _DriftLoop:
    """State and loop of one start.

    Parameters
    ----------
    iterate : callable
        ``iterate(first, last)`` runs the iterations first..last - 1; returns how many are finished, and why it ended.
    place : callable
        Converts centres from the coordinates of the loop, as columns, to rows (m, d).
    record : DriftRecord
    """

    iterate: Callable[[int, int], tuple[int, int]]
    place: Callable[[Array], Array]
    record: DriftRecord

    @classmethod
    def of(
        cls,
        X: Array,
        seeds: Array,
        rule: DriftRule,
        tolerance: int,
        restarts_follow: bool,
        record: bool,
    ) -> _DriftLoop:
        """Choose the loop: a line for two centres or one attribute, else sweeps."""
        from clusterkit.families.equal import drift_jit

        n, d = X.shape
        m = len(seeds)
        C = np.ascontiguousarray(seeds.T)
        place: Callable[[Array], Array] = _transposed
        on_line = d == 1 or m == 2
        if on_line and d > 1:
            # the unit is a power of 2 times the distance of the seeds: whole numbers stay exact, and ties stay ties
            direction = seeds[1] - seeds[0]
            size = float(np.abs(direction).max())
            scaled = np.ldexp(direction, -np.frexp(size)[1]) if size else direction
            square = float(direction @ scaled)
            Q = np.sort((X - seeds[0]) @ scaled)
            C, place = np.array([[0.0, square]]), _FromLine(seeds[0], direction / square if square else direction)
        elif on_line:
            Q = np.sort(X[:, 0])
        sizes = np.zeros(m, dtype=np.int64)
        history = drift_jit.DriftRecord(
            best_centres=C.copy(),
            last_centres=C.copy(),
            best=np.array([n + 1, 0]),
            imbalances=np.zeros(rule.max_iter, dtype=np.int64),
            sizes=np.zeros((rule.max_iter if record else 0, m), dtype=np.int64),
        )
        settings = drift_jit.DriftSettings(
            step=rule.step_for(m),
            max_ratio=float(rule.max_ratio),
            original=rule.original,
            tolerance=-1 if rule.original else tolerance,
            least_square=float(COLLAPSE_SHARE**2 * drift_jit.closest(C)) if restarts_follow else 0.0,
            largest=RUNAWAY_FACTOR * (float(np.ptp(C, axis=1).max()) + float(np.abs(C).max())),
        )
        iterate: Callable[[int, int], tuple[int, int]]
        if on_line:
            order = np.arange(m)

            def iterate(first: int, last: int) -> tuple[int, int]:
                return drift_jit.run_on_line(Q, C, order, sizes, first, last, settings, history)
        else:
            iterate = TiledLoop(X, C, sizes, settings, history)
        return cls(iterate, place, history)

    def run(
        self,
        rule: DriftRule,
        tolerance: int,
        starts: int,
        distinct: int,
        report: Callable[[int, float], None] | None,
    ) -> Parts:
        """Run all iterations, `ITERATIONS_PER_CALL` at a time; Ctrl-C ends the start with what it has reached."""
        from clusterkit.families.equal import drift_jit as codes

        record = self.record
        done, why, interrupted = 0, codes.GOING, False
        # `clusterkit.contracts.iteration` cannot run these iterations: a compiled loop of numerics makes them
        try:
            while done < rule.max_iter and why == codes.GOING:
                stop = min(rule.max_iter, done + ITERATIONS_PER_CALL)
                done, why = self.iterate(done, stop)
                if report is not None:
                    report(done, float(record.best[0]))
        except KeyboardInterrupt:
            if not done:
                raise
            interrupted = True
        imbalances = record.imbalances[:done]
        if rule.strict:
            centres, imbalance, iteration = record.last_centres, int(imbalances[-1]), done
        else:
            centres, imbalance, iteration = record.best_centres, int(record.best[0]), int(record.best[1]) + 1
        converged = imbalance < tolerance and not interrupted
        if interrupted:
            reason = f"interrupted after {done} iterations: the best centres so far are returned"
        elif converged:
            reason = f"balanced: sizes differ from n // m by {imbalance}, below {tolerance}"
        else:
            ending = {
                codes.GOING: f"max_iter = {rule.max_iter} reached",
                codes.REACHED: "balanced",
                codes.FIXED: "the centres stand still",
                codes.COLLAPSED: "two centres fell together",
                codes.RUNAWAY: "the centres ran away",
            }[why]
            reason = f"{ending} after {done} iterations, sizes differ from n // m by up to {imbalance}"
        return Parts(
            self.place(centres), imbalance, iteration, imbalances, converged, reason, starts, distinct, interrupted,
            record.sizes[:done],
        )  # fmt: skip


def _transposed(C: Array) -> Array:
    return np.ascontiguousarray(C.T)


@attrs.frozen(eq=False)
class _FromLine:
    """Converts positions on the line through two seeds, (1, 2), to centres, (2, d)."""

    origin: Array
    direction: Array

    def __call__(self, P: Array) -> Array:
        centres: Array = self.origin + P.T * self.direction
        return centres
