"""The class of a row by the modules of all pairs of classes: votes, and the values where votes tie."""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels
from clusterkit.estimators._modules import Modules

__all__ = ["Winners", "votes_and_confidences"]


@final
@attrs.frozen(eq=False)
class Winners:
    """The number of the class of each row: frozen and picklable, because an engine sends it to where the rows lie.

    Parameters
    ----------
    modules : Modules
    method : str
        `predict_method` of the classifier.
    """

    modules: Modules
    method: str

    def __call__(self, X: Array) -> Labels:
        """Classes of a block of raw rows, (b, d) to (b,)."""
        return self.of(np.ascontiguousarray(X, dtype=np.float64))[0]

    def of(self, X: Array) -> tuple[Labels, Counts]:
        """Classes of rows (m, d) of float64, and how many modules were evaluated for each."""
        modules, method = self.modules, self.method
        c = len(modules.first) - 1
        search = modules.staircase if method == "approximate" else getattr(modules, method)
        values, evaluated = search(X)
        votes = _votes(values, c)
        if c == 2:
            winners = np.argmax(votes, axis=1)
        elif method not in ("row_break", "approximate"):
            winners = np.argmax(votes + _confidences(values, c), axis=1)
        else:  # signs only: the strength of a decision matters only where votes tie
            winners = np.argmax(votes, axis=1)
            tied = np.flatnonzero((votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1)
            if len(tied):
                exact, more = modules.alpha_beta(X[tied])
                winners[tied] = np.argmax(votes[tied] + _confidences(exact, c), axis=1)
                evaluated[tied] += more
        return winners, evaluated


def votes_and_confidences(values: Array, c: int) -> Array:
    """Votes plus a sum of values that is squashed to less than a third, (n, c), from the values of all pairs."""
    return _votes(values, c) + _confidences(values, c)


def _votes(values: Array, c: int) -> Array:
    """Votes, shape (n, c), of the pairs of classes p < q, whose value is positive for q."""
    votes = np.zeros((len(values), c))
    for column, (p, q) in enumerate(zip(*np.triu_indices(c, 1), strict=True)):
        later = values[:, column] > 0
        votes[:, p] += ~later
        votes[:, q] += later
    return votes


def _confidences(values: Array, c: int) -> Array:
    """Sums, shape (n, c), of the values for a class, squashed to (-1/3, 1/3): they decide among equal votes only."""
    sums = np.zeros((len(values), c))
    for column, (p, q) in enumerate(zip(*np.triu_indices(c, 1), strict=True)):
        sums[:, p] -= values[:, column]
        sums[:, q] += values[:, column]
    return sums / (3 * (np.abs(sums) + 1))
