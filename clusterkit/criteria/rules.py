"""Which of several clusterings of one data set is the best, decided without classes.

Sums of scores, with constants chosen on 28 development sets of shapes, 8 named sets and generated ones:

- the number of clusters is known: ``2 V / D + min(1, D - 2) c + 0.8 H + 0.4 icl`` (`known_number`): separation in the
  spanning tree, the agreement of families on the least confirmed cluster, entropy of the sizes against splitting off
  fringes, and the likelihood of Gaussians for clusters that overlap; D of 2 to 5 is the number of dimensions in which
  the rows are spread;
- it is unknown: ``3/2 b + 4.5 A3 - 1.8 i - 3 C - 8 (C - c) + S exp(-3 b) + V/2`` (`unknown_number`): contrast at
  borders (b) against contrast inside clusters (i), agreement between families by rows (A3) and by clusters (C), above
  all of the least confirmed cluster (c), stability (S) where there are no borders, and separation (V); with too few
  families ``rw + S/2 + A3/2 + .175 mk``.

Neither compares numbers that depend on the method: all look at the labels and at one space common to all candidates.
`candidate_numbers` are the numbers of clusters that are worth a try.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import final

import attrs
import numpy as np

from clusterkit._typing import Array, Indices, Labels
from clusterkit.criteria.confidence import canonical, cluster_agreement, distinct, family_agreement, rand_matrix
from clusterkit.criteria.likelihood import CompletedLikelihood
from clusterkit.criteria.terrain import Separation, Terrain, are_directions, border_contrast, inner_contrast, mass_drop

ENTROPY_WEIGHT, LIKELIHOOD_WEIGHT = 0.8, 0.4
"""Weights of `known_number`, chosen on the development sets; the likelihood earns nothing there, but keeps Gaussian
clusters that overlap together."""

FEWEST_DIMENSIONS = 2
"""Separation counts 2/D in `known_number`, where the rows are spread in D dimensions: distances to neighbours differ
less the more dimensions there are, so that it says less. In the plane, where the weights were chosen, nothing
changes."""

BORDERS, AGREED, INSIDE, CONFIRMED, UNEVEN, STABLE, SEPARATED = 1.5, 4.5, 1.8, 3.0, 8.0, 1.0, 0.5
"""Weights of `unknown_number`. Chosen on the 28 shapes, the 8 named sets, 150 generated sets of ten families and 570
of other kinds, together. A factor of 1.2 on one of them changes the mean index on the shapes by at most .03, which is
one set, that on the named sets by .004, and the share of right numbers by .015."""

FADING = 3.0
"""Rate at which the weight of stability falls with the contrast of the borders, in `unknown_number`. Where clusters are
well separated, stability says nothing: half of the rows of a sparse cluster fall to pieces, or to its neighbour, and
answers that leave such a cluster with its neighbour seemed more stable than right ones. Without separation it is the
best term there is."""

FEWEST_FAMILIES = 5
"""With fewer families agreement says too little for the weights above, which were chosen with the six of the default
pool."""

NEAR = 2
"""Neighbour whose distance is the core distance in the tree of `border_contrast`; 5 and 10 were worse by .02 and .05 of
the mean index on the shapes."""

FEW_STABLE, FEW_AGREED, FEW_DROP = 0.5, 0.5, 0.175
"""Weights of `unknown_number` with too few families. On the shapes, named sets and 72 generated ones .5 to .75, .25 to
.5 and .1 to .25 are equal within .02. The last is the middle of its range: at the edge, .25, the mean index on the
eight named sets was .78 in most draws of the subsamples of the stability and .85 in others; in the middle it is .84 in
most."""

TIED = 1e-9
"""Largest difference of two scores that count as equal: far above rounding, far below differences that matter."""

SAME_STRUCTURE = 0.8
"""Adjusted Rand index from which two clusterings count as the same structure, where the lead of the best candidate is
measured, and from which an answer counts as right where the confidence is fitted."""

LARGEST_MARGIN = 3.0
"""Cap of the margin: larger margins are no stronger evidence."""


@final
@attrs.frozen(eq=False)
class Ranking:
    """Scores of all candidates.

    Parameters
    ----------
    terms : mapping
        Name to the unweighted values of each candidate, (m,); NaN for a stability that is not known, which counts as 0.
    weights : mapping
        Name to the weight of these, one or (m,).
    similarity : ndarray of shape (m, m)
        Adjusted Rand index of every pair of candidates.
    """

    terms: Mapping[str, Array]
    weights: Mapping[str, float | Array]
    similarity: Array

    @cached_property
    def total(self) -> Array:
        """The criterion, (m,); larger is better."""
        return np.asarray(np.sum([self.weights[name] * np.nan_to_num(self.terms[name]) for name in self.terms], axis=0))

    def undecided(self, numbers: Sequence[int]) -> list[int]:
        """Candidates whose stability is needed next for the best at each number of clusters, and of another structure.

        A stability is at most 1, so that most candidates stay behind another one whatever theirs is.
        """
        is_open = np.isnan(self.terms["stability"])
        most = self.total + np.where(is_open, self.weights["stability"], 0.0)
        groups = [np.equal(numbers, k) for k in set(numbers)] + [self.similarity[np.argmax(most)] < SAME_STRUCTURE]
        leading = {int(np.argmax(np.where(group, most, -np.inf))) for group in groups if group.any()}
        return sorted(place for place in leading if is_open[place])

    @property
    def best(self) -> int:
        """Index of the best candidate, the first of those that tie."""
        return int(np.flatnonzero(self.total >= self.total.max() - TIED)[0])

    @property
    def ties(self) -> Indices:
        """Candidates other than the best with the same score and another partition; one for each such partition."""
        best = self.best
        others: list[int] = []
        for i in np.flatnonzero(self.total >= self.total.max() - TIED):
            if all(self.similarity[i, j] < 1.0 for j in [best, *others]):
                others.append(int(i))
        return np.array(others, dtype=np.intp)

    @property
    def margin(self) -> float:
        """Best score minus the best of a candidate with another structure (similarity below .8), at most 3."""
        different = self.similarity[self.best] < SAME_STRUCTURE
        if not different.any():
            return LARGEST_MARGIN
        return min(LARGEST_MARGIN, float(self.total.max() - self.total[different].max()))


def known_number(terrain: Terrain, labelings: Sequence[Labels], families: Sequence[Hashable]) -> Ranking:
    """Rank clusterings with the same number of clusters.

    Parameters
    ----------
    terrain : Terrain
    labelings : sequence of ndarray of shape (n,)
        Labels 0..k-1 without noise, each of which occurs.
    families : sequence
        As in `unknown_number`.

    Returns
    -------
    Ranking
        The scores, with the terms "separation" (V), "least_confirmed" (c, as in `unknown_number`), "entropy" (H, in
        nats) and "likelihood" (icl, minus the best of all candidates), all unweighted.

    Notes
    -----
    Where rows are spread in more than two dimensions, distances say less, and a mixture that takes the noise between
    clusters for one of them, and joins two others, is the most likely: no other family finds such a cluster. In the
    plane, where families often agree on a wrong border of a curve, c does not count.

    O(n d² + d³ + m n) time for the likelihoods and O(m² n) for the similarities.
    """
    place, unlike = _unlike(labelings)
    splits = [Separation.of(terrain, labels) for labels in unlike]
    completed = CompletedLikelihood.of(terrain.X)
    likelihood = np.array([completed(labels) for labels in unlike])
    dimension = max(FEWEST_DIMENSIONS, completed.dimension)
    terms = {
        "separation": np.array([split.validity for split in splits])[place],
        "least_confirmed": np.array([values.min() for values in cluster_agreement(unlike, place, families)]),
        "entropy": np.array([split.entropy for split in splits])[place],
        "likelihood": (likelihood - likelihood.max())[place],
    }
    weights = {
        "separation": FEWEST_DIMENSIONS / dimension,
        "least_confirmed": min(1, dimension - FEWEST_DIMENSIONS),
        "entropy": ENTROPY_WEIGHT,
        "likelihood": LIKELIHOOD_WEIGHT,
    }
    return Ranking(terms, weights, rand_matrix(unlike)[np.ix_(place, place)])


def unknown_number(
    terrain: Terrain, labelings: Sequence[Labels], families: Sequence[Hashable], stability: Sequence[float] | Array
) -> Ranking:
    """Rank clusterings with any numbers of clusters from 2.

    Parameters
    ----------
    terrain : Terrain
    labelings : sequence of ndarray of shape (n,)
        Labels 0..k-1 without noise, each of which occurs.
    families : sequence
        Family of the method that found each labelling; candidates of one family do not confirm each other.
    stability : sequence of float
        Result of `subsample_stability` for each candidate, NaN where it is not known.

    Returns
    -------
    Ranking
        The scores, with the terms "contrast" (b, `border_contrast`), "agreement" (A3), "inside" (i,
        `inner_contrast`), "confirmed" (C, mean over the clusters of their agreement with other families, or of
        directions over the rows where that is larger), "least_confirmed" (c, the least of them), "stability" (S, counts
        ``exp(-3 b)``) and "separation" (V, `Separation.validity`). With fewer than 5 families with "contrast" (rw,
        `Separation.contrast`), "stability", "agreement" and "mass_drop" (mk).

    Notes
    -----
    Agreement by rows (A3) hardly sees small clusters, agreement by clusters sees them best, and is 1 for any coarse
    division, which is why the mean over the clusters counts against an answer and the least of them for it: a cluster
    that no other family has is a fragment. Many fragments of directions beside large clusters bring the mean over the
    clusters down, so that the mean over the rows stands in its place; of other rows that gained .005 on the shapes and
    lost .014 on the eleven tables.

    O(m² n) time, for the similarities.
    """
    place, unlike = _unlike(labelings)
    similarity = rand_matrix(unlike)[np.ix_(place, place)]
    agreement, stable = family_agreement(similarity, families), np.asarray(stability, dtype=np.float64)
    splits = [Separation.of(terrain, labels) for labels in unlike]
    if len(set(families)) < FEWEST_FAMILIES:
        terms = {
            "contrast": np.array([split.contrast for split in splits])[place],
            "stability": stable,
            "agreement": agreement,
            "mass_drop": np.array([mass_drop(terrain, int(labels.max()) + 1) for labels in unlike])[place],
        }
        weights: dict[str, float | Array] = {
            "contrast": 1.0,
            "stability": FEW_STABLE,
            "agreement": FEW_AGREED,
            "mass_drop": FEW_DROP,
        }
    else:
        near = Terrain.of(terrain.X, NEAR)
        clusters = cluster_agreement(unlike, place, families)
        turned = are_directions(terrain.X)
        pairs = zip(clusters, [np.bincount(unlike[index]) for index in place], strict=True)
        terms = {
            "contrast": np.array([border_contrast(near, labels) for labels in unlike])[place],
            "agreement": agreement,
            "inside": np.array([inner_contrast(terrain, labels) for labels in unlike])[place],
            "confirmed": np.array([max(values.mean(), turned * (values @ size) / terrain.n) for values, size in pairs]),
            "least_confirmed": np.array([values.min() for values in clusters]),
            "stability": stable,
            "separation": np.array([split.validity for split in splits])[place],
        }
        weights = {
            "contrast": BORDERS,
            "agreement": AGREED,
            "inside": -INSIDE,
            "confirmed": -CONFIRMED - UNEVEN,
            "least_confirmed": UNEVEN,
            "stability": STABLE * np.exp(-FADING * terms["contrast"]),
            "separation": SEPARATED,
        }
    return Ranking(terms, weights, similarity)


def _unlike(labelings: Sequence[Labels]) -> tuple[Indices, list[Labels]]:
    """Index of the distinct partition of each labelling, (m,), and the distinct partitions: each is scored once."""
    first = distinct(labelings)
    originals, place = np.unique(first, return_inverse=True)
    return place, [canonical(labelings[i]) for i in originals]


GRID = (*range(2, 11), 12, 15, 20, 25, 31, 35, 50)
"""Numbers of clusters that are tried on any data: all up to 10, then in steps of about a quarter."""


ALL_UP_TO = 16
"""Numbers in a range that are all tried: about as many as the grid has."""


def most_clusters(n: int) -> int:
    """Largest number of clusters of n rows that are looked for: √n, so that a mean cluster has √n rows; at least 2."""
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
