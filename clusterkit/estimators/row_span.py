"""Wide data: the coordinates in which the rows differ, fewer than the rows, with the same distances."""

from __future__ import annotations

from typing import Any, Self, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core import shapes
from clusterkit.core.row_graph import Node
from clusterkit.core.run import FitResult
from clusterkit.core.stages import Predict

__all__ = ["RowSpan", "SpanPredictor", "of_rows"]


@final
@attrs.frozen(eq=False)
class RowSpan:
    """Row map: an orthogonal rotation onto the span of the rows of the fit, about their mean.

    Distances between these rows do not change, and those from a new row to all of them change by one common amount of
    their squares, so that methods that look at distances find the same clusters. O(n² d).

    Parameters
    ----------
    axes : ndarray of shape (d, r)
        Orthonormal.
    mean : ndarray of shape (d,)
    """

    axes: Array = attrs.field(validator=shapes.shaped("d", "r"))
    mean: Array = attrs.field(validator=shapes.shaped("d"))

    @classmethod
    def of(cls, X: Array) -> Self:
        """The span of the rows of X, (n, d) with n < d."""
        mean = X.mean(axis=0, dtype=np.float64)
        _, values, axes = np.linalg.svd(X - mean, full_matrices=False)
        r = max(1, int((values > len(X) * np.finfo(np.float64).eps * values[0]).sum()))
        # a singular vector may have either sign; its largest entry is positive here
        signs = np.sign(axes[np.arange(r), np.abs(axes[:r]).argmax(axis=1)])
        return cls(np.ascontiguousarray((axes[:r] * signs[:, None]).T), mean)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(self.axes.shape[1])

    def __call__(self, Y: Array) -> Array:
        """Coordinates, (m, d) to (m, r), in the type of Y."""
        coordinates: Array = ((Y - self.mean) @ self.axes).astype(Y.dtype, copy=False)
        return coordinates

    def onnx(self, rows: Node) -> Node:
        """Coordinates."""
        return (rows - self.mean) @ self.axes


@final
@attrs.frozen(eq=False)
class SpanPredictor:
    """Labels of new rows by a fit in the coordinates of a span.

    Parameters
    ----------
    span : RowSpan
    predict : callable
        Coordinates to labels.
    """

    span: RowSpan
    predict: Predict

    def __call__(self, Y: Array) -> Labels:
        """Labels of the rows of Y, (m, d)."""
        return self.predict(self.span(Y))

    def onnx(self, rows: Node) -> Node:
        """Labels of raw rows."""
        return rows.through(self.span).through(self.predict)


def of_rows(fit: FitResult, span: RowSpan) -> FitResult:
    """A fit in the coordinates of a span, as one of the rows: what maps and labels new rows takes rows."""
    predict = None if fit.predict is None else SpanPredictor(span, fit.predict)
    space: Any = fit.space
    if space is not None:
        space = attrs.evolve(space, before=(span, *space.before))
    return attrs.evolve(fit, predict=predict, space=space)
