"""Nonnegative factors in ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from clusterkit.families.factors.nmf import BASIS
from clusterkit_onnx.nodes import Node, node_of, saved

NEGLIGIBLE_COLUMN = 1e-32
"""Squared length of a column, relative to the sum over all columns, below which `RowUpdate` skips it."""


@node_of.register(saved("FoldIn"))
def _(part: Any, rows: Node) -> Node:
    """Rows of the factor for raw rows, by the updates of `fold_in`."""
    N, G = rows.through(part.products).maximum(0.0), part.gram
    total = float(G.sum())
    A = N.sum() * (1.0 / total if total > 0 else 0.0) * np.ones((1, len(G)))
    if part.update.kind == "multiplicative":
        (A,) = rows.graph.repeat(BASIS.max_passes, lambda state: ((_multiplied(part, N, *state),), None), A)
        return A.columns(part.shown)
    everywhere = N.sum() * 0.0 + 1.0
    A, slope, change = _descended(part, A, N - A @ G, everywhere)
    allowed = change * BASIS.stop_ratio**2

    def again(state: tuple[Node, ...]) -> tuple[tuple[Node, ...], Node]:
        A, slope, active = state
        A, slope, change = _descended(part, A, slope, active)
        active = active * (change > allowed).as_type(np.float64)
        return (A, slope, active), (active.sum(axis=0).sum() > 0.0).op("Squeeze")

    active = (change > allowed).as_type(np.float64)
    return rows.graph.repeat(BASIS.max_passes - 1, again, A, slope, active)[0].columns(part.shown)


def _multiplied(part: Any, N: Node, A: Node) -> Node:
    """One multiplicative update of all rows."""
    below = A @ part.gram + part.update.delta
    quotients = (N + part.update.delta) / (below > 0.0).where(below, 1.0)
    return (below > 0.0).where(A * quotients, 0.0)


def _descended(part: Any, A: Node, slope: Node, active: Node) -> tuple[Node, Node, Node]:
    """One pass over the coordinates of the active rows: the rows, ``N - a G`` and the squared change, (m, 1)."""
    G, change = part.gram, active * 0.0
    for b in np.flatnonzero(np.diag(G) > NEGLIGIBLE_COLUMN * np.trace(G)).tolist():
        step = (slope.columns([b]) * (1.0 / G[b, b])).maximum(-A.columns([b])) * active
        A, slope = A + step * np.eye(len(G))[None, b], slope - step * G[None, b]
        change = change + step.square()
    return A, slope, change
