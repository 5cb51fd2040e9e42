"""A fit on a sample of the rows: its outcome is the model, and the other rows get their labels from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, final

import attrs
import numpy as np

from clusterkit._typing import Array, Labels
from clusterkit.core import shapes
from clusterkit.core.compat import Composition
from clusterkit.core.row_graph import Node
from clusterkit.core.run import FitResult, bind, run
from clusterkit.core.seeds import Seeds
from clusterkit.core.transform import Transform, block_plan
from clusterkit.level_sets.neighbours import nearest_rows
from clusterkit.numerics.sparse_rows import as_rows, distances_from

__all__ = ["NearestSampleRow", "fit_on_sample", "label_from_sample"]


@final
@attrs.frozen(eq=False)
class NearestSampleRow:
    """Labels rows by the nearest row of the sample; a frozen callable, so that a fit can be pickled.

    Parameters
    ----------
    coordinates : Transform
        Maps raw rows to the coordinates of `rows`.
    rows : ndarray of shape (m, d)
        The sample.
    labels : ndarray of shape (m,)
        Labels of the sample.
    reach : float
        Largest distance of a row of the sample to the nearest other one.
    """

    coordinates: Transform
    rows: Array = attrs.field(validator=shapes.shaped("m", "d"))
    labels: Labels = attrs.field(validator=shapes.shaped("m"))
    reach: float

    def __call__(self, Y: Array) -> Labels:
        """Labels of raw rows, (p,)."""
        return self.labels_and_facts(Y)[0]

    def onnx(self, rows: Node) -> Node:
        """Labels of raw rows."""
        _, nearest = rows.through(self.coordinates, "featuremap").nearest(self.rows, 1)
        return nearest.squeezed().entries(self.labels)

    def labels_and_facts(self, Y: Array) -> tuple[Labels, Mapping[str, int]]:
        """Labels of raw rows, and for `resolved_` the size of the sample and the number of rows far from it.

        These are farther from the sample than its rows are from each other: a class that it has missed lies there.
        """
        points = as_rows(self.coordinates(Y), np.float64)
        far, nearest = 0, nearest_rows(points, self.rows)
        if isinstance(points, np.ndarray):
            for rows in block_plan(len(points), points.shape[1], np.float64):
                squares = np.square(points[rows] - self.rows[nearest[rows]]).sum(axis=1)
                far += int((squares > self.reach**2).sum())
        return self.labels[nearest], {"fitted_rows": len(self.rows), "far_rows": far}


def label_from_sample(fit: FitResult) -> NearestSampleRow:
    """The function that labels all rows, and new ones, from the outcome of a fit on a sample of them.

    This is the one place that decides how: each row gets the label of the nearest row of the sample, which keeps the
    level and the components of the sample. Its labels on the sample are those of the fit.
    """
    assert fit.space is not None
    rows: Any = as_rows(fit.space.points, np.float64)
    reach = 0.0
    for i in range(len(rows)):
        distances = distances_from(rows, rows[i : i + 1])
        distances[i] = np.inf
        reach = max(reach, float(distances.min()))
    return NearestSampleRow(fit.space.coordinates, cast(Array, rows), fit.labels, float(np.sqrt(reach)))


def fit_on_sample(c: Composition, X: Array, seeds: Seeds) -> FitResult:
    """Fit a composition to its `rows` of X, shape (n, d), and label all rows from the outcome.

    A least size of clusters, which counts rows of X, is scaled to the sample.
    """
    assert c.rows is not None
    least = cast("int | None", c.labeler.parameters().get("min_cluster_size"))
    if least is not None:
        labeler = c.labeler.with_parameters(min_cluster_size=max(1, round(least * len(c.rows) / len(X))))
        c = attrs.evolve(c, labeler=labeler)
    fit = run(bind(c, X, seeds))
    predict = label_from_sample(fit)
    labels, facts = predict.labels_and_facts(X)
    labels.flags.writeable = False
    resolved = {**fit.resolved, "tuner": {**fit.resolved.get("tuner", {}), **facts}}
    return attrs.evolve(
        fit,
        labels=labels,
        predict=predict,
        exact=True,
        resolved=resolved,
        memberships=None,
        outlier_scores=None,
        probabilities=None,
    )
