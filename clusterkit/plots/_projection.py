"""Projection of points with any number of coordinates to two coordinates of a plot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.errors import InvalidParameter

__all__ = ["Projection", "spreads_of"]

ALIKE = 10.0
"""Ratio of standard deviations up to which attributes are taken to have the same unit."""


@final
@attrs.frozen(eq=False)
class Projection:
    """A map of points (n, d) to places (n, 2) in a plot.

    For d = 2 it is the identity. A single coordinate gets a height as its second one. For d > 2 it takes the first two
    principal components, or two selected coordinates.

    Parameters
    ----------
    origin : ndarray of shape (d,)
    basis : ndarray of shape (d, 2) or (d, 1)
    height : callable or None
        Second coordinate for d = 1, a function of (m, 1) to (m,).
    names : tuple of str
        Names of the two axes.
    note : str
        Text for a title; "" for d = 2.
    """

    origin: Array
    basis: Array
    height: Callable[[Array], Array] | None
    names: tuple[str, str]
    note: str

    @classmethod
    def of(
        cls,
        points: Array,
        names: Sequence[str],
        dims: tuple[int, int] | None,
        caller: str,
        *,
        height: tuple[Callable[[Array], Array], str],
        scaling: bool = False,
    ) -> Projection:
        """The projection for points (n, d); `height` and its name are used for d = 1. O(n d min(n, d)) for d > 2.

        With `scaling`, attributes of very different spread are divided by it before the components are computed.
        """
        d = points.shape[1]
        if dims is not None:
            i, j = _checked(dims, d, caller)
            basis: Array = np.zeros((d, 2))
            basis[i, 0] = basis[j, 1] = 1.0
            note = "" if d == 2 else f"Two of {d} attributes"
            return cls(np.zeros(d), basis, None, (names[i], names[j]), note)
        if d == 1:
            return cls(np.zeros(1), np.ones((1, 1)), height[0], (names[0], height[1]), "")
        if d == 2:
            return cls(np.zeros(2), np.eye(2), None, (names[0], names[1]), "")
        spreads = spreads_of(points) if scaling else None
        origin, basis, shares = _principal(points, spreads)
        titles = tuple(f"principal component {i + 1} ({share:.0%} of the variance)" for i, share in enumerate(shares))
        note = f"First two principal components of {d} attributes" + ("" if spreads is None else ", standardised")
        return cls(origin, basis, None, (titles[0], titles[1]), note)

    @property
    def keeps_space(self) -> bool:
        """Whether the plot shows the whole space (d = 2), so that a contour can be drawn in it."""
        return self.height is None and len(self.origin) == 2

    def __call__(self, Y: Array) -> Array:
        """Places of the rows of Y (m, d), (m, 2)."""
        Y = np.asarray(Y, dtype=np.float64)
        places = (Y - self.origin) @ self.basis
        if self.height is not None:
            places = np.column_stack([places, self.height(Y)])
        return places

    def lift(self, places: Array) -> Array:
        """Points (m, 2) of places (m, 2); only for d = 2."""
        return np.ascontiguousarray(places @ self.basis.T + self.origin)


def _checked(dims: tuple[int, int], d: int, caller: str) -> tuple[int, int]:
    try:
        i, j = (int(value) for value in dims)
        exact = [i, j] == list(dims)
    except (TypeError, ValueError):
        exact = False
    if not exact or not (0 <= i < d and 0 <= j < d and i != j):
        raise InvalidParameter(
            f"{caller}: dims must be two different coordinates between 0 and {d - 1}, got {dims!r}"
            + (" (there is one only: leave dims out)" if d == 1 else "")
        )
    return i, j


def spreads_of(points: Array) -> Array | None:
    """Standard deviations (d,), of constant attributes the largest one; None if they are similar."""
    spreads = points.std(axis=0, dtype=np.float64)
    spreads[spreads == 0.0] = spreads.max() or 1.0
    return spreads if spreads.max() > ALIKE * spreads.min() else None


def _principal(points: Array, spreads: Array | None) -> tuple[Array, Array, Array]:
    """Mean, first two principal directions (d, 2) and their shares of the variance; zeros without variance."""
    from sklearn.decomposition import PCA

    d = points.shape[1]
    basis, shares = np.zeros((d, 2)), np.zeros(2)
    count, unit = min(2, len(points)), np.ones(d) if spreads is None else spreads
    with np.errstate(divide="ignore", invalid="ignore"):  # equal points, or a single one, have no variance
        pca = PCA(count, random_state=0).fit(points if spreads is None else points / spreads)
    basis[:, :count] = pca.components_.T / unit[:, None]
    shares[:count] = np.nan_to_num(pca.explained_variance_ratio_)
    return pca.mean_ * unit, basis, shares
