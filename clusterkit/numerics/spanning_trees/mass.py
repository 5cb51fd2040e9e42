"""Masses of the edges of a spanning tree: how long the clusters last that an edge joins, and how many rows say so."""

from __future__ import annotations

import math

import numpy as np

from clusterkit._typing import Array, Counts, Indices

__all__ = ["births", "edge_masses", "least_side", "nearest_first"]

LEAST_SIDE = 5
"""A side of fewer rows is no cluster, however few rows there are in all: one core neighbourhood."""


def least_side(n: int) -> int:
    """Fewest rows on both sides of an edge of the whole tree that has a mass: max(5, round(√n / 2))."""
    return max(LEAST_SIDE, round(math.sqrt(n) / 2))


def nearest_first(rows: Array, edges: Indices, weights: Array) -> Indices:
    """The order of edges of ascending weights in which those of equal weight come by the distance of their two rows.

    (n - 1,), for rows (n, d) and edges (n - 1, 2). The order of the rows then matters only where distances tie as well.
    """
    order = np.arange(len(weights))
    tied = np.flatnonzero(weights[1:] == weights[:-1])
    inside = np.zeros(len(weights), bool)
    inside[tied], inside[tied + 1] = True, True
    places = np.flatnonzero(inside)
    one, other = (rows[edges[places, end]].astype(np.float64) for end in (0, 1))
    apart = ((one - other) ** 2).sum(axis=1)
    order[places] = places[np.lexsort((apart, weights[places]))]
    return order


def births(core: Array, weights: Array) -> Array:
    """Core distances with the smallest positive one, or weight, in place of 0; ones if all are 0."""
    for lengths in (core, weights):
        positive = lengths[lengths > 0]
        if len(positive):
            return np.maximum(core, positive.min())
    return np.ones(len(core))


def edge_masses(edges: Indices, weights: Array, birth: Array) -> tuple[Array, Counts]:
    """Mass ``ln(w / b) √s`` of every edge, and s, the rows of its smaller side; both (n - 1,).

    b is the later of the births of the two components that an edge of weight w joins, each the least birth of its rows.

    Parameters
    ----------
    edges : ndarray of int, shape (n - 1, 2)
        By ascending weight.
    weights : ndarray of shape (n - 1,)
    birth : ndarray of shape (n,)
        Of `births`.
    """
    from clusterkit.numerics.spanning_trees.mass_jit import persistence

    lasted, side = persistence(edges, weights, birth)
    return lasted * np.sqrt(side), side
