"""The modules of a min-max modular classifier, evaluated together.

The class of a row follows from the modules of all pairs of classes: by votes, and by values where votes tie; or by the
least value of each class.
"""

from __future__ import annotations

from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Counts, Labels
from clusterkit.numerics.distances import squared_distances
from clusterkit.numerics.gaussian_jit import gaussian_block
from clusterkit.numerics.shapes import array, scalar
from clusterkit_min_max.min_max_jit import ALPHA_BETA, ROW_BREAK, STAIRCASE, search
from clusterkit_min_max.training import TrainedModule

__all__ = [
    "Modules",
    "Winners",
    "values_of_classes",
]


BLOCK = 4_000_000
"""Most numbers in the largest array of a block of rows: 32 MB of float64, so that it fits into memory with the model,
and matrix products still use all of the processor."""


@final
@attrs.frozen(eq=False)
class Modules:
    """All modules of a fit, over the union of their support vectors.

    Parts are numbered class by class. Of two classes the later one is the positive one. The sequential search is in
    min_max_jit.py (`search`).

    Parameters
    ----------
    points : ndarray of shape (s, d)
        Distinct support vectors, part after part.
    gamma : float
    offsets : ndarray of shape (P + 1,)
        Index of the first support vector of each part.
    coefficients : ndarray of shape (P, s)
        Entry ``[b, i]`` is the coefficient of support vector i in the module of its own part and part b.
    intercepts : ndarray of shape (P, P)
        Symmetric.
    first : ndarray of shape (c + 1,)
        Number of the first part of each class.
    centres : ndarray of shape (P, d)
        Means of the parts.
    """

    points: Array = attrs.field(validator=array("s d"))
    gamma: float = attrs.field(validator=scalar(least=0))
    offsets: Labels = attrs.field(validator=array("P+1", divides="s"))
    coefficients: Array = attrs.field(validator=array("P s"))
    intercepts: Array = attrs.field(validator=array("P P"))
    first: Labels = attrs.field(validator=array("c+1", divides="P", distinct=True))
    centres: Array = attrs.field(validator=array("P d"))

    @classmethod
    def join(
        cls, X: Array, part_of: Labels, first: Labels, trained: dict[tuple[int, int], TrainedModule], gamma: float
    ) -> tuple[Modules, Labels]:
        """Join the modules ``trained[negative part, positive part]``.

        Returns the modules and the training rows that are support vectors of any of them.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        part_of : ndarray of shape (n,)
            Part of each row.
        first : ndarray of shape (c + 1,)
        trained : dict
        gamma : float
        """
        P = int(first[-1])
        used = np.zeros(len(X), dtype=bool)
        for machine in trained.values():
            used[machine.support] = True
        support = np.flatnonzero(used)
        support = support[np.argsort(part_of[support], kind="stable")]
        place = np.full(len(X), -1)
        place[support] = np.arange(len(support))
        coefficients, intercepts = np.zeros((P, len(support))), np.zeros((P, P))
        for (a, b), machine in trained.items():
            other = np.where(part_of[machine.support] == a, b, a)
            coefficients[other, place[machine.support]] = machine.coefficients
            intercepts[a, b] = intercepts[b, a] = machine.intercept
        offsets = np.searchsorted(part_of[support], np.arange(P + 1))
        centres = np.stack([X[part_of == part].mean(axis=0) for part in range(P)])
        return cls(X[support], gamma, offsets, coefficients, intercepts, first, centres), support

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of classes, the negative class first, in the order of the columns of values."""
        c = len(self.first) - 1
        return [(p, q) for p in range(c) for q in range(p + 1, c)]

    @property
    def count(self) -> int:
        """Number of modules."""
        sizes = np.diff(self.first)
        return int(sum(sizes[p] * sizes[q] for p, q in self.pairs))

    def shared(self, Y: Array) -> tuple[Array, Labels]:
        """Min-max values, shape (n, pairs), from all modules, and the number of modules evaluated for each row.

        One block of kernel values and one matrix product for each part. O(n s (d + P)) time.
        """
        widest = max(int(np.diff(self.first).max()) ** 2, len(self.points), 1)
        step = max(1, BLOCK // widest)
        values = np.empty((len(Y), len(self.pairs)))
        for start in range(0, len(Y), step):
            K = gaussian_block(Y[start : start + step], self.points, self.gamma)
            for column, (p, q) in enumerate(self.pairs):
                values[start : start + step, column] = self._between(K, p, q).min(axis=2).max(axis=1)
        return values, np.full(len(Y), self.count)

    def _between(self, K: Array, p: int, q: int) -> Array:
        """Values, shape (n, parts of q, parts of p), of the modules of two classes."""
        negatives, positives = (range(self.first[c], self.first[c + 1]) for c in (p, q))
        here, there = (slice(parts.start, parts.stop) for parts in (negatives, positives))
        S = np.empty((len(K), len(positives), len(negatives)))
        for i, part in enumerate(positives):
            supports = slice(self.offsets[part], self.offsets[part + 1])
            np.matmul(K[:, supports], self.coefficients[here, supports].T, out=S[:, i])
        S += self.intercepts[there, here]
        for j, part in enumerate(negatives):
            supports = slice(self.offsets[part], self.offsets[part + 1])
            S[:, :, j] += K[:, supports] @ self.coefficients[there, supports].T
        return S

    def alpha_beta(self, Y: Array) -> tuple[Array, Labels]:
        """Min-max values, and the number of modules evaluated; a positive part is left once it cannot be the best."""
        return self._search(Y, ALPHA_BETA)

    def row_break(self, Y: Array) -> tuple[Array, Labels]:
        """Signs of the min-max values as 1.0 and -1.0 (-1.0 for 0), and the number of modules evaluated."""
        return self._search(Y, ROW_BREAK)

    def staircase(self, Y: Array) -> tuple[Array, Labels]:
        """Guessed signs from at most K+ + K- - 1 modules for each pair of classes, and the number evaluated."""
        return self._search(Y, STAIRCASE)

    def _search(self, Y: Array, rule: int) -> tuple[Array, Labels]:
        columns = np.ascontiguousarray(self.points.T)
        if Y.shape[1] != len(columns):
            raise ValueError(f"rows of {Y.shape[1]} numbers for modules of {len(columns)}")
        step = max(1, BLOCK // len(self.centres))
        blocks = []
        for start in range(0, len(Y), step):
            rows = Y[start : start + step]
            order = self._numbered(rows) if rule == STAIRCASE else self._nearest_first(rows)
            supports = self.coefficients, self.intercepts, self.first
            blocks.append(search(rows, columns, self.gamma, self.offsets, *supports, order, rule))
        values, evaluated = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return values, evaluated

    def _numbered(self, Y: Array) -> Labels:
        return np.tile(np.arange(len(self.centres)), (len(Y), 1))

    def _nearest_first(self, Y: Array) -> Labels:
        """The parts, class by class, by increasing distance of their centres.

        Any order gives the same answer; in this order the first module evaluated most often decides.
        """
        D = squared_distances(Y, self.centres)
        ends = zip(self.first[:-1], self.first[1:], strict=True)
        return np.concatenate([start + np.argsort(D[:, start:stop], axis=1, kind="stable") for start, stop in ends], 1)


@final
@attrs.frozen(eq=False)
class Winners:
    """The number of the class of each row: frozen and picklable, because an engine sends it to where the rows lie.

    Parameters
    ----------
    modules : Modules
    method : str
        `predict_method` of the classifier.
    combine : str, default "votes"
        `combine` of the classifier.
    """

    modules: Modules
    method: str
    combine: str = "votes"

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
        winners, by_minimum = np.argmax(votes, axis=1), self.combine == "minimum"
        if c == 2:
            return winners, evaluated
        if method not in ("row_break", "approximate"):
            return np.argmax(values_of_classes(values, c, self.combine), axis=1), evaluated
        # signs only: the strength of a decision matters only where votes tie, or where no class wins all its pairs
        most = votes.max(axis=1, keepdims=True)
        open_ = np.flatnonzero(most[:, 0] < c - 1 if by_minimum else (votes == most).sum(axis=1) > 1)
        if len(open_):
            exact, more = modules.alpha_beta(X[open_])
            # the votes are guessed ones by "approximate"
            scores = _minima(exact, c) if by_minimum else votes[open_] + _confidences(exact, c)
            winners[open_] = np.argmax(scores, axis=1)
            evaluated[open_] += more
        return winners, evaluated


def values_of_classes(values: Array, c: int, combine: str) -> Array:
    """What the classes are compared by, (n, c), from the values of all pairs: `combine` of the classifier.

    By votes, plus a sum of values that is squashed to less than a third; or by the least value of each class.
    """
    return _minima(values, c) if combine == "minimum" else _votes(values, c) + _confidences(values, c)


def _minima(values: Array, c: int) -> Array:
    """The least value of each class over its pairs, (n, c), from the values of all pairs."""
    least = np.full((len(values), c), np.inf)
    for column, (p, q) in enumerate(zip(*np.triu_indices(c, 1), strict=True)):
        np.minimum(least[:, p], -values[:, column], out=least[:, p])
        np.minimum(least[:, q], values[:, column], out=least[:, q])
    return least


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
