"""Coordinates of any number to places in the picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import attrs
import numpy as np

from clusterkit._typing import Array
from clusterkit.core.errors import InvalidParameter

__all__ = ["Plane"]

ALIKE = 10.0
"""Ratio of standard deviations up to which attributes are taken to have one unit."""


@final
@attrs.frozen(eq=False)
class Plane:
    """Where points are drawn.

    Two coordinates are the plane. One coordinate gets a height. Of more the first two principal components are
    drawn, or two coordinates that are asked for; the picture is then a projection.

    Parameters
    ----------
    origin : ndarray of shape (d,)
    basis : ndarray of shape (d, 2) or (d, 1)
    height : callable or None
        (m, 1) to (m,), of one coordinate.
    names : tuple of str
        Of the two axes.
    note : str
        What a title says about it: "" for two coordinates.
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
        dims: Any,
        who: str,
        *,
        height: tuple[Callable[[Array], Array], str],
        scaling: bool = False,
    ) -> Plane:
        """The plane for points (n, d); `height` and its name serve d = 1; O(n d min(n, d)) for d > 2.

        With `scaling`, attributes of very different spread are divided by it before the components are taken.
        """
        d = points.shape[1]
        if dims is not None:
            i, j = _checked(dims, d, who)
            basis = np.zeros((d, 2))
            basis[i, 0] = basis[j, 1] = 1.0
            note = "" if d == 2 else f"Two of {d} attributes"
            return cls(np.zeros(d), basis, None, (names[i], names[j]), note)
        if d == 1:
            return cls(np.zeros(1), np.ones((1, 1)), height[0], (names[0], height[1]), "")
        if d == 2:
            return cls(np.zeros(2), np.eye(2), None, (names[0], names[1]), "")
        spreads = _spreads(points) if scaling else None
        origin, basis, shares = _principal(points, spreads)
        titles = tuple(f"principal component {i + 1} ({share:.0%} of the variance)" for i, share in enumerate(shares))
        note = f"First two principal components of {d} attributes" + ("" if spreads is None else ", standardised")
        return cls(origin, basis, None, (titles[0], titles[1]), note)

    @property
    def flat(self) -> bool:
        """Whether the plane is all there is, so that a contour can be drawn in it."""
        return self.height is None and len(self.origin) == 2

    def __call__(self, Y: Array) -> Array:
        """Places of the rows of Y (m, d), (m, 2)."""
        Y = np.asarray(Y, dtype=np.float64)
        places = (Y - self.origin) @ self.basis
        if self.height is not None:
            places = np.column_stack([places, self.height(Y)])
        return places

    def lift(self, places: Array) -> Array:
        """Coordinates of places (m, 2) of a flat plane, (m, 2)."""
        return np.ascontiguousarray(places @ self.basis.T + self.origin)


def _checked(dims: Any, d: int, who: str) -> tuple[int, int]:
    try:
        i, j = (int(value) for value in dims)
        exact = [i, j] == list(dims)
    except (TypeError, ValueError):
        exact = False
    if not exact or not (0 <= i < d and 0 <= j < d and i != j):
        raise InvalidParameter(
            f"{who}: dims must be two different coordinates between 0 and {d - 1}, got {dims!r}"
            + (" (there is one only: leave dims out)" if d == 1 else "")
        )
    return i, j


def _spreads(points: Array) -> Array | None:
    """Standard deviations (d,), 1 for constant attributes; None if they are alike."""
    spreads = points.std(axis=0, dtype=np.float64)
    spreads[spreads == 0.0] = spreads.max() or 1.0
    return spreads if spreads.max() > ALIKE * spreads.min() else None


def _principal(points: Array, spreads: Array | None) -> tuple[Array, Array, Array]:
    """Mean, first two directions (d, 2) and their shares of the variance; zeros where there is none."""
    from sklearn.decomposition import PCA

    d = points.shape[1]
    basis, shares = np.zeros((d, 2)), np.zeros(2)
    count, unit = min(2, len(points)), np.ones(d) if spreads is None else spreads
    with np.errstate(divide="ignore", invalid="ignore"):  # equal points have no variance; one has none to divide
        pca = PCA(count, random_state=0).fit(points if spreads is None else points / spreads)
    basis[:, :count] = pca.components_.T / unit[:, None]
    shares[:count] = np.nan_to_num(pca.explained_variance_ratio_)
    return pca.mean_ * unit, basis, shares
