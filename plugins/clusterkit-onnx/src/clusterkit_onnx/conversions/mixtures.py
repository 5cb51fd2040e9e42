"""Mixtures of columns in ONNX."""

from __future__ import annotations

import numpy as np

from clusterkit.families.mixtures.expectation import MixtureModel
from clusterkit.families.mixtures.mixed_mixture import MixedPosteriors
from clusterkit_onnx.nodes import Node, NotExportable, node_of


@node_of.register
def _(part: MixedPosteriors, rows: Node) -> Node:
    """Posteriors of raw rows, gaps integrated out."""
    points, model = rows.through(part.transform, "featuremap"), part.model
    forms, r = model.forms, len(model.numbers)
    codes = {  # those of gaps are the levels' number
        j: code.op("IsNaN").where(np.array([[float(forms.levels[j])]]), code).as_type(np.int64).squeezed()
        for j in [*np.flatnonzero(model.places >= 0).tolist(), *model.covariates.tolist()]
        for code in [points.columns([part.n_numbers + j])]
    }
    logs: Node | None = None
    if r:
        numbers = points.columns(model.numbers)
        gaps = numbers.op("IsNaN")
        for j in model.covariates.tolist():
            numbers = numbers - codes[j].entries(np.vstack([model.shifts[forms.slice_of(j)], np.zeros((1, r))]))
        observed = gaps.op("Not").as_type(np.float64)
        numbers = gaps.where(np.zeros((1, 1)), numbers)
        logs = (
            _diagonal_node(model, numbers, observed)
            if model.spreads.ndim == 2
            else (_covariance_node(model, numbers, observed))
        )
    for j in np.flatnonzero(model.places >= 0).tolist():
        of_j = codes[j].entries(np.vstack([model.tables[forms.slice_of(j)], np.zeros((1, model.k))]))
        logs = of_j if logs is None else logs + of_j
    if logs is None:  # no column says anything of the clusters
        logs = (points * 0.0).op("IsNaN").as_type(np.float64).sum() * np.zeros((1, model.k))
    logs = logs + model.shares[None]
    shares = (logs - logs.largest()).exp()
    return shares / shares.sum()


MOST_ELIMINATED = 64
"""Relevant numbers with covariances up to which a model is exported: the graph has a dozen nodes for each, and a matrix
of them for each row."""


def _diagonal_node(model: MixtureModel, numbers: Node, observed: Node) -> Node:
    """Logarithms of densities with a variance for each column, of numbers (m, r) with 0 in gaps."""
    inverse = 1.0 / model.spreads
    constants = np.square(model.means) * inverse + np.log(2.0 * np.pi * model.spreads) + model.grid * inverse
    products = numbers.square() @ inverse.T - numbers @ (2.0 * model.means * inverse).T
    return (products + observed @ constants.T) * -0.5


def _covariance_node(model: MixtureModel, numbers: Node, observed: Node) -> Node:
    """The same with covariances: the columns of gaps are those of the identity, and all columns are eliminated.

    ONNX has no inverse, and each row has gaps of its own. Elimination of the columns, one after the other, gives
    determinant and squared distances of all rows at once.
    """
    r = model.means.shape[1]
    if r > MOST_ELIMINATED:
        raise NotExportable(
            f"solver 'mixed_mixture': {r} relevant numbers with covariances are too many for ONNX, which has no "
            f"inverse of the covariance that a row with gaps needs (at most {MOST_ELIMINATED}). Fit it with "
            "covariance='diag', or save the model (model.save)"
        )
    tied, parts = len(model.spreads) == 1, list[Node]()
    here = observed.expanded(2)  # (m, r, 1)
    for c in range(1 if tied else model.k):
        means = model.means if tied else model.means[c : c + 1]
        S = here * observed.expanded(1) * model.spreads[c][None] + (1.0 - here) * np.eye(r)[None]
        Y = (numbers.expanded(1) - means[None]) * observed.expanded(1)
        if model.grid.any():  # the trace of the inverse with what steps hide
            Y = Y.joined(observed.expanded(1) * np.diag(np.sqrt(model.grid))[None])
        total = observed.sum().expanded(2) * np.log(2.0 * np.pi)  # (m, 1, 1)
        squares: Node | None = None
        for i in range(r):
            row, y = S.columns([i]), Y.op("Gather", np.array([i]), axis=2)
            pivot = row.op("Gather", np.array([i]), axis=2)
            total = total + pivot.log()
            squares = y.square() / pivot if squares is None else squares + y.square() / pivot
            if i < r - 1:
                Y = Y - (y / pivot) @ row
                S = S - row.op("Transpose", perm=[0, 2, 1]) @ (row / pivot)
        assert squares is not None
        of_means = squares.columns(np.arange(len(means)))
        if model.grid.any():
            total = total + squares.columns(np.arange(len(means), len(means) + r)).sum()
        parts.append(((of_means + total) * -0.5).squeezed(2))
    return parts[0].joined(*parts[1:]) if len(parts) > 1 else parts[0]
