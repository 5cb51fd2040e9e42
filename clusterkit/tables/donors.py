"""Gaps are filled from the row that is most similar in the other columns, among a few rows that the fit keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self, final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Mask
from clusterkit.core.shapes import shaped
from clusterkit.tables.plans import CategoryColumn, ColumnPlan

__all__ = ["GAP_CHOICES", "Donors", "can_be_gap", "has_gaps", "value_features"]

GAP_CHOICES = ("similar", "typical")
"""What fills gaps, the default first."""

MOST_DONORS = 500
"""Most rows that are kept: enough to have some in every cluster of a few per cent, and few enough that a million rows
with gaps are compared with all of them within seconds."""

MOST_CELLS = 2_000_000
"""Most features of all of them together: 16 MiB in every model."""

PAIRS = 2**20
"""Distances that are held at once: 8 MiB."""

EQUAL = attrs.cmp_using(eq=np.array_equal)
"""How fields of arrays are compared."""


@final
@attrs.frozen
class Donors:
    """Rows of the fit that lend their values to rows with gaps.

    Parameters
    ----------
    features : ndarray of shape (donors, features)
        Their features, finite; where a donor has a gap itself, those of the most similar other one.
    has : ndarray of shape (donors, used columns), bool
        Whether a donor has a value in a column, and can lend it.

    Notes
    -----
    Nearest-neighbour hot-deck imputation (Chen & Shao 2000, Nearest neighbor imputation for survey data, Journal of
    Official Statistics 16; Andridge & Little 2010, A review of hot deck imputation for survey non-response,
    International Statistical Review 78), with donors that are fixed by the fit, so that a row gets the same values
    whatever other rows come with it.
    """

    features: Array = attrs.field(validator=shaped("donors", "features"), eq=EQUAL, hash=False)
    has: Mask = attrs.field(validator=shaped("donors", "columns"), eq=EQUAL, hash=False)

    def __attrs_post_init__(self) -> None:
        if not len(self.features) or not np.isfinite(self.features).all():
            raise ValueError("donors must have finite features, and there must be one of them at least")

    def __len__(self) -> int:
        return len(self.features)

    @classmethod
    def among(cls, X: Array, gaps: Mask, plans: Sequence[ColumnPlan]) -> Self | None:
        """Donors among rows of a fit; None if no row has a value in a column that may have gaps.

        One half are the first rows, whatever gaps they have, because rows of one cluster may have more gaps than those
        of others; the other half are those with the fewest gaps among the rest. Those with fewer gaps are first.

        Parameters
        ----------
        X : ndarray of shape (n, features)
        gaps : ndarray of shape (n, used columns), bool
        plans : sequence of ColumnPlan
            Of the used columns.
        """
        rows = np.flatnonzero(~gaps[:, can_be_gap(plans)].all(axis=1))
        if not len(rows):
            return None
        most = max(1, min(MOST_DONORS, MOST_CELLS // X.shape[1]))
        first, rest = np.split(rows, [(most + 1) // 2])
        count = gaps.sum(axis=1)
        rest = rest[np.argsort(count[rest], kind="stable")][: most - len(first)]
        rows = np.sort(np.concatenate([first, rest]))
        rows = rows[np.argsort(count[rows], kind="stable")]
        has = ~gaps[rows]
        features = X[rows]
        cls(X[rows], has).fill(features, ~has, plans)
        return cls(features, has)

    def fill(self, X: Array, gaps: Mask, plans: Sequence[ColumnPlan]) -> None:
        """Write the features of donors where rows have gaps.

        A gap takes the features of the nearest donor that has the column, in the features of the columns that the row
        has; of equally near ones of the first. Several gaps of a row mostly have one donor. Features that say whether
        there is a gap are not compared and stay as they are, and so does a row without any value, and a gap in a column
        that no donor has.

        Parameters
        ----------
        X : ndarray of shape (n, features)
            Changed in place.
        gaps : ndarray of shape (n, used columns), bool
        plans : sequence of ColumnPlan
            Of the used columns.

        Notes
        -----
        O(m r d) for m rows with gaps, r donors and d features; at most `PAIRS` distances are held at once.
        """
        from scipy.spatial.distance import cdist

        features, fillable, lent = value_features(plans), can_be_gap(plans), self.has.any(axis=0)
        for rows in _alike(gaps):
            missing = gaps[rows[0]]
            lacking = np.flatnonzero(missing & lent)
            if missing[fillable].all() or not len(lacking):
                continue
            compared = np.concatenate([its for its, gap in zip(features, missing, strict=True) if not gap])
            written = np.concatenate([features[j] for j in lacking])
            place = np.repeat(np.arange(len(lacking)), [len(features[j]) for j in lacking])
            points, able = self.features[:, compared], self.has.T[lacking]
            step = max(1, PAIRS // able.size)
            for start in range(0, len(rows), step):
                part = rows[start : start + step]
                # each distance is a sum of its own, in the order of the features, and not of a matrix product, so that
                # it is the same whatever other rows there are
                distances = cdist(X[np.ix_(part, compared)], points, "sqeuclidean")
                nearest = np.where(able, distances[:, None], np.inf).argmin(axis=2)
                X[np.ix_(part, written)] = self.features[nearest[:, place], written]


def _alike(gaps: Mask) -> Iterator[Indices]:
    """The rows with gaps, those with gaps in the same columns together."""
    rows = np.flatnonzero(gaps.any(axis=1))
    if len(rows):
        bits = np.packbits(gaps[rows], axis=1)
        _, pattern = np.unique(bits.view(f"S{bits.shape[1]}").ravel(), return_inverse=True)
        order = np.argsort(pattern, kind="stable")
        yield from np.split(rows[order], np.flatnonzero(np.diff(pattern[order])) + 1)


def value_features(plans: Sequence[ColumnPlan]) -> list[Indices]:
    """The features of each column, (features,), without the one that says whether there is a gap.

    Parameters
    ----------
    plans : sequence of ColumnPlan
        Of the used columns.
    """
    ends = np.cumsum([len(plan.features) for plan in plans])
    return [
        np.arange(end - len(plan.features), end - bool(getattr(plan, "told_by", "")))
        for plan, end in zip(plans, ends.tolist(), strict=True)
    ]


def can_be_gap(plans: Sequence[ColumnPlan]) -> Mask:
    """Which columns can have a gap: all but those of one level or a gap, where the gap is a level too."""
    return np.array([not (isinstance(plan, CategoryColumn) and plan.or_gap) for plan in plans], dtype=bool)


def has_gaps(plans: Sequence[ColumnPlan]) -> bool:
    """Whether columns have gaps to fill, and there is another one to compare rows by."""
    plain = [plan for plan, gap in zip(plans, can_be_gap(plans), strict=True) if plan.used and gap]
    return len(plain) > 1 and any(getattr(plan, "gaps", 0) for plan in plain)
