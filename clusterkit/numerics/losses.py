"""Sums of margin and regression losses over sorted scores, for many biases or labellings at once."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Floats, Indices

LOSSES = ("hinge", "laplacian", "epsilon", "square")
"""Losses of a residual r = g + b - y: ``max(0, -y r)``, ``|r|``, ``max(0, |r| - epsilon)`` and ``r²``."""


def loss_of(residual: Floats, y: Floats, loss: str, epsilon: float) -> float:
    """Sum of the losses of residuals (n,) for targets y (n,) of -1 and +1.

    Examples
    --------
    >>> loss_of(np.array([0.5, 3.0]), np.array([-1.0, 1.0]), "hinge", 0.0)
    0.5
    """
    if loss == "square":
        return float(residual @ residual)
    if loss == "hinge":
        return float(np.maximum(0.0, -y * residual).sum())
    return float(np.maximum(0.0, np.abs(residual) - (epsilon if loss == "epsilon" else 0.0)).sum())


@final
@attrs.frozen(eq=False)
class SortedScores:
    """Scores in ascending order with their prefix sums: a sum of losses then costs two binary searches.

    Parameters
    ----------
    g : ndarray of shape (n,)
        Scores less `origin`, ascending.
    sums, squares : ndarray of shape (n + 1,)
        Prefix sums of g and g².
    origin : float
        Mean of the scores. Without it the prefix sums would be larger, and their differences would lose digits.
    """

    g: Floats
    sums: Floats
    squares: Floats
    origin: float

    @classmethod
    def of(cls, scores: Array) -> SortedScores:
        """Sort scores (n,), O(n log n)."""
        g = np.sort(scores.astype(np.float64))
        origin = float(g.mean()) if len(g) else 0.0
        g -= origin
        zero = np.zeros(1)
        return cls(g, np.concatenate([zero, np.cumsum(g)]), np.concatenate([zero, np.cumsum(g * g)]), origin)

    def losses(
        self, first: int | Indices, last: int | Indices, y: float, bias: Floats, loss: str, epsilon: float
    ) -> Floats:
        """Sums of the losses of the sorted scores first..last - 1 with target y, one for each bias (m,); O(m log n).

        `first` and `last` are integers or arrays (m,).
        """
        shift = y - bias - self.origin  # the score without loss
        if loss == "square":
            linear = self.sums[last] - self.sums[first]
            return np.asarray(
                self.squares[last] - self.squares[first] - 2.0 * shift * linear + (last - first) * shift**2
            )
        width = epsilon if loss == "epsilon" else 0.0
        total = np.zeros(len(bias))
        if loss != "hinge" or y < 0:
            total += self._above(first, last, shift + width)
        if loss != "hinge" or y > 0:
            total += self._below(first, last, shift - width)
        return total

    def _above(self, first: int | Indices, last: int | Indices, level: Floats) -> Floats:
        """Sums of ``max(0, g - level)``."""
        at = np.clip(np.searchsorted(self.g, level, side="right"), first, last)
        return np.asarray(self.sums[last] - self.sums[at] - (last - at) * level)

    def _below(self, first: int | Indices, last: int | Indices, level: Floats) -> Floats:
        """Sums of ``max(0, level - g)``."""
        at = np.clip(np.searchsorted(self.g, level, side="left"), first, last)
        return np.asarray((at - first) * level - (self.sums[at] - self.sums[first]))


def best_bias(scores: Floats, y: Floats, loss: str, epsilon: float) -> float:
    """The bias of least total loss for scores (n,) and targets y (n,) of -1 and +1; O(n log n).

    All losses except the square are piecewise linear in the bias, so one of the breakpoints is optimal.

    Examples
    --------
    >>> best_bias(np.array([0.0, 1.0, 4.0]), np.array([-1.0, -1.0, 1.0]), "square", 0.0)
    -2.0
    """
    if loss == "square":
        return float(np.mean(y - scores))
    breaks = y - scores
    if loss == "epsilon":
        breaks = np.concatenate([breaks - epsilon, breaks + epsilon])
    total = np.zeros(len(breaks))
    for target in (-1.0, 1.0):
        part = SortedScores.of(scores[y == target])
        total += part.losses(0, len(part.g), target, breaks, loss, epsilon)
    return float(breaks[np.argmin(total)])
