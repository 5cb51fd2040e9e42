"""Many labellings of the same samples: the loop that makes them, k-means as the default base, and one made of them.

An ensemble of M members runs a clusterer M times, each time with a number of clusters drawn from a range and a seed of
its own. `clusterkit.ensemble` offers it for any clusterer; the tuner ``edsvc`` uses `kmeans_ensemble`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import attrs
import numpy as np

from clusterkit._typing import Array, ArrayLike, Labels, Rng
from clusterkit.contracts import Consensus
from clusterkit.contracts.checks import NamingStage, check_labels
from clusterkit.contracts.composition import Composition
from clusterkit.contracts.labelings import NOISE, Labelings, by_appearance, checked, cluster_limit
from clusterkit.contracts.params import is_count
from clusterkit.contracts.registry import registry
from clusterkit.contracts.seeds import Seeds
from clusterkit.errors import ClusterkitWarning, InvalidParameter
from clusterkit.fitting.fit import fit
from clusterkit.numerics.threads import THIN, estimated_elements, limited_threads
from clusterkit.samples.limits import Report, notify, side_by_side

RULES = ("cbrt", "sqrt")
"""Names of the ranges from 2 to the cube root or to the square root of n."""

KMEANS_ITERATIONS = 300
"""Largest number of Lloyd iterations of a member, as in the recipes ``kmeans`` and ``cmeans``."""


ClusterRange: TypeAlias = str | int | Sequence[int]
"""A range of numbers of clusters: one of `RULES`, a single number, or the first and the last number."""


@attrs.frozen(eq=False)
class Member:
    """One labelling of an ensemble.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Labels from 0; -1 is noise.
    interrupted : bool
        Whether Ctrl-C ended its fit early; the labels are then the best so far, and no member follows.
    """

    labels: ArrayLike
    interrupted: bool = False


def cluster_range(member_clusters: ClusterRange, n: int) -> tuple[int, int]:
    """Fewest and most clusters of a member for n samples.

    Parameters
    ----------
    member_clusters : {"cbrt", "sqrt"}, int or pair of ints
        "cbrt" or "sqrt": from 2 to the cube or square root of n (rounded down, at least 2); an int: always this number;
        a pair: from the first to the second. At most n.
    n : int

    Raises
    ------
    InvalidParameter
        If `member_clusters` is none of these.

    Examples
    --------
    >>> cluster_range("sqrt", 100), cluster_range(3, 100), cluster_range((2, 8), 5)
    ((2, 10), (3, 3), (2, 5))
    """
    if isinstance(member_clusters, str) and member_clusters in RULES:
        low, high = 2, cluster_limit(n, member_clusters)
    elif is_count(member_clusters):
        low = high = int(member_clusters)
    elif (
        isinstance(member_clusters, tuple | list) and len(member_clusters) == 2 and all(map(is_count, member_clusters))
    ):
        low, high = map(int, member_clusters)
    else:
        low, high = 1, 0
    if low > high:
        raise InvalidParameter(
            "member_clusters must be 'cbrt', 'sqrt', an integer >= 1 or a pair of these with the lower first, "
            f"got {member_clusters!r}"
        )
    return min(low, n), min(high, n)


def draw_members(
    n_members: int,
    k_range: tuple[int, int],
    seeds: Seeds,
    cluster: Callable[[int, int, int], Member],
    most: int | None = 1,
) -> Labels:
    """Labelings (n_members, n), each with a number of clusters drawn uniformly from a range and a seed of its own.

    Parameters
    ----------
    n_members : int
    k_range : pair of int
        Fewest and most clusters.
    seeds : Seeds
        Member m uses the child ("member", m), so that a longer ensemble begins with the shorter one.
    cluster : callable
        Number of the member, number of clusters and integer seed to a `Member`.
    most : int or None, default 1
        Most members that are made at once; None: one for each core, for functions that threads may call.

    Warns
    -----
    ClusterkitWarning
        If Ctrl-C ended it; the members finished by then are returned.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C comes before the first member is finished.
    """
    members: list[ArrayLike] = []

    def made(m: int) -> Member:
        member_seeds = seeds.child("member", m)
        k = int(member_seeds.stream("k").integers(k_range[0], k_range[1] + 1))
        return cluster(m, k, member_seeds.integer("seed"))

    try:
        for member in side_by_side(made, range(n_members), most):
            members.append(member.labels)
            notify(Report("ensemble", len(members), n_members))
            if member.interrupted:
                break
    except KeyboardInterrupt:
        if not members:
            raise
    if len(members) < n_members:
        warnings.warn(f"interrupted: {len(members)} of {n_members} members are made", ClusterkitWarning, stacklevel=3)
    return checked(members, [f"member {m}" for m in range(len(members))])


def kmeans_composition(k: int) -> Composition:
    """k-means from one random start with k clusters: the composition of the recipe ``cmeans``."""
    return Composition(
        registry.get("featuremap", "identity")(),
        registry.get("solver", "centroids")(),
        registry.get("labeler", "argmax")(),
        init=registry.get("partitioner", "seeds")().with_parameters(weighting="uniform", trials=1),
        n_clusters=k,
        max_iter=KMEANS_ITERATIONS,
    )


def kmeans_ensemble(X: Array, n_members: int, member_clusters: ClusterRange, rng: Rng) -> Labels:
    """Labelings (n_members, n) of the rows of X (n, d) by k-means from one random start each.

    The labellings of ``clusterkit.ensemble(X, n_members, member_clusters=..., random_state=rng)``, computed without
    scikit-learn. Warnings are those of `draw_members` and of the fits (equal samples, empty clusters).
    """
    X = np.ascontiguousarray(X)
    most = None if estimated_elements(len(X)) < THIN else 1  # the passes of a large fit use all cores themselves
    k_range = cluster_range(member_clusters, len(X))
    return draw_members(n_members, k_range, Seeds.of(rng), partial(_kmeans_member, X), most)


def _kmeans_member(X: Array, m: int, k: int, seed: int) -> Member:
    with limited_threads(estimated_elements(len(X))):
        clusters = fit(kmeans_composition(k), X, Seeds.of(seed))
    return Member(clusters.labels, clusters.interrupted)


def combine(stage: Consensus, members: ArrayLike | Sequence[ArrayLike], k: int | None, rng: Rng) -> Labels:
    """The consensus of M labellings, (n,), numbered by first appearance.

    Three rules hold for every consensus: a sample that no member labels is noise, a member that labels no sample is
    left out, and equal members are the answer if they have the number of clusters that is wanted.

    Parameters
    ----------
    stage : Consensus
    members : array-like of shape (M, n), int
        Labels from 0; -1 where a member says nothing about a sample. The names of clusters do not matter.
    k : int or None
        Clusters wanted; None if the method finds the number. If there are fewer distinct label columns, each is a
        cluster, with a warning.
    rng : Generator

    Returns
    -------
    ndarray of shape (n,), int64
        Labels from 0; -1 exactly where all members say -1.

    Raises
    ------
    InvalidData
        If the members are no labellings of the same samples.
    InvalidParameter
        If k is missing, or given to a method that takes none.
    """
    stage.check_k(k)
    labelings = checked(members)
    known, speaks = ((labelings != NOISE).any(axis=axis) for axis in (0, 1))
    labels = np.full(len(known), NOISE, dtype=np.int64)
    if known.any():
        labels[known] = _combine_known(stage, labelings[np.ix_(speaks, known)], k, rng)
    return labels


def _combine_known(stage: Consensus, members: Labels, k: int | None, rng: Rng) -> Labels:
    labelings = Labelings.of(members)
    u, columns = len(labelings.counts), labelings.column_of
    if k == 1 or u == 1:
        return np.zeros(members.shape[1], dtype=np.int64)
    if labelings.unanimous and k in (None, u):
        return labelings.members[0]
    if k is not None and k >= u:
        if k > u:
            warnings.warn(
                f"consensus '{stage.name}': {k} clusters were asked for, but the members tell only {u} groups of "
                "samples apart; these are the clusters",
                ClusterkitWarning,
                stacklevel=4,
            )
        return columns
    with NamingStage(stage):
        labels = np.asarray(stage.merge(labelings, k, rng))
    check_labels(stage, labels, members.shape[1], 0, None)
    return by_appearance(labels)
