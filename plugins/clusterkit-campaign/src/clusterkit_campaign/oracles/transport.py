"""Least cost under cluster sizes by linear programming and by enumeration."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import eye_array as eye
from scipy.sparse import kron, vstack

from clusterkit_campaign.oracles.balance import labellings, sizes_of


def linear_program(costs, low, high):
    """Optimum of min <C, P>, P >= 0, rows of P add up to 1, columns to low..high; None if there is none."""
    n, k = costs.shape
    rows = kron(eye(n), np.ones((1, k)))
    columns = kron(np.ones((1, n)), eye(k))
    upper = [(0, 1 if np.isfinite(cost) else 0) for cost in costs.ravel()]
    solution = linprog(
        np.where(np.isfinite(costs), costs, 0).ravel(),
        A_ub=vstack([columns, -columns]),
        b_ub=np.concatenate([high, -np.asarray(low)]),
        A_eq=rows,
        b_eq=np.ones(n),
        bounds=upper,
        method="highs",
    )
    return solution.fun if solution.status == 0 else None


def enumerated(costs, low, high):
    """Optimum over all labellings with allowed sizes."""
    n, k = costs.shape
    Y = labellings(n, k)
    sizes = sizes_of(Y, k)
    allowed = ((sizes >= low) & (sizes <= high)).all(axis=1)
    return costs[np.arange(n), Y[allowed]].sum(axis=1).min()
