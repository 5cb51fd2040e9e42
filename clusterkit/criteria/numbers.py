"""Which numbers of clusters are worth a try."""

from __future__ import annotations

import math

import numpy as np

from clusterkit.criteria.terrain import Terrain

__all__ = ["candidate_numbers", "mass_ratio_number", "most_clusters"]

GRID = (*range(2, 11), 12, 15, 20, 25, 31, 35, 50)
"""Numbers of clusters that are tried on any data: all up to 10, then in steps of about a quarter."""


ALL_UP_TO = 16
"""Numbers in a range that are all tried: about as many as the grid has."""


def most_clusters(n: int) -> int:
    """Most clusters of n rows that are looked for: √n, so that a mean cluster has √n rows; at least 2."""
    return max(2, math.isqrt(n))


def mass_ratio_number(terrain: Terrain) -> int:
    """The number of clusters after which the masses of the tree fall most.

    With masses s_1 >= s_2 >= ... it is 1 + the j of the largest ``s_j / (s_{j+1} + 2)``.
    """
    places = min(most_clusters(terrain.n), len(terrain.masses))
    if places < 2:
        return 2
    ratios = terrain.masses[: places - 1] / (terrain.masses[1:places] + 2.0)
    return int(np.argmax(ratios)) + 2


def candidate_numbers(terrain: Terrain, between: tuple[int, int] | None = None) -> list[int]:
    """Numbers of clusters to try, ascending: 2-10, 12, 15, ..., 50 up to √n, and the mass ratio's k with k ± 1.

    The numbers 11, 13 and 14, which the grid leaves out, are reached by the mass ratio where the tree speaks for them.

    Parameters
    ----------
    terrain : Terrain
    between : (int, int) or None, default None
        The least and the most number. All numbers between are tried up to 16 of them; of more, those of the grid, with
        both ends, also above √n.
    """
    k, most = mass_ratio_number(terrain), most_clusters(terrain.n)
    if between is not None:
        least, most = between[0], min(between[1], terrain.n)
        if most - least < ALL_UP_TO:
            return list(range(least, most + 1))
        tried = {least, most, *GRID, k - 1, k, k + 1}
        return sorted(number for number in tried if least <= number <= most)
    tried = {*(number for number in GRID if number <= most), k - 1, k, k + 1}
    return sorted(number for number in tried if 2 <= number <= terrain.n)
