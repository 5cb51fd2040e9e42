"""Equal clustering where moving centres by sizes alone does not reach balance: weighted cells whose weights fade.

For any centres there are weights w such that the cells ``argmin_j |x - c_j|² - w_j`` have equal sizes (Aurenhammer,
Hoffmann, Aronov 1998); a repair finds them. Here the weights go to zero in small steps, and after each step the centres
move so that the sizes stay equal. At weight zero the cells are those of the rows nearest to each centre.

The centres move by Levenberg and Marquardt's steps on the differences of the sizes. The derivative of a size is an
integral of the density over the borders of its cell: moving c_i by δ adds ``2 Σ (x - c_i)·δ / h`` rows, the sum over
the rows x next to the border up to a gap h between the two squared distances. A border that crosses an empty stretch
has rows at different distances on both sides, so only rows on the side that it moves to are counted.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Indices
from clusterkit.families.equal.drift import DriftRule, Parts, even_out, find_parts, minus_distances

MEAN_ITERATIONS = 5
"""Iterations of balanced k-means before the weights fade: each centre becomes the mean of its cell of equal size.
Weights are then small: without any iteration 12 of 42 runs on generated mixtures ended below 2 % of the mean size, with
five 17, in less time."""
ROUNDS = 6
"""Largest number of rounds in which weights are computed anew and fade: the weights that remain after a round are
small."""
COUNTS = 600
"""Largest number of times that sizes are counted before a call ends; a bound of the time, about 3 s for 40,000 rows in
20 parts."""
FIRST_SHARE = 0.2
"""Share of the weights that the first step of a round removes; steps grow after success and shrink after failure."""
LEAST_SHARE = 1e-5
"""A round ends if its steps become shorter than this share of the weights."""
JUMP = 0.5
"""A step that leaves a size farther off than this share of the mean is halved at once, without moving centres."""
AIM, LIMIT = 0.03, 0.1
"""Shares of the mean size: on the way the centres move until the sizes differ by the first, and a step is taken back if
they still differ by more than the second. With 0.01 and 0.02 the way ended early on the mixture tried."""
MOVES, LAST_MOVES = 8, 24
"""Largest number of moves of the centres after a step, and after the last one, at weight zero."""
LONGEST = 0.3
"""Longest move, as a share of the distance to the nearest other centre."""
DAMPING = 1e-5
"""First damping, relative to the square of the largest singular value; ten times more after each move that fails."""
LEAST_ROWS = 20
"""Smallest number of rows on a side of a border from which its density is estimated."""


@attrs.frozen(eq=False)
class Cells:
    """Centres and weights of a power diagram, with the nearest cells of the rows and the sizes.

    Parameters
    ----------
    centres : ndarray of shape (m, d)
    weights : ndarray of shape (m,)
    first, second : integer ndarrays of shape (n,)
        The two cells with the largest scores, ``w_j - |x - c_j|²``, of each row.
    gap : ndarray of shape (n,)
        Difference of the two scores.
    sizes : integer ndarray of shape (m,)
    """

    centres: Array
    weights: Array
    first: Indices
    second: Indices
    gap: Array
    sizes: Counts

    @classmethod
    def of(cls, X: Array, centres: Array, weights: Array) -> Cells:
        """Count the sizes, O(n m d)."""
        scores, places = minus_distances(X, centres, weights), np.arange(len(X))
        first = np.argmax(scores, axis=1)
        largest = scores[places, first]
        scores[places, first] = -np.inf
        second = np.argmax(scores, axis=1)
        gap = largest - scores[places, second]
        return cls(centres, weights, first, second, gap, np.bincount(first, minlength=len(centres)))

    @property
    def excess(self) -> Array:
        """Sizes minus their mean."""
        return self.sizes - self.sizes.mean()

    @property
    def imbalance(self) -> int:
        """Largest difference of a size from ``n // m``."""
        return int(np.abs(self.sizes - self.sizes.sum() // len(self.sizes)).max())


def find_even_parts(
    X: Array, m: int, rule: DriftRule, rng: np.random.Generator, report: Callable[[int, float], None] | None = None
) -> Parts:
    """The result of `find_parts`, improved by fading weights if it misses the tolerance and ``rule.fade`` is set.

    If fading lowers the imbalance, its result counts as one more iteration, the last one.
    """
    parts = find_parts(X, m, rule, rng, report)
    tried = parts.converged or parts.interrupted
    if tried or not rule.fade or rule.strict or parts.distinct < m or not np.isfinite(parts.centres).all():
        return parts
    X, tolerance = np.ascontiguousarray(X, dtype=np.float64), rule.tolerance_for(len(X), m)
    cells = fade_weights(X, parts.centres, tolerance)
    if cells.imbalance >= parts.imbalance:
        return parts
    converged, done = cells.imbalance < tolerance, len(parts.imbalances) + 1
    ending = f"below {tolerance}" if converged else f"not below {tolerance}"
    return attrs.evolve(
        parts,
        centres=cells.centres,
        imbalance=cells.imbalance,
        iteration=done,
        imbalances=np.append(parts.imbalances, cells.imbalance),
        converged=converged,
        reason=f"weights faded after {done - 1} iterations: sizes differ from n // m by {cells.imbalance}, {ending}",
    )


def fade_weights(X: Array, centres: Array, tolerance: int) -> Cells:
    """Move centres until the sizes of their cells, without weights, differ from ``n // m`` by less than `tolerance`.

    Parameters
    ----------
    X : ndarray of shape (n, d), float64
        n >= m.
    centres : ndarray of shape (m, d)
        m >= 2, distinct.
    tolerance : int

    Returns
    -------
    Cells
        Cells with weights of zero: the cells with the lowest imbalance reached.

    Notes
    -----
    O(n m d + n log n + m³ d) for each of at most `COUNTS` + `LAST_MOVES` counts, roughly; memory O(n m + m³ d).
    """
    m, left = len(centres), [COUNTS]
    zero, share = np.zeros(m), FIRST_SHARE
    best = Cells.of(X, centres, zero)
    iterations = MEAN_ITERATIONS
    for _ in range(ROUNDS):
        rows, weights, _, _ = even_out(minus_distances(X, centres, zero))
        for _ in range(iterations):
            labels = np.argmax(rows, axis=1)
            centres = np.array([X[labels == j].mean(axis=0) for j in range(m)])
            rows, weights, _, _ = even_out(minus_distances(X, centres, zero))
        centres, finished = _fade(X, Cells.of(X, centres, weights - weights.mean()), tolerance, share, left)
        cells = Cells.of(X, centres, zero)
        if cells.imbalance < best.imbalance:
            best = cells
        if best.imbalance < tolerance or left[0] <= 0:
            break
        share, iterations = 0.5, 0 if finished else 1
    return best


def _fade(X: Array, cells: Cells, tolerance: int, share: float, left: list[int]) -> tuple[Array, bool]:
    """Reduce the weights to 0 in steps; returns the centres of the last step, and whether the weights reached 0."""
    mean, full, part = len(X) / len(cells.centres), cells.weights, 1.0
    while part > 0.0 and share >= LEAST_SHARE and left[0] > 0:
        smaller = max(0.0, part - share)
        share = part - smaller
        trial = Cells.of(X, cells.centres, smaller * full)
        left[0] -= 1
        if trial.imbalance > JUMP * mean:
            share *= 0.5
            continue
        if smaller:
            trial = _even_by_moves(X, trial, AIM * mean, MOVES, left)
        else:
            trial = _even_by_moves(X, trial, 0.25 * tolerance, LAST_MOVES, left)
        if trial.imbalance > max(LIMIT * mean, tolerance - 1):
            share *= 0.4
            continue
        cells, part, share = trial, smaller, 1.6 * share
    return cells.centres, part == 0.0


def _even_by_moves(X: Array, cells: Cells, aim: float, moves: int, left: list[int]) -> Cells:
    """Move the centres, weights fixed, until the imbalance is at most `aim` or no move lowers the sum of squares."""
    damping, (m, d) = DAMPING, cells.centres.shape
    for _ in range(moves):
        if cells.imbalance <= aim:
            break
        excess = cells.excess
        squares = excess @ excess
        sides, borders = _border_rates(X, cells)
        apart = ((cells.centres[:, None] - cells.centres) ** 2).sum(axis=2) + np.diag(np.full(m, np.inf))
        unit = np.sqrt(apart.min(axis=1))
        sides = sides * np.repeat(unit, d)
        for _ in range(6):
            move = _damped_move(sides, borders, excess, damping).reshape(m, d)
            longest = float(np.sqrt((move**2).sum(axis=1)).max())
            if longest > LONGEST:
                move *= LONGEST / longest
            trial = Cells.of(X, cells.centres + move * unit[:, None], cells.weights)
            left[0] -= 1
            if trial.excess @ trial.excess < 0.98 * squares:
                break
            damping *= 10.0
        else:
            break
        if trial.excess @ trial.excess < 0.3 * squares:
            damping *= 0.1
        cells = trial
    return cells


def _border_rates(X: Array, cells: Cells) -> tuple[Array, Indices]:
    """Rates at which rows change cells at each of b borders as the m centres move, (2, b, m d), and its cells, (b, 2).

    A rate is the number of rows that the first cell of a border gains per unit of a coordinate of a centre. Side 0 is
    estimated from the rows of the first cell near the border, side 1 from those of the second.
    """
    m, d = cells.centres.shape
    low, high = np.minimum(cells.first, cells.second), np.maximum(cells.first, cells.second)
    key = 2 * (low * m + high) + (cells.first > cells.second)
    order = np.lexsort((cells.gap, key))
    keys, begins, counts = np.unique(key[order], return_index=True, return_counts=True)
    borders, place = np.unique(keys // 2, return_inverse=True)
    both = np.bincount(place, weights=counts)
    share = float(np.clip(0.15 * cells.imbalance * m / len(X), 0.0015, 0.25))
    sides = np.zeros((2, len(borders), m, d))
    for entry, border, begin, count in zip(keys, place, begins, counts, strict=True):
        i, j = divmod(int(entry) // 2, m)
        near = min(int(count), max(LEAST_ROWS, int(share * both[border])))
        width = cells.gap[order[begin + near - 1 : begin + min(near + 1, count)]].mean()
        if width > 0.0:
            total = X[order[begin : begin + near]].sum(axis=0)
            sides[entry % 2, border, i] = 2.0 * (total - near * cells.centres[i]) / width
            sides[entry % 2, border, j] = -2.0 * (total - near * cells.centres[j]) / width
    return sides.reshape(2, len(borders), m * d), np.stack([borders // m, borders % m], axis=1)


def _damped_move(sides: Array, borders: Indices, excess: Array, damping: float) -> Array:
    """The damped least-squares move against `excess`, (m d,): first with both sides of all borders, then with one."""
    both = 0.5 * (sides[0] + sides[1])
    move = _least_squares(both, borders, excess, damping)
    gains = both @ move > 0.0  # then the first cell gains rows of the second
    return _least_squares(np.where(gains[:, None], sides[1], sides[0]), borders, excess, damping)


def _least_squares(rates: Array, borders: Indices, excess: Array, damping: float) -> Array:
    """The damped least-squares move against `excess`, (m d,), for given rates of the borders, (b, m d)."""
    slopes = np.zeros((len(excess), rates.shape[1]))
    np.add.at(slopes, borders[:, 0], rates)
    np.add.at(slopes, borders[:, 1], -rates)
    U, singular, V = np.linalg.svd(slopes, full_matrices=False)
    bound = max(damping * singular[0] ** 2, np.finfo(float).tiny)
    move: Array = -V.T @ (singular / (singular**2 + bound) * (U.T @ excess))
    return move
